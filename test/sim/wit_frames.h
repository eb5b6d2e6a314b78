// What a simulated WitMotion sensor sends: 55 | u8 type | eight bytes | u8 sum of all before,
// fields little-endian.
#pragma once

#include <array>
#include <cstdint>

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::witmotion {

inline constexpr unsigned kFirstType = 0x50, kRegisters = 0x5F;
inline constexpr unsigned kTypes = 11;  // by bit of the content register

enum class Axes : std::uint8_t { flu, rfu };

struct Manner {
  Axes axes = Axes::flu;
  bool scalar_first = true;  // in its quaternion
  bool dead_band = false;    // small rates are told as none
};

struct Sample {
  Motion motion;
  std::int64_t device_ns = 0;  // since power-up: its calendar begins at 2015-01-01
};

// As its registers hold them, in the order of x, y, z (w, x, y, z).
struct Raw {
  std::array<int, 3> accel{}, gyro{}, angle{}, mag{};
  std::array<int, 4> quaternion{};
};
Raw raw_of(const Manner& manner, const Motion& motion);

// A frame of `kFirstType` + `bit`.
ByteVector data_frame(unsigned bit, const Manner& manner, const Sample& sample);
ByteVector register_frame(const std::array<std::uint16_t, 4>& values);
void seal(ByteVector& frame);

}  // namespace sim::witmotion
