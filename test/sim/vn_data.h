// What a simulated VectorNav sensor measures, as its binary fields and its ASCII messages tell it:
// forward-right-down in north-east-down.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::vectornav {

inline constexpr std::size_t kGroups = 7;

struct Sample {
  Motion motion;
  std::int64_t device_ns = 0;  // since power-up
  std::int64_t delta_ns = 0;   // since the sample before of the same output
  Vector3 delta_angle{};       // rad over delta_ns, FLU
};

// One type word for each bit of `groups`, which has no bit 7; 0 where the bit is not set.
struct Content {
  unsigned groups = 0;
  std::array<unsigned, kGroups> types{};

  bool operator==(const Content&) const = default;
};

// Bytes of a frame; empty where a field is named that no description knows.
std::optional<std::size_t> frame_size(const Content& content);
ByteVector binary_frame(const Content& content, const Sample& sample);
// Writes the CRC over the last two bytes.
void seal(ByteVector& frame);

// "VNYMR,+100.949,..." of an asynchronous type by its number; empty where there is none.
std::string message_of(unsigned type, const Sample& sample);
// The fields of a register that is measured; empty where it is none.
std::string measured_register(unsigned number, const Sample& sample);

}  // namespace sim::vectornav
