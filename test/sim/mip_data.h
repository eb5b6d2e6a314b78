// What a simulated MicroStrain device measures, and the data fields that carry it.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "test/sim/mip_wire.h"
#include "test/sim/motion.h"

namespace sim::mip {

inline constexpr unsigned kSensorSet = 0x80, kFilterSet = 0x82;

enum class Generation : std::uint8_t { series7, gx5 };

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
