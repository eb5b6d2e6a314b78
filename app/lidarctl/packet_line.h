// A packet as `lidarctl decode` prints it.
#pragma once

#include <string>

#include "drivers/packet.h"

namespace lidarctl {

// One JSON object, without the end of the line. A scan of a device that tells several returns per
// beam has "echoes": per beam the list of all its returns, [range, intensity] each, and none for a
// beam without any.
std::string packet_line(const drivers::Packet& packet);

}  // namespace lidarctl
