// What a simulated MicroStrain device measures, and the data fields that carry it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "test/sim/mip_wire.h"

namespace sim::mip {

inline constexpr unsigned kSensorSet = 0x80, kFilterSet = 0x82;

enum class Generation : std::uint8_t { series7, gx5 };

using Vector3 = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  // w, x, y, z

// The known motion of the device, and what follows from it; body FLU, world ENU, SI units.
struct Motion {
  double roll = 0.0, pitch = 0.0, yaw = 0.0;  // rad
  Quaternion orientation{1.0, 0.0, 0.0, 0.0};
  Vector3 gyro{};   // rad/s
  Vector3 accel{};  // m/s^2, specific force
};

// A slow yaw swing of half a radian with slight roll and pitch, or with `moving` false: at rest,
// level, nose to the East. `t` is seconds since power-up.
Motion motion_at(double t, bool moving);

// One sample with its stamps, from which every field is made.
struct Sample {
  Motion motion;
  std::int64_t device_ns = 0;
  std::int64_t delta_ns = 0;  // since the sample before, in the same message
  std::uint64_t ticks = 0;    // base-rate ticks since power-up
  Vector3 delta_angle{};      // rad over delta_ns, FLU
  Generation generation = Generation::series7;
};

std::span<const std::uint8_t> descriptors(Generation generation, unsigned set);
bool is_supported(Generation generation, unsigned set, unsigned descriptor);

// `descriptor` is supported.
Field make_field(unsigned set, unsigned descriptor, const Sample& sample);

}  // namespace sim::mip
