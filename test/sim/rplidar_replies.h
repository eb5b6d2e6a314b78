// Answers to the RPLIDAR requests that only ask: information, health, rates, configuration.
#pragma once

#include <algorithm>
#include <cstdint>

#include "test/sim/rplidar_catalogue.h"
#include "test/sim/rplidar_requests.h"

namespace sim::rplidar {

// What the answers are made from.
struct Identity {
  const Model* model = nullptr;
  Motor motor = Motor::dtr;
  std::uint64_t serial = 0;
  std::uint16_t rpm = 0;  // desired speed
  std::uint8_t health = 0;
  std::uint16_t health_code = 0;

  std::uint16_t min_rpm() const { return std::min(rpm, kMinRpm); }
  std::uint16_t max_rpm() const { return std::max(rpm, kMaxRpm); }

  ByteVector alias, address;  // what SET_LIDAR_CONF can change
};

Identity make_identity(const Model& model, Motor motor, std::uint64_t serial);

// The whole reply, descriptor included; empty when the request gets none. A SET_LIDAR_CONF changes
// `identity`.
ByteVector reply(Identity& identity, const Request& request);

}  // namespace sim::rplidar
