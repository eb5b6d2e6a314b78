// What was found, in words, as JSON, and as a configuration that works as it stands.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "app/lidarctl/prober.h"

namespace lidarctl {

// As it stands in a configuration: "serial:/dev/ttyUSB0"; of network devices also who sends, and
// where commands go to. Empty: none.
struct Place {
  std::string port, control{}, from{};
};

// A whole configuration, and what stands in it for this device under a name of its own.
std::string snippet(const ProbeResult&, const Place&);
std::string sensor(const ProbeResult&, const Place&, const std::string& name);
bool is_configuration(const std::string&);  // that is accepted
std::string usual_name(const drivers::Row&);
std::string in_words(const ProbeResult&, const Place&);
nlohmann::ordered_json as_json(const ProbeResult&, const Place&);

}  // namespace lidarctl
