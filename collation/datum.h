// What the ordered queue holds: one measurement of one sensor.
#pragma once

#include <variant>

#include "collation/cloud.h"
#include "collation/imu_aligner.h"
#include "collation/message.h"

namespace collation {

// Move only. A lease is never empty.
struct Datum {
  hal::Time at{};  // the stamp that it is ordered by
  drivers::SensorId sensor = 0;
  std::variant<ImuData, CloudPool::Lease, MessagePool::Lease> body{};
};

inline Datum make_datum(drivers::SensorId sensor, const ImuData& imu) {
  return {imu.at, sensor, imu};
}
inline Datum make_datum(drivers::SensorId sensor, CloudPool::Lease cloud) {
  const hal::Time at = cloud->at;
  return {at, sensor, std::move(cloud)};
}
inline Datum make_datum(drivers::SensorId sensor, MessagePool::Lease message) {
  const hal::Time at = message->at;
  return {at, sensor, std::move(message)};
}

}  // namespace collation
