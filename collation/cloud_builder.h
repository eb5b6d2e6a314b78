// Polar slices of one lidar in, Cartesian clouds in the tracking frame out.
#pragma once

#include <utility>

#include "collation/cloud_converter.h"

namespace collation {

// Bytes that a builder for clouds of `max_points` allocates, for the memory budget.
inline std::size_t cloud_builder_bytes(const CloudOptions& options, std::size_t max_points) {
  return CloudConverter::bytes(options, max_points);
}

// Clouds of one builder never overlap in time. Where a slice begins before the last beam ended
// (scans whose nominal length exceeds the real gap, a clock that is being learnt) its times are
// squeezed behind that beam, its last one kept; more than half of its length is too much, and the
// beams that are not after the last one are dropped and counted. Beams more than a turn too old
// are taken to be of a new time line. A pause of more than a turn ends the open cloud. A cloud that
// reaches the capacity of the pool's clouds is cut there, and the next one goes on at the next
// beam. A cloud without any return is emitted like every other, so that a lidar that sees nothing
// does not seem dead.
class CloudBuilder {
 public:
  // The pool outlives the builder. All clouds in it have one capacity, at least 1.
  CloudBuilder(const CloudOptions& options, CloudPool& pool);

  // Calls emit(CloudPool::Lease) for each cloud that the slice completes, oldest first. A slice
  // that is not kept gives no points, but turns and stamps are as if it did; a cloud without any
  // slice that was kept is not emitted.
  template <class Sink>
  void add(drivers::ScanSlice slice, bool keep, Sink&& emit) {
    keep_ = keep;
    std::size_t next = begin(slice);
    if (ended_) emit(std::move(ended_));
    while (next < slice.beams.size()) {
      next = extend(slice, next);
      if (ended_) emit(std::move(ended_));
    }
  }

  // Emits what is open, if anything: when nothing more will come.
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

  std::size_t begin(drivers::ScanSlice& slice);
  std::size_t extend(const drivers::ScanSlice& slice, std::size_t from);
  bool squeeze(drivers::ScanSlice& slice);
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
  void close();

  const CloudOptions options_;
  CloudPool& pool_;
  const std::size_t capacity_;  // beams of one cloud
  CloudConverter converter_;
  CloudStats stats_;

  // The open cloud. It has no lease when the pool was empty.
  CloudPool::Lease open_, ended_;
  std::size_t count_ = 0;  // beams in it; 0: no cloud is open
  std::size_t kept_ = 0;   // of these, beams of slices that were kept
  bool keep_ = true;       // the slice at work

  // Where the device stands.
  hal::Time last_ = hal::Time::min();  // of the last beam seen
  hal::Duration last_step_{};
  std::optional<float> last_angle_{};
  std::size_t boundary_ = kNone;  // in the slice at work: the first beam of a new turn

  std::size_t place_ = 0;  // of the next beam in the turn
  hal::Time turn_start_{};
  bool turn_is_due_ = false;    // announced, but the angle has not jumped yet
  bool turn_is_whole_ = false;  // it began at a boundary
  hal::Duration turn_length_;   // of the turn before; nominal until there was one
  int part_ = 0;
  hal::Time part_end_ = hal::Time::min();  // min: the next beam begins a turn
};

}  // namespace collation
