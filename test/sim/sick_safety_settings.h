// What is set for a channel of a SICK safety scanner, and the grid of beams it chooses from.
#pragma once

#include <cstdint>
#include <optional>

#include "test/sim/device_model.h"
#include "test/sim/sick_safety_catalogue.h"

namespace sim::sick_safety {

inline constexpr double kUnitsPerDegree = 4194304.0;
inline constexpr double kFrontDeg = 90.0;  // where the scanner's own angles look straight ahead

// What a host, or the engineering tool, has set for one of the four channels.
struct ChannelSettings {
  bool enabled = false;
  std::uint8_t interface_type = 0;
  Address to{};  // none: where --to says
  std::uint16_t divider = 1;
  std::int32_t start = 0, end = 0;  // in units of 2^-22 degrees; equal = the whole field
  std::uint16_t features = 0;
};

// The shape of a turn: the grid of beams, and its speed.
struct Grid {
  explicit Grid(const Model& model, int ms);

  int beams, scan_ms;
  std::int32_t first, step;          // as the derived values tell them
  double angle_deg(int beam) const;  // in the scanner's own frame, as told
  long beam_us() const;              // between two beams, rounded as it is told
  // The beams that a channel sends: [from, to).
  int from(const ChannelSettings& settings) const;
  int to(const ChannelSettings& settings) const;
};

struct ChangeRequest {
  std::uint8_t channel = 0;
  ChannelSettings settings;
};
// The arguments of method 0xB0; nullopt: too few, or values that make no sense.
std::optional<ChangeRequest> parse_settings(hal::Bytes arguments);

// Variables 177 and 178: a version, then as the method takes them; the current ones with what
// follows from them.
void put_persistent(ByteVector& to, const ChannelSettings& settings);
void put_current(ByteVector& to, const ChannelSettings& settings, const Grid& grid,
                 unsigned factor);

}  // namespace sim::sick_safety
