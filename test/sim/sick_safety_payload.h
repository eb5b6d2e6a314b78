// What a SICK safety scanner sends of one scan: header, blocks, and the fragments that carry them.
#pragma once

#include <cstdint>
#include <vector>

#include "test/sim/device_model.h"
#include "test/sim/sick_safety_catalogue.h"
#include "test/sim/sick_safety_settings.h"

namespace sim::sick_safety {

// Bits of the feature mask.
enum : unsigned { kGeneral = 1, kDerived = 2, kMeasurement = 4, kIntrusion = 8, kApplication = 16 };

// What is wrong with the scanner or its window, as told in the blocks.
struct Condition {
  double glare = 0.0, contaminated = 0.0;  // share of the beams
  bool application_error = false, device_error = false;
};

struct Numbers {
  std::uint8_t channel = 0;
  std::uint32_t serial = 0, sequence = 0, scan = 0;
  std::uint16_t date = 0;  // days since 1972, 0 = the clock was never set
  std::uint32_t ms = 0;
};

struct Beam {
  std::uint16_t distance = 0;
  std::uint8_t reflectivity = 0, status = 0;
};

// One beam of the room; `truth.at` and `truth.angle` are given, its range is filled in.
Beam look(TrueBeam& truth, const Model& model, unsigned factor, const Condition& condition,
          Random& random);

// The payload with the blocks that `settings.features` names. `beams` are those of the channel,
// `first` is the grid's number of the first.
ByteVector payload(const Numbers& numbers, const ChannelSettings& settings, const Grid& grid,
                   int first, const std::vector<Beam>& beams, unsigned factor,
                   const Condition& condition);

// Datagrams of at most `bytes` of the payload each.
std::vector<ByteVector> fragments(const ByteVector& payload, std::uint32_t identification,
                                  std::size_t bytes);

// Where in a payload the beams stand, [begin, end); empty without a measurement block.
struct Extent {
  std::size_t begin = 0, end = 0;
};
Extent beams_in(const ByteVector& payload);

// Puts random distances and states into the beams that lie wholly in the fragment.
void falsify_fragment(ByteVector& fragment, Extent beams, Random& random);

}  // namespace sim::sick_safety
