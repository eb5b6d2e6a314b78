// What the ordered queue holds: one measurement of one sensor.
#pragma once

#include <variant>

#include "collation/cloud.h"
#include "collation/imu_aligner.h"

namespace collation {

// Move only. A cloud's lease is never empty.
struct Datum {
  hal::Time at{};  // the stamp that it is ordered by
  drivers::SensorId sensor = 0;
  std::variant<ImuData, CloudPool::Lease> body{};
};

inline Datum make_datum(drivers::SensorId sensor, const ImuData& imu) {
  return {imu.at, sensor, imu};
}
inline Datum make_datum(drivers::SensorId sensor, CloudPool::Lease cloud) {
  const hal::Time at = cloud->at;
  return {at, sensor, std::move(cloud)};
}

}  // namespace collation
