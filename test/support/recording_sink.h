// Writes down what leaves the collator, in order, in memory taken beforehand.
#pragma once

#include <string>
#include <vector>

#include "collation/collated_sink.h"
#include "collation/datum.h"

namespace test {

struct Left {
  drivers::SensorId sensor;
  std::int64_t at;  // ns
  bool operator==(const Left&) const = default;
};

class RecordingSink final : public collation::CollatedSink {
 public:
  explicit RecordingSink(std::size_t room = 100'000) { left.reserve(room); }

  void add_sensor_data(drivers::SensorId sensor, const collation::TimedPointCloud& cloud) override {
    ++clouds;
    left.push_back({sensor, hal::to_ns(cloud.at)});
  }
  void add_sensor_data(drivers::SensorId sensor, const collation::ImuData& imu) override {
    left.push_back({sensor, hal::to_ns(imu.at)});
  }
  void add_sensor_data(drivers::SensorId sensor, const collation::OpaqueMessage& message) override {
    left.push_back({sensor, hal::to_ns(message.at)});
  }
  bool is_sorted() const {
    for (std::size_t i = 1; i < left.size(); ++i) {
      if (left[i].at < left[i - 1].at) return false;
    }
    return true;
  }
  // As "1@100 0@200 ".
  std::string text(std::size_t from = 0) const {
    std::string all;
    for (std::size_t i = from; i < left.size(); ++i) {
      all += std::to_string(left[i].sensor) + "@" + std::to_string(left[i].at) + " ";
    }
    return all;
  }

  std::vector<Left> left;
  std::size_t clouds = 0;
};

// A sample stamped `at`.
inline collation::Datum datum(drivers::SensorId sensor, hal::Time at) {
  collation::ImuData imu;
  imu.at = at;
  return collation::make_datum(sensor, imu);
}
inline collation::Datum datum(drivers::SensorId sensor, std::int64_t at_ns) {
  return datum(sensor, hal::from_ns(at_ns));
}

}  // namespace test
