// The frames of a simulated Inertial Labs sensor. Little-endian; body right-forward-up; heading,
// pitch and roll as of aircraft.
#pragma once

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::inertial_labs {

struct Sample {
  Motion motion;
  std::int64_t gps_ns = 0;   // time of week, or since power-up before there are satellites
  unsigned status = 0;       // of the unit
  double gravity = 9.80665;  // m/s^2 of one g
};

// AA 55, type, code, length, payload, sum.
ByteVector frame_of(unsigned type, unsigned code, hal::Bytes payload);
void seal(ByteVector& frame);

// User-defined data of these types, preceded by their list.
ByteVector user_defined(std::span<const std::uint8_t> types, const Sample& sample);
// The set of code 0x33.
ByteVector orientation_set(const Sample& sample);

}  // namespace sim::inertial_labs
