// What was found, in words, as JSON, and as a configuration that works as it stands.
#pragma once

#include <nlohmann/json.hpp>

#include <string>

#include "app/lidarctl/prober.h"

namespace lidarctl {

// `port` as it stands in a configuration ("serial:/dev/ttyUSB0"), and of a device with two of them
// `control`. Each line of what follows the first may carry a comment.
struct Place {
  std::string port, control{};
};

std::string snippet(const ProbeResult&, const Place&);
std::string in_words(const ProbeResult&, const Place&);
nlohmann::ordered_json as_json(const ProbeResult&, const Place&);

}  // namespace lidarctl
