// What lidard says about itself in /diagnostics, by name, for those who look at single values.
#pragma once

#include <map>
#include <string>

#include "app/messages.h"

namespace lidarctl {

// The statuses of a DiagnosticArray by name, each with its values.
struct Diagnosis {
  app::Level level{};
  std::string message, hardware_id;
  std::map<std::string, std::string> values;

  std::uint64_t count(const std::string& key) const;  // 0 when it is not there
};
std::map<std::string, Diagnosis> diagnoses(hal::Bytes diagnostic_array);

// Whose data come on a topic /NAME/...: NAME, or NAME/imu where `sensors`, a map by name, has that.
template <class Sensors>
std::string sensor_of(const std::string& topic, const Sensors& sensors) {
  const auto second = sensors.find(topic.substr(1));
  return second == sensors.end() ? topic.substr(1, topic.find('/', 1) - 1) : second->first;
}

}  // namespace lidarctl
