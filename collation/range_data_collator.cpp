#include "collation/range_data_collator.h"

#include <algorithm>
#include <cassert>

namespace collation {

namespace {

// Calls put(point) for the points of two runs in order of time, of equal ones first those of `a`.
// Which run is next does not decide a branch: two lidars that take turns cannot be predicted.
template <class Point, class Put>
void merge_two(std::span<const Point> a, std::span<const Point> b, Put&& put) {
  const Point *x = a.data(), *y = b.data();
  const Point *const x_end = x + a.size(), *const y_end = y + b.size();
  while (x != x_end && y != y_end) {
    const bool second = y->at < x->at;
    put(second ? *y : *x);
    y += second;
    x += !second;
  }
  for (; x != x_end; ++x) put(*x);
  for (; y != y_end; ++y) put(*y);
}

}  // namespace

RangeDataCollator::RangeDataCollator(std::span<const MergedLidar> lidars, std::size_t max_points)
    : out_(lidars.size(), max_points) {
  assert(!lidars.empty() && lidars.size() <= kMaxLidars && max_points > 0);
  std::size_t all = 0;
  for (const MergedLidar& lidar : lidars) {
    assert(lidar.clouds > 0);
    sources_.emplace_back(lidar);
    all += pending_at_most(lidar);
  }
  runs_.resize(lidars.size());
  if (lidars.size() > 2) mid_[0].resize(all);
  if (lidars.size() > 3) mid_[1].resize(all);
}

std::size_t RangeDataCollator::memory(std::span<const MergedLidar> lidars, std::size_t max_points) {
  std::size_t all = 0, bytes = max_points * sizeof(MergedPoint);
  for (const MergedLidar& lidar : lidars) {
    all += pending_at_most(lidar);
    bytes += sizeof(Source) + sizeof(Run) + lidar.clouds * sizeof(hal::Time);
    bytes += 2 * pending_at_most(lidar) * sizeof(Pending);
  }
  const std::size_t between = (lidars.size() > 2) + (lidars.size() > 3);
  return bytes + between * all * sizeof(Pending);
}

bool RangeDataCollator::accept(std::size_t lidar, const TimedPointCloud& cloud) {
  Source& source = sources_[lidar];
  ++stats_.clouds;
  stats_.points += cloud.points.size();
  if (cloud.at <= source.newest) {
    ++stats_.backward;
    stats_.backward_points += cloud.points.size();
    return false;
  }
  source.newest = cloud.at;
  out_.origins[lidar] = cloud.origin;
  if (cloud.at < end_) {
    ++stats_.late_clouds;
    stats_.late += cloud.points.size();
    return false;
  }
  return true;
}

// Points before `end_` are too late; equal to it they are not, for the reference kept these too.
void RangeDataCollator::store(Source& source, const TimedPointCloud& cloud) {
  make_room(source, source.points_of_cloud);
  const auto origin = static_cast<std::uint32_t>(&source - sources_.data());
  const std::int64_t stamp = hal::to_ns(cloud.at), start = hal::to_ns(end_);
  const std::size_t given = std::min(cloud.points.size(), source.points_of_cloud);
  stats_.full += cloud.points.size() - given;
  Pending* to = source.points.data() + source.last;
  std::uint64_t late = 0, bad_time = 0;
  float previous = -std::numeric_limits<float>::infinity();
  for (const TimedPoint& point : cloud.points.view().first(given)) {
    if (!(point.time >= previous && point.time <= 0)) {
      ++bad_time;
      continue;
    }
    previous = point.time;
    const std::int64_t at =
        stamp + static_cast<std::int64_t>(static_cast<double>(point.time) * 1e9 - 0.5);
    if (at < start) {
      ++late;
      continue;
    }
    *to++ = {point.position, cloud.has_intensity ? point.intensity : 0, at, origin};
  }
  source.last = static_cast<std::size_t>(to - source.points.data());
  source.stamps.push_back(cloud.at);
  stats_.late += late;
  stats_.bad_time += bad_time;
}

void RangeDataCollator::make_room(Source& source, std::size_t points) {
  if (source.points.size() - source.last >= points) return;
  std::copy(source.points.data() + source.first, source.points.data() + source.last,
            source.points.data());
  source.last -= source.first;
  source.first = 0;
}

// The time up to which all that are waited for, and the one that asks, have told what they saw.
hal::Time RangeDataCollator::complete_until(std::size_t asking) const {
  hal::Time end = hal::Time::max();
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    if (!source.waiting && i != asking) continue;
    end = std::min(end, source.stamps.empty() ? hal::Time::min() : source.stamps.back());
  }
  if (end != hal::Time::max()) return end;
  return newest();  // nobody is waited for
}

