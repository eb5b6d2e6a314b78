// What collation carries for a lidar: one cloud of timed points, taken from a pool.
#pragma once

#include <Eigen/Core>
#include <cstdint>
#include <memory>
#include <optional>

#include "drivers/packet.h"
#include "hal/bounded.h"
#include "hal/time.h"

namespace collation {

struct TimedPoint {
  Eigen::Vector3f position;  // m, tracking frame
  float time;                // s relative to the cloud's stamp, <= 0; ascending
  float intensity;           // the device's own number; meaningless unless has_intensity
};

// What one lidar measured from `first` to `at`, both included. `at` is the stamp: when the last
// beam was measured, whether or not it had a return. Cartographer's convention, without its fault
// that the stamp followed the last valid beam.
struct TimedPointCloud {
  // `max_points` also bounds the beams that one cloud covers. With `keep_beams` the beams are kept
  // beside the points.
  TimedPointCloud(std::size_t max_points, bool keep_beams)
      : points(max_points), beams(keep_beams ? max_points : 0) {}

  void clear();

  hal::Time first{}, at{};
  hal::Duration step{};                              // mean time between two of `beams`
  std::optional<std::int64_t> device_ns{};           // of the slice that holds the first beam
  Eigen::Vector3f origin = Eigen::Vector3f::Zero();  // the sensor in the tracking frame, m
  bool has_intensity = false;                        // every slice of it had
  std::size_t beam_count = 0;                        // beams measured, returns or not
  hal::BoundedVector<TimedPoint> points;             // returns that passed all filters, as acquired
  // All of them, or every n-th when the filters decimate; sensor frame, as acquired. Range 0: no
  // return; not a number: it was no measurement, or a filter took it. What is only out of range
  // keeps its range, and the voxel filter takes nothing here.
  hal::BoundedVector<drivers::Beam> beams;
};

inline void TimedPointCloud::clear() {
  first = at = {};
  step = {};
  device_ns.reset();
  has_intensity = false;
  beam_count = 0;
  points.clear();
  beams.clear();
}

using CloudPool = hal::Pool<TimedPointCloud>;

// Allocates `count` clouds. The pool outlives every lease.
inline CloudPool make_cloud_pool(std::size_t count, std::size_t max_points, bool keep_beams) {
  return CloudPool(count,
                   [=] { return std::make_unique<TimedPointCloud>(max_points, keep_beams); });
}

// Bytes that such a pool takes, for the memory budget.
constexpr std::size_t cloud_pool_bytes(std::size_t count, std::size_t max_points, bool keep_beams) {
  return count * (sizeof(TimedPointCloud) + max_points * sizeof(TimedPoint) +
                  (keep_beams ? max_points * sizeof(drivers::Beam) : 0));
}

}  // namespace collation
