// The packets of Bluesea lidars: what stands in them, how they are summed.
#pragma once

#include <cstdint>
#include <vector>

#include "test/sim/device_model.h"

namespace sim::bluesea {

// Named by the first byte of the packet's code; the second is 0xFA.
enum class Format : std::uint8_t { ce, ce_packed, cf, df, c7, aa, x99 };

inline constexpr std::size_t kFans = 10;     // sectors in a turn
inline constexpr double kFanDegrees = 36.0;  // the width of one

struct Sample {
  std::uint64_t distance = 0;  // mm or cm; 0 = no return
  std::uint64_t energy = 0;    // at most 255
};

// The samples of one packet: all or, where the format can say so, a part of a fan. Directions are
// clockwise and evenly spaced; sample 0 of the fan lies at its beginning.
struct FanPart {
  std::size_t fan = 0;         // place of the fan in the turn
  std::size_t fan_points = 0;  // in the whole fan
  std::size_t offset = 0;      // of the first sample in the fan
  bool is_mm = true;
  bool has_energy = true;
  std::int64_t stamp_ns = 0;  // of the fan's first sample; formats without a stamp leave it out
  std::vector<Sample> samples;
};

// Whether packets may carry less than a fan.
bool splits(Format format);
// Whether packets are stamped: by milliseconds in the hour, or by seconds and nanoseconds.
bool counts_in_the_hour(Format format);
bool tells_date(Format format);

ByteVector packet(Format format, const FanPart& part);

// Appends the checksum to a packet that lacks it: the sum, modulo 65536, of the header's words
// behind the code and of every distance, angle and energy.
void seal(Format format, ByteVector& packet);

std::size_t head_bytes(Format format);

}  // namespace sim::bluesea