hal::Time RangeDataCollator::newest() const {
  hal::Time newest = hal::Time::min();
  for (const Source& source : sources_) {
    if (!source.stamps.empty()) newest = std::max(newest, source.stamps.back());
  }
  return newest;
}

// Fills `out_` with what is not after `end`; true when there was more than it holds.
bool RangeDataCollator::merge(hal::Time end) {
  std::size_t all = 0;
  out_.contributors = 0;
  for (std::size_t i = 0; i < sources_.size(); ++i) {
    const Source& source = sources_[i];
    const Run held = Run(source.points).subspan(source.first, source.last - source.first);
    const auto after = std::ranges::upper_bound(held, hal::to_ns(end), {}, &Pending::at);
    runs_[i] = held.first(static_cast<std::size_t>(after - held.begin()));
    all += runs_[i].size();
    if (!runs_[i].empty()) out_.contributors |= std::uint64_t{1} << i;
  }
  const Run last = sources_.size() > 1 ? runs_.back() : Run{};
  write(merge_all_but_last(), last, end);
  const bool more = all > out_.points.size();
  if (more) {
    cut();
  } else {
    for (std::size_t i = 0; i < sources_.size(); ++i) sources_[i].first += runs_[i].size();
    take_off(end);
  }
  out_.at = end_;
  out_.first = out_.points.empty()
                   ? out_.at
                   : out_.at + hal::from_seconds(static_cast<double>(out_.points[0].time));
  ++stats_.emitted;
  stats_.out += out_.points.size();
  return more;
}

RangeDataCollator::Run RangeDataCollator::merge_all_but_last() {
  Run merged = runs_[0];
  for (std::size_t i = 1; i + 1 < runs_.size(); ++i) {
    Pending* const begin = mid_[(i - 1) % 2].data();
    Pending* to = begin;
    merge_two(merged, runs_[i], [&](const Pending& point) { *to++ = point; });
    merged = Run(begin, to);
  }
  return merged;
}

// What does not fit is left out: see cut().
void RangeDataCollator::write(Run a, Run b, hal::Time end) {
  const std::int64_t stamp = hal::to_ns(end);
  MergedPoint* to = out_.points.begin();
  MergedPoint* const full = to + out_.points.capacity();
  merge_two(a, b, [&](const Pending& point) {
    if (to == full) return;
    const float time = static_cast<float>(static_cast<double>(point.at - stamp) * 1e-9);
    *to++ = {point.position, time, point.intensity, point.origin};
  });
  out_.points.resize(static_cast<std::size_t>(to - out_.points.begin()));
}

// `out_` is full: it ends with its last point, and the next cloud goes on from there.
void RangeDataCollator::cut() {
  ++stats_.cut;
  out_.contributors = 0;
  for (const MergedPoint& point : out_.points) {
    out_.contributors |= std::uint64_t{1} << point.origin;
    end_ = std::max(end_,
                    hal::from_ns(sources_[point.origin].points[sources_[point.origin].first++].at));
  }
  const float shift = out_.points.back().time;
  for (MergedPoint& point : out_.points) point.time -= shift;
  take_off(end_);
}

void RangeDataCollator::take_off(hal::Time end) {
  end_ = end;
  for (Source& source : sources_) {
    while (!source.stamps.empty() && source.stamps.front() <= end) {
      source.stamps.pop_front();
      ++stats_.merged;
    }
  }
}

MergeStats RangeDataCollator::stats() const {
  MergeStats stats = stats_;
  for (const Source& source : sources_) {
    stats.held += source.last - source.first;
    stats.held_clouds += source.stamps.size();
  }
  return stats;
}

}  // namespace collation
