#include "collation/cloud_builder.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace collation {

namespace {

constexpr float kPi = std::numbers::pi_v<float>;

hal::Time time_of(const drivers::ScanSlice& slice, std::size_t i) {
  return slice.first + slice.step * static_cast<std::int64_t>(i);
}

// Index of the first beam of the slice that is not before `at`, at most its size.
std::size_t first_not_before(const drivers::ScanSlice& slice, hal::Time at) {
  if (slice.first >= at) return 0;
  if (slice.step == hal::Duration::zero() || at == hal::Time::max()) return slice.beams.size();
  const std::int64_t steps = (at - slice.first - hal::Duration(1)) / slice.step + 1;
  return std::min(static_cast<std::size_t>(steps), slice.beams.size());
}

}  // namespace

CloudBuilder::CloudBuilder(const CloudOptions& options, CloudPool& pool)
    : options_(options),
      pool_(pool),
      capacity_(pool.take()->points.capacity()),
      converter_(options, capacity_),
      turn_length_(options.turn) {
  assert(capacity_ > 0 && options.subdivisions > 0 && options.turn > hal::Duration::zero());
}

// Deals with what may stand before the slice's first beam; returns the first beam to be used.
std::size_t CloudBuilder::begin(drivers::ScanSlice& slice) {
  const std::size_t size = slice.beams.size();
  ++stats_.slices;
  stats_.beams += size;
  if (size == 0) return 0;
  if (slice.step < hal::Duration::zero()) {
    stats_.invalid += size;
    return size;
  }
  if (last_ != hal::Time::min() &&
      (slice.first > last_ + options_.turn || slice.first < last_ - options_.turn)) {
    stats_.gaps += count_ > 0;
    reset_turn();
    close();
    last_ = hal::Time::min();
  }
  const std::size_t from = squeeze(slice) ? 0 : skip_overlap(slice);
  boundary_ = kNone;
  if (options_.slice_is_turn || (options_.emit == Emit::chunk && slice.starts_turn)) place_ = 0;
  place_ += from;
  if (from == size) return size;
  if (options_.slice_is_turn) {
    begin_turn(time_of(slice, from), slice.last() + slice.step - time_of(slice, from));
  } else if (options_.emit != Emit::chunk) {
    const std::size_t boundary = turn_boundary(slice);
    if (boundary != kNone) boundary_ = std::max(from, boundary);
  }
  return from;
}

// Spreads the slice's beams evenly over the time that is left to it, when that is enough.
bool CloudBuilder::squeeze(drivers::ScanSlice& slice) {
  if (last_ == hal::Time::min() || slice.first > last_) return false;
  const auto size = static_cast<std::int64_t>(slice.beams.size());
  const hal::Time end = slice.last();
  if (end <= last_) return false;
  const hal::Duration step = (end - last_) / size;
  if (step == hal::Duration::zero() || step < slice.step / 2) return false;
  slice.step = step;
  slice.first = end - step * (size - 1);
  ++stats_.squeezed;
  return true;
}

std::size_t CloudBuilder::skip_overlap(const drivers::ScanSlice& slice) {
  if (last_ == hal::Time::min()) return 0;
  const std::size_t from = first_not_before(slice, last_ + hal::Duration(1));
  stats_.overlap += from;
  return from;
}

// The first beam behind the turn boundary: its angle jumps, however many turns the angles count.
// The slice's size when there is none.
std::size_t CloudBuilder::jump_in(const drivers::ScanSlice& slice) const {
  const auto within_turn = [](float angle) {
    return angle - 2 * kPi * std::floor(angle / (2 * kPi));
  };
  float previous = last_angle_.value_or(slice.beams[0].angle);
  for (std::size_t i = 0; i < slice.beams.size(); ++i) {
    const float angle = slice.beams[i].angle;
    const bool jumps = std::abs(angle - previous) > kPi ||
                       std::abs(within_turn(angle) - within_turn(previous)) > kPi;
    if (jumps) return i;
    previous = angle;
  }
  return slice.beams.size();
}

// Where a new turn begins in this slice, or kNone. Devices that correct angles may announce it one
// slice before the corrected angle jumps; when it does not jump then either, the slice begins it.
std::size_t CloudBuilder::turn_boundary(const drivers::ScanSlice& slice) {
  if (!slice.starts_turn && !turn_is_due_) return kNone;
  if (slice.starts_turn && slice.turn_at < slice.beams.size()) {
    turn_is_due_ = false;
    return slice.turn_at;
  }
  const std::size_t jump = jump_in(slice);
  const bool found = jump < slice.beams.size();
  const bool at_once = turn_is_due_ || !last_angle_;
  turn_is_due_ = !found && !at_once;
  if (found) return jump;
  return at_once ? 0 : kNone;
}

