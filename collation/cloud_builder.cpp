#include "collation/cloud_builder.h"

#include <algorithm>
#include <cassert>
#include <cmath>

namespace collation {

namespace {

constexpr float kPi = std::numbers::pi_v<float>;
constexpr float kAngleTolerance = 1e-5F;  // rad, so that a window includes its own ends

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

bool is_inside(const AngleWindow& window, float angle) {
  const double turn = 2 * std::numbers::pi;
  const double off = static_cast<double>(angle) - static_cast<double>(window.from) +
                     static_cast<double>(kAngleTolerance);
  return off - turn * std::floor(off / turn) <=
         static_cast<double>(window.width) + 2 * static_cast<double>(kAngleTolerance);
}

}  // namespace

CloudBuilder::CloudBuilder(const CloudOptions& options, CloudPool& pool)
    : options_(options),
      x_axis_(options.tracking_from_sensor.linear().col(0)),
      y_axis_(options.tracking_from_sensor.linear().col(1)),
      origin_(options.tracking_from_sensor.translation()),
      pool_(pool),
      capacity_(pool.take()->points.capacity()),
      ages_(capacity_),
      turn_length_(options.turn) {
  assert(capacity_ > 0 && options.subdivisions > 0 && options.turn > hal::Duration::zero());
}

// Deals with what may stand before the slice's first beam; returns the first beam to be used.
std::size_t CloudBuilder::begin(const drivers::ScanSlice& slice) {
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
  const std::size_t from = skip_overlap(slice);
  boundary_ = kNone;
  if (from == size) return size;
  if (options_.slice_is_turn) {
    begin_turn(time_of(slice, from), slice.last() + slice.step - time_of(slice, from));
  } else if (options_.emit != Emit::chunk) {
    const std::size_t boundary = turn_boundary(slice);
    if (boundary != kNone) boundary_ = std::max(from, boundary);
  }
  return from;
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
  open_->clear();
  ages_.clear();
  open_->first = time_of(slice, from);
  open_->device_ns = slice.device_ns;
  open_->origin = origin_;
  open_->has_intensity = slice.has_intensity;
}

void CloudBuilder::append(const drivers::ScanSlice& slice, std::size_t from, std::size_t to) {
  if (!keep_) {
    stats_.sampled_out += to - from;
  } else if (open_) {
    convert(slice, from, to);
  } else {
    stats_.without_pool += to - from;
  }
  count_ += to - from;
  if (keep_) kept_ += to - from;
  last_ = time_of(slice, to - 1);
  last_step_ = slice.step;
  last_angle_ = slice.beams[to - 1].angle;
}

void CloudBuilder::convert(const drivers::ScanSlice& slice, std::size_t from, std::size_t to) {
  TimedPointCloud& cloud = *open_;
  cloud.has_intensity = cloud.has_intensity && slice.has_intensity;
  hal::Duration age = time_of(slice, from) - cloud.first;
  for (std::size_t i = from; i < to; ++i, age += slice.step) {
    const drivers::Beam& beam = slice.beams[i];
    cloud.beams.push_back(beam);
    if (const Counter reason = refusal(beam, slice.has_intensity)) {
      ++(stats_.*reason);
      continue;
    }
    const float x = beam.range * std::cos(beam.angle), y = beam.range * std::sin(beam.angle);
    cloud.points.push_back(
        {x_axis_ * x + y_axis_ * y + origin_, 0, slice.has_intensity ? beam.intensity : 0});
    ages_.push_back(age);
    ++stats_.points;
  }
}

// Why a beam gives no point, or null when it gives one.
CloudBuilder::Counter CloudBuilder::refusal(const drivers::Beam& beam, bool has_intensity) const {
  if (beam.range == 0) return &CloudStats::no_return;
  if (!std::isfinite(beam.angle) || !std::isfinite(beam.range) || beam.range < 0) {
    return &CloudStats::invalid;
  }
  if (beam.range < options_.min_range || beam.range > options_.max_range) {
    return &CloudStats::out_of_range;
  }
  if (options_.window.width < 2 * kPi && !is_inside(options_.window, beam.angle)) {
    return &CloudStats::out_of_angle;
  }
  if (has_intensity && options_.min_intensity > 0 && !(beam.intensity >= options_.min_intensity)) {
    return &CloudStats::weak;
  }
  return nullptr;
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
    for (std::size_t i = 0; i < cloud.points.size(); ++i) {
      cloud.points[i].time = static_cast<float>(hal::to_seconds(ages_[i] - span));
    }
    ended_ = std::move(open_);
    ++stats_.clouds;
  } else {
    ++stats_.clouds_without_pool;
  }
  count_ = kept_ = 0;
}

void CloudBuilder::reset() {
  if (open_) stats_.discarded += open_->points.size();
  open_.reset();
  count_ = kept_ = 0;
  reset_turn();
}

hal::Time CloudBuilder::open_floor() const {
  return count_ > 0 || last_ == hal::Time::min() ? last_ : last_ + hal::Duration(1);
}

}  // namespace collation
