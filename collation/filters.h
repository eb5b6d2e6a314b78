// What may be taken from a cloud after its beams became points. Each filter is a plain function
// over the points of one cloud in the order of acquisition; filters_chain.h puts them in a row.
//
// A filter marks: it sets drop[i] where points[i] is to go, and leaves the other marks alone. It
// sees only the cloud at hand, so at a cloud's two ends there are fewer neighbours.
#pragma once

#include <Eigen/Geometry>
#include <cstdint>
#include <span>

#include "collation/cloud.h"

namespace collation {

// Where a point came from; stands beside it.
struct Return {
  hal::Duration age;   // since the cloud's first beam
  std::uint32_t beam;  // its index among the cloud's beams, with and without return
  float range;         // m
};

using Marks = std::span<std::uint8_t>;

// The robot's own body: points inside go, the faces included.
struct BoxFilter {
  Eigen::Vector3f min = Eigen::Vector3f::Zero();  // m, tracking frame
  Eigen::Vector3f max = Eigen::Vector3f::Zero();
  Eigen::Isometry3f tracking_from_points = Eigen::Isometry3f::Identity();

  bool on() const { return (min.array() < max.array()).all(); }
};
void mark_box(const BoxFilter& filter, std::span<const TimedPoint> points, Marks drop);

// Veiling points: where a beam is split by an edge the device may report a range between the two
// surfaces. Of two returns at most `window` beams apart the farther one goes when the line from it
// to the nearer one is closer to its own beam than `min_angle`. (The criterion of the shadows
// filter of ROS laser_filters, seen from the farther point and without its other limit, so that
// the near edge stays.)
struct ShadowFilter {
  float min_angle = 0;  // rad, below a quarter turn; 0: off
  int window = 1;       // beams, >= 1

  bool on() const { return min_angle > 0; }
};
void mark_shadow(const ShadowFilter& filter, const Eigen::Vector3f& origin,
                 std::span<const TimedPoint> points, std::span<const Return> returns, Marks drop);

// Rain, dust and crosstalk: a return goes when fewer than `neighbours` of the returns at most
// `window` beams away lie within `distance` of it.
struct SpeckleFilter {
  float distance = 0;  // m; 0: off
  int window = 2;      // beams to each side, >= 1
  int neighbours = 1;  // 1 to 2 * window

  bool on() const { return distance > 0; }
};
void mark_speckle(const SpeckleFilter& filter, std::span<const TimedPoint> points,
                  std::span<const Return> returns, Marks drop);

// Noise of the range: each becomes the median of the returns among the `window` beams around it,
// of an even number the nearer of the two in the middle. The point moves along its beam.
struct MedianFilter {
  static constexpr int kLargest = 15;
  int window = 1;  // beams, odd, at most kLargest; 1: off

  bool on() const { return window > 1; }
};
// `scratch` is as long as `points`.
void smooth(const MedianFilter& filter, const Eigen::Vector3f& origin, std::span<TimedPoint> points,
            std::span<Return> returns, std::span<float> scratch);

// Of the beams of a cloud the first and every n-th after it stay.
struct Decimation {
  int every = 1;  // 1: off

  bool on() const { return every > 1; }
};
void mark_decimated(const Decimation& filter, std::span<const Return> returns, Marks drop);

struct FilterOptions {
  BoxFilter box{};
  ShadowFilter shadow{};
  SpeckleFilter speckle{};
  MedianFilter median{};
  Decimation decimation{};
  float voxel = 0;  // m, edge of a voxel, see filters_voxel.h; 0: off
};

}  // namespace collation
