// Polar slices of one lidar in, Cartesian clouds in the tracking frame out.
#pragma once

#include <Eigen/Geometry>
#include <cstdint>
#include <numbers>
#include <utility>

#include "collation/cloud.h"

namespace collation {

enum class Emit : std::uint8_t {
  turn,          // one cloud a turn, cut at the very beam where the device passes its boundary
  subdivisions,  // each turn cut into equal parts by time
  chunk,         // each slice is a cloud
};

// Beams from `from` counter-clockwise over `width`, both ends included, rad in the sensor's frame.
struct AngleWindow {
  float from = 0;
  float width = 2 * std::numbers::pi_v<float>;  // a full turn or more: every angle
};

struct CloudOptions {
  Eigen::Isometry3f tracking_from_sensor = Eigen::Isometry3f::Identity();
  float min_range = 0, max_range = 1000;  // m, both ends included; range 0 is no return
  AngleWindow window{};
  float min_intensity = 0;  // looked at only where the slice has intensities
  Emit emit = Emit::turn;
  int subdivisions = 1;                                 // with Emit::subdivisions, >= 1
  bool slice_is_turn = false;                           // the device sends whole turns or scans
  hal::Duration turn = std::chrono::milliseconds(100);  // nominal duration of one turn
};

// Counters only grow. Where every beam went, `points` in an open or emitted cloud:
//   beams = points + no_return + out_of_range + out_of_angle + weak + invalid + overlap +
//           without_pool + sampled_out
struct CloudStats {
  std::uint64_t beams = 0, slices = 0;
  std::uint64_t points = 0;
  std::uint64_t no_return = 0;
  std::uint64_t out_of_range = 0, out_of_angle = 0, weak = 0;  // outside the window
  std::uint64_t invalid = 0;       // angle or range not a number, range negative, step negative
  std::uint64_t overlap = 0;       // measured not after the last beam of the slice before
  std::uint64_t without_pool = 0;  // there was no cloud to put them in
  std::uint64_t sampled_out = 0;   // of slices that were not kept

  std::uint64_t clouds = 0;               // emitted
  std::uint64_t clouds_without_pool = 0;  // due, but every cloud of the pool was in use
  std::uint64_t points_full = 0;          // clouds cut because they reached their capacity
  std::uint64_t gaps = 0;                 // clouds cut because time jumped by more than a turn
  std::uint64_t discarded = 0;            // points in clouds that reset() gave up
};

// Bytes that a builder allocates for clouds of `max_points`, for the memory budget.
constexpr std::size_t cloud_builder_bytes(std::size_t max_points) {
  return max_points * sizeof(hal::Duration);
}

// Clouds of one builder never overlap in time: beams that are not after the last one are dropped
// and counted, unless they are more than a turn too old: then the device's time line is taken to
// be a new one. A pause of more than a turn ends the open cloud. A cloud that reaches the capacity
// of the pool's clouds is cut there, and the next one goes on at the next beam. A cloud without
// any return is emitted like every other, so that a lidar that sees nothing does not seem dead.
class CloudBuilder {
 public:
  // The pool outlives the builder. All clouds in it have one capacity, at least 1.
  CloudBuilder(const CloudOptions& options, CloudPool& pool);

  // Calls emit(CloudPool::Lease) for each cloud that the slice completes, oldest first. A slice
  // that is not kept gives no points, but turns and stamps are as if it did; a cloud without any
  // slice that was kept is not emitted.
  template <class Sink>
  void add(const drivers::ScanSlice& slice, bool keep, Sink&& emit) {
    keep_ = keep;
    std::size_t next = begin(slice);
    if (ended_) emit(std::move(ended_));
    while (next < slice.beams.size()) {
      next = extend(slice, next);
      if (ended_) emit(std::move(ended_));
    }
  }

  // Emits what is open, if anything: at the end of a recording.
  template <class Sink>
  void flush(Sink&& emit) {
    close();
    if (ended_) emit(std::move(ended_));
  }

  // The device restarted: forgets the open cloud and where the turn stood.
  void reset();

  // No cloud that add() still emits can be stamped earlier; Time::min() before the first slice.
  hal::Time open_floor() const;

  const CloudStats& stats() const { return stats_; }

 private:
  static constexpr std::size_t kNone = ~std::size_t{0};
  using Counter = std::uint64_t CloudStats::*;

  std::size_t begin(const drivers::ScanSlice& slice);
  std::size_t extend(const drivers::ScanSlice& slice, std::size_t from);
  std::size_t skip_overlap(const drivers::ScanSlice& slice);
  std::size_t jump_in(const drivers::ScanSlice& slice) const;
  std::size_t turn_boundary(const drivers::ScanSlice& slice);
  std::size_t end_of_run(const drivers::ScanSlice& slice, std::size_t from) const;
  bool is_cut_before(hal::Time at, std::size_t index);
  void begin_turn(hal::Time at, hal::Duration length);
  void begin_part(hal::Time at);
  void reset_turn();
  void open(const drivers::ScanSlice& slice, std::size_t from);
  void append(const drivers::ScanSlice& slice, std::size_t from, std::size_t to);
  void convert(const drivers::ScanSlice& slice, std::size_t from, std::size_t to);
  Counter refusal(const drivers::Beam& beam, bool has_intensity) const;
  void close();

  const CloudOptions options_;
  const Eigen::Vector3f x_axis_, y_axis_, origin_;  // of the sensor, in the tracking frame
  CloudPool& pool_;
  const std::size_t capacity_;  // beams of one cloud
  CloudStats stats_;

  // The open cloud. It has no lease when the pool was empty.
  CloudPool::Lease open_, ended_;
  std::size_t count_ = 0;                   // beams in it; 0: no cloud is open
  std::size_t kept_ = 0;                    // of these, beams of slices that were kept
  bool keep_ = true;                        // the slice at work
  hal::BoundedVector<hal::Duration> ages_;  // by point: time since the cloud's first beam

  // Where the device stands.
  hal::Time last_ = hal::Time::min();  // of the last beam seen
  hal::Duration last_step_{};
  std::optional<float> last_angle_{};
  std::size_t boundary_ = kNone;  // in the slice at work: the first beam of a new turn

  hal::Time turn_start_{};
  bool turn_is_due_ = false;    // announced, but the angle has not jumped yet
  bool turn_is_whole_ = false;  // it began at a boundary
  hal::Duration turn_length_;   // of the turn before; nominal until there was one
  int part_ = 0;
  hal::Time part_end_ = hal::Time::min();  // min: the next beam begins a turn
};

}  // namespace collation
