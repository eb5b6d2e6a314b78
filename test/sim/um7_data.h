// What a simulated UM7 measures, as its data registers hold it: forward-right-down in
// north-east-down, times as float seconds since power-up.
#pragma once

#include <cstdint>

#include "test/sim/motion.h"
#include "test/sim/um7_packet.h"

namespace sim::um7 {

// The broadcasts that have a rate of their own.
enum class Broadcast : std::uint8_t {
  raw_accel,
  raw_gyro,
  raw_mag,
  temperature,
  all_raw,
  accel,
  gyro,
  mag,
  all_processed,
  quaternion,
  euler,
  position,
  velocity,
  pose,
};
inline constexpr std::size_t kBroadcasts = 14;
inline constexpr unsigned kHealth = 85, kLastData = 124;

// Where the rate of a broadcast stands: eight bits of a configuration register.
struct RatePlace {
  unsigned address, shift;
};
RatePlace place_of(Broadcast broadcast);

struct Sample {
  Motion motion;
  float seconds = 0;  // since power-up
};

// The largest float that is not later: what the device's own time of `device_ns` is told as.
float told_seconds(std::int64_t device_ns);

ByteVector broadcast_bytes(Broadcast broadcast, const Sample& sample);
// A data register by its address; 0 where nothing is measured.
std::uint32_t data_register(unsigned address, const Sample& sample, std::uint32_t health);

}  // namespace sim::um7
