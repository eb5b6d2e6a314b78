// What a simulated LP-Research sensor measures, as its two generations lay it out. Little-endian.
#pragma once

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::lpms {

struct Sample {
  Motion motion;
  std::uint32_t count = 0;
  double accel_sign = 1.0;  // -1: at rest z is -1 g
  bool degrees = true;      // IG1: gyros in degrees/s, else in rad/s
};

// Bits of the legacy configuration.
inline constexpr unsigned kLowPrecision = 1U << 22;

// 3A, address, function, length, data, sum, 0D 0A.
ByteVector frame_of(unsigned address, unsigned function, hal::Bytes data);
void seal(ByteVector& frame);

// The data of function 9: the count and what `enabled` has, in the order of the generation.
ByteVector ig1_data(const Sample& sample, unsigned enabled);
ByteVector legacy_data(const Sample& sample, unsigned enabled);

}  // namespace sim::lpms