// Takes the beams up to the next cut; returns the first beam after them. With `ended_` set, a
// cloud was completed before the returned beam.
std::size_t CloudBuilder::extend(const drivers::ScanSlice& slice, std::size_t from) {
  if (is_cut_before(time_of(slice, from), from)) close();
  if (ended_) return from;
  if (count_ == 0) open(slice, from);
  const std::size_t to = end_of_run(slice, from);
  append(slice, from, to);
  const bool ends_with_slice = options_.emit == Emit::chunk || options_.slice_is_turn;
  if (to == slice.beams.size() && ends_with_slice) close();
  return to;
}

bool CloudBuilder::is_cut_before(hal::Time at, std::size_t index) {
  if (index == boundary_) {
    boundary_ = kNone;
    place_ = 0;
    const bool learn = turn_is_whole_ && last_ > turn_start_;
    begin_turn(at, learn ? last_ + last_step_ - turn_start_ : turn_length_);
    turn_is_whole_ = true;
    return true;
  }
  if (part_end_ == hal::Time::min()) begin_turn(at, turn_length_);
  if (at >= part_end_) {
    begin_part(at);
    return true;
  }
  if (count_ < capacity_) return false;
  ++stats_.points_full;
  return true;
}

void CloudBuilder::begin_turn(hal::Time at, hal::Duration length) {
  turn_start_ = at;
  turn_length_ = length;
  part_ = -1;
  begin_part(at);
}

// The last part lasts until the turn ends, however long that takes.
void CloudBuilder::begin_part(hal::Time at) {
  const int parts = options_.emit == Emit::subdivisions ? options_.subdivisions : 1;
  do {
    ++part_;
    part_end_ =
        part_ + 1 >= parts ? hal::Time::max() : turn_start_ + turn_length_ * (part_ + 1) / parts;
  } while (part_end_ <= at);
}

void CloudBuilder::reset_turn() {
  place_ = 0;
  turn_is_whole_ = turn_is_due_ = false;
  part_end_ = hal::Time::min();
  last_angle_.reset();
}

std::size_t CloudBuilder::end_of_run(const drivers::ScanSlice& slice, std::size_t from) const {
  std::size_t to = std::min(slice.beams.size(), from + (capacity_ - count_));
  if (boundary_ != kNone) to = std::min(to, boundary_);
  return std::min(to, first_not_before(slice, part_end_));
}

void CloudBuilder::open(const drivers::ScanSlice& slice, std::size_t from) {
  open_ = pool_.take();
  if (!open_) return;
  converter_.begin(*open_);
  open_->first = time_of(slice, from);
  open_->device_ns = slice.device_ns;
  open_->has_intensity = slice.has_intensity;
}

void CloudBuilder::append(const drivers::ScanSlice& slice, std::size_t from, std::size_t to) {
  if (!keep_) {
    stats_.sampled_out += to - from;
  } else if (open_) {
    open_->has_intensity = open_->has_intensity && slice.has_intensity;
    converter_.append(slice, from, to, time_of(slice, from) - open_->first, kept_, place_, *open_,
                      stats_);
    stats_.held = open_->points.size();
  } else {
    stats_.without_pool += to - from;
  }
  count_ += to - from;
  if (keep_) kept_ += to - from;
  place_ += to - from;
  last_ = time_of(slice, to - 1);
  last_step_ = slice.step;
  last_angle_ = slice.beams[to - 1].angle;
}

void CloudBuilder::close() {
  if (count_ == 0) return;
  if (kept_ == 0) {
    open_.reset();
  } else if (open_) {
    TimedPointCloud& cloud = *open_;
    cloud.at = last_;
    cloud.beam_count = count_;
    const hal::Duration span = cloud.at - cloud.first;
    cloud.step = count_ > 1 ? span / static_cast<std::int64_t>(count_ - 1) : last_step_;
    converter_.finish(span, cloud, stats_);
    ended_ = std::move(open_);
    ++stats_.clouds;
  } else {
    ++stats_.clouds_without_pool;
  }
  count_ = kept_ = 0;
  stats_.held = 0;
}

void CloudBuilder::reset() {
  stats_.discarded += stats_.held;
  stats_.held = 0;
  open_.reset();
  count_ = kept_ = 0;
  reset_turn();
}

hal::Time CloudBuilder::open_floor() const {
  return count_ > 0 || last_ == hal::Time::min() ? last_ : last_ + hal::Duration(1);
}

}  // namespace collation
