// How the scans of one lidar become clouds, and the books of it.
#pragma once

#include <Eigen/Geometry>
#include <cstdint>
#include <numbers>
#include <vector>

#include "collation/filters.h"

namespace collation {

enum class Emit : std::uint8_t {
  turn,          // one cloud a turn, cut at the very beam where the device passes its boundary
  subdivisions,  // each turn cut into equal parts by time
  chunk,         // each slice is a cloud
};

// Which of several returns of one beam becomes its point, among those within the range window.
// Without intensities the strongest is the first.
enum class EchoChoice : std::uint8_t { first, strongest, last };

// Beams from `from` counter-clockwise over `width`, both ends included, rad in the sensor's frame.
struct AngleWindow {
  float from = 0;
  float width = 2 * std::numbers::pi_v<float>;  // a full turn or more: every angle
};

struct CloudOptions {
  Eigen::Isometry3f tracking_from_sensor = Eigen::Isometry3f::Identity();
  EchoChoice echo = EchoChoice::first;
  float min_range = 0, max_range = 1000;  // m, both ends included; range 0 is no return
  std::vector<AngleWindow> windows{};     // a beam in any of them stays; none: every beam
  float min_intensity = 0;                // looked at only where the slice has intensities
  FilterOptions filters{};                // then these
  Emit emit = Emit::turn;
  int subdivisions = 1;                                 // with Emit::subdivisions, >= 1
  bool slice_is_turn = false;                           // the device sends whole turns or scans
  hal::Duration turn = std::chrono::milliseconds(100);  // nominal duration of one turn
  std::size_t beams_per_turn = 0;  // at most, if known: as many directions are remembered
};

// Counters only grow, `held` apart. Where every beam went:
//   beams = points + no_return + out_of_range + out_of_angle + weak + invalid + overlap +
//           without_pool + sampled_out + in_box + shadow + speckle + decimated + voxel +
//           discarded + held
struct CloudStats {
  std::uint64_t beams = 0, slices = 0;
  std::uint64_t points = 0;  // in emitted clouds
  std::uint64_t no_return = 0;
  std::uint64_t out_of_range = 0, out_of_angle = 0, weak = 0;  // outside the window
  std::uint64_t invalid = 0;       // angle or range not a number, range negative, step negative
  std::uint64_t overlap = 0;       // measured not after the last beam of the slice before
  std::uint64_t without_pool = 0;  // there was no cloud to put them in
  std::uint64_t sampled_out = 0;   // of slices that were not kept
  std::uint64_t in_box = 0, shadow = 0, speckle = 0, decimated = 0, voxel = 0;  // filters.h
  std::uint64_t discarded = 0;  // in clouds that reset() gave up
  std::uint64_t held = 0;       // points of the open cloud

  std::uint64_t clouds = 0;               // emitted
  std::uint64_t clouds_without_pool = 0;  // due, but every cloud of the pool was in use
  std::uint64_t points_full = 0;          // clouds cut because they reached their capacity
  std::uint64_t gaps = 0;                 // clouds cut because time jumped by more than a turn
  std::uint64_t squeezed = 0;             // slices whose times were fitted behind the slice before
};

}  // namespace collation
