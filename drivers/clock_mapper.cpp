#include "drivers/clock_mapper.h"

#include <algorithm>
#include <cmath>

#include "drivers/rounding.h"

namespace drivers {
namespace {

using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr std::int64_t kBlock = hal::Duration(seconds(1)).count();
constexpr std::int64_t kJump = hal::Duration(milliseconds(500)).count();
constexpr std::int64_t kStep = hal::Duration(milliseconds(50)).count();
constexpr std::int64_t kStallLimit = hal::Duration(seconds(10)).count();
constexpr double kStalledBlock = 20e6;  // ns above the model: the host slept through this block
constexpr double kTrim = 4e6;           // ns above the lowest residual: not a minimum
constexpr std::size_t kMostRefused = 10;
constexpr std::int64_t kSmallestJumps = 20;  // parts of a modulus
constexpr unsigned kRun = 16;                // late stamps that are no accident
constexpr std::int64_t kInLine = 5;          // periods from a stamp to the next, some lost
constexpr hal::Duration kNudge = std::chrono::microseconds(1);

}  // namespace

std::optional<ClockMapper::Stamp> ClockMapper::map(std::int64_t raw_ns, hal::Time arrival,
                                                   bool shared, std::optional<hal::Time> known) {
  const std::optional<std::int64_t> device = unwrap(raw_ns, arrival);
  if (!device && shared) {
    return Stamp{after_previous(arrival), unwrapped_ + advance_of(raw_ns, arrival)};
  }
  if (!device) {
    ++health_.stale;
    return std::nullopt;
  }
  std::int64_t smoothed = smooth(*device);
  Pair pair = pair_at(smoothed, arrival);
  double late = above(pair);
  const auto move_to = [&](std::int64_t device_ns) {
    smoothed = device_ns;
    pair = pair_at(smoothed, arrival);
    late = above(pair);
  };
  if (stays_behind(pair, late, arrival)) {
    begin(*device, arrival);
    move_to(smooth(*device));
  }
  last_step_ = *device - unwrapped_;
  const bool in_a_burst = (arrival - last_arrival_).count() < last_step_ / 2;
  unwrapped_ = *device;
  last_raw_ = raw_ns;
  last_arrival_ = arrival;
  fresh_ = false;

  if (const std::int64_t lost = look_for_loss(late, in_a_burst)) {
    unwrapped_ += lost;
    move_to(smoothed + lost);
  }
  smoothed_ = smoothed;
  observe(pair, late, arrival);
  const double shift = predicted(smoothed_ - origin_device_);
  health_.offset_ns = origin_delay_ + nearest(shift);
  health_.drift_ppm = skew_ * 1e6;
  const hal::Time wanted = hal::from_ns(smoothed_ + health_.offset_ns);
  return Stamp{publish(known.value_or(wanted), arrival), unwrapped_};
}

hal::Time ClockMapper::unstamped(hal::Time arrival) { return publish(arrival, arrival); }

hal::Time ClockMapper::after_previous(hal::Time arrival) {
  const bool first = last_out_ == hal::Time::min();
  return last_out_ = first ? arrival : last_out_ + hal::Duration(1);
}

void ClockMapper::reopened() {
  if (counted()) begun_ = false;
  fresh_ = begun_;
}

// A stamp that wraps leaves open how many times it did: as many times as brings it nearest to its
// arrival, seen from the line, or from the stamp before while there is no line. But the next stamp
// in line that comes after a pause, or in a burst, was late and nothing was lost: the host stalled.
inline std::int64_t ClockMapper::advance_of(std::int64_t raw_ns, hal::Time arrival) const {
  std::int64_t delta = raw_ns - last_raw_;
  const std::int64_t modulus = model_.modulus.count();
  if (modulus == 0) return delta;
  if (delta < 0 || delta >= modulus) delta = ((delta % modulus) + modulus) % modulus;
  if (delta > modulus / 2) delta -= modulus;
  const std::int64_t gap = (arrival - last_arrival_).count();
  const std::int64_t behind =
      fitted() ? nearest(above(pair_at(unwrapped_ + delta, arrival))) : gap - delta;
  if (behind <= modulus / 2) return delta;
  const std::int64_t usual = model_.period.count() > 0 ? model_.period.count() : last_step_;
  const bool next_in_line = delta > 0 && delta <= kInLine * usual;
  if (next_in_line && (gap > modulus / 2 || gap < delta / 2)) return delta;
  return delta + (behind + modulus / 2) / modulus * modulus;
}

// A clock that wraps soon can also only be seen to jump by little.
inline std::int64_t ClockMapper::jump() const {
  const std::int64_t modulus = model_.modulus.count();
  return modulus == 0 ? kJump : std::min(kJump, modulus / kSmallestJumps);
}

// Sees forward steps, wraps and losses; an older stamp gives nothing, a much older one an epoch.
inline std::optional<std::int64_t> ClockMapper::unwrap(std::int64_t raw_ns, hal::Time arrival) {
  if (!begun_) {
    begin(raw_ns, arrival);
    return raw_ns;
  }
  const std::int64_t delta = advance_of(raw_ns, arrival);
  if (delta == 0 && model_.quantum.count() == 0) return std::nullopt;
  if (delta < 0 && delta > -kJump && !fresh_) return std::nullopt;
  const std::int64_t device = unwrapped_ + delta;
  const double off = above(pair_at(device, arrival));
  // After a reopening to begin anew costs less than to doubt a restarted clock for ten seconds.
  const std::int64_t earliest = fitted() ? jump() : kJump;
  const bool jumped = fresh_ ? std::abs(off) > kStep : off < static_cast<double>(-earliest);
  if (delta < 0 || jumped) {
    begin(raw_ns, arrival);
    return raw_ns;
  }
  return device;
}

// A clock that counts in steps of `quantum` is cut, not noisy: the true time lies within the step.
// Nominal periods carry it on, and the step keeps them honest.
inline std::int64_t ClockMapper::smooth(std::int64_t device_ns) const {
  const std::int64_t quantum = model_.quantum.count(), period = model_.period.count();
  if (quantum == 0 || period == 0) return device_ns;
  const std::int64_t moved = device_ns - smoothed_ + period / 2;
  const std::int64_t periods = moved < 2 * period ? 1 : moved / period;
  return std::clamp(smoothed_ + periods * period, device_ns, device_ns + quantum - 1);
}

void ClockMapper::begin(std::int64_t device_ns, hal::Time arrival) {
  if (begun_) ++health_.epoch;
  begun_ = true;
  epoch_began_ = arrival;
  health_.locked = false;
  unwrapped_ = smoothed_ = device_ns;
  if (model_.quantum.count() > 0) smoothed_ = device_ns - model_.period.count();
  origin_device_ = device_ns;
  origin_delay_ = hal::to_ns(arrival) - device_ns;
  offset_ = skew_ = 0;
  blocks_ = next_block_ = refused_ = 0;
  block_start_ = 0;
  block_from_ = arrival;
  block_empty_ = true;
  above_since_ = -1;
  run_ = 0;
}

// A stalled host ends soon, and what it left comes in a burst; a clock that went back does not.
inline bool ClockMapper::stays_behind(Pair pair, double late, hal::Time arrival) {
  const bool small = fitted() && jump() < kJump;
  if (late <= static_cast<double>(small ? jump() : kJump)) {
    above_since_ = -1;
    return false;
  }
  if (above_since_ < 0) {
    above_since_ = pair.device;
    above_from_ = arrival;
  }
  const std::int64_t measured = pair.device - above_since_;
  const bool in_a_burst = (arrival - above_from_).count() < measured / 2;
  return measured > (small ? kBlock : kStallLimit) && !in_a_burst;
}

// Time that is counted in periods lacks those that got lost unseen: from then on nothing comes less
// than a period late. What a stalled host left comes in bursts and catches up. Returns what was
// lost.
inline std::int64_t ClockMapper::look_for_loss(double late, bool in_a_burst) {
  const auto period = static_cast<double>(model_.period.count());
  if (!counted() || period <= 0 || !fitted()) return 0;
  if (late < period / 2) {
    run_ = 0;
    return 0;
  }
  run_low_ = run_ == 0 ? late : std::min(run_low_, late);
  if (run_ == 0 || !in_a_burst) ++run_;
  if (run_ < kRun) return 0;
  const auto lost = nearest(run_low_ / (period * (1 + skew_)));
  health_.made_up += static_cast<std::uint64_t>(lost);
  run_ = 0;
  block_empty_ = true;  // its best is of before or a period late
  return lost * model_.period.count();
}

inline void ClockMapper::observe(Pair pair, double late, hal::Time arrival) {
  if (pair.device - block_start_ >= kBlock) {
    const bool in_a_burst = (arrival - block_from_).count() < kBlock / 2;
    if (!block_empty_) end_block(in_a_burst);
    block_start_ = pair.device;
    block_from_ = arrival;
    block_empty_ = true;
  }
  const double height = static_cast<double>(pair.delay) - skew_ * static_cast<double>(pair.device);
  if (block_empty_ || height < best_height_) {
    best_ = pair;
    best_height_ = height;
  }
  block_empty_ = false;
  if (late < 0) offset_ += late;  // a stamp is never later than its arrival
}

// What a stalled host left comes in bursts, however long it stalled.
void ClockMapper::end_block(bool in_a_burst) {
  const double late = above(best_);
  const std::int64_t unfitted = fitted() ? 0 : best_.device - (blocks_ > 0 ? ring_[0].device : 0);
  const double usual = kStalledBlock + model_.max_skew * static_cast<double>(unfitted);
  if (counted() && late > usual) {
    if (in_a_burst) return;
    blocks_ = next_block_ = 0;  // lost data are lost time: what was counted before is too short
  } else if (fitted() && late > kStalledBlock) {
    if (in_a_burst || ++refused_ <= kMostRefused) return;
    blocks_ = next_block_ = 0;  // it was no stall: the clock stepped back
  }
  refused_ = 0;
  ring_[next_block_] = best_;
  next_block_ = (next_block_ + 1) % kBlocks;
  blocks_ = std::min(blocks_ + 1, kBlocks);
  health_.locked = true;
  fit();
}

void ClockMapper::fit() {
  const auto line = [this](double ceiling) {
    double n = 0, sx = 0, sy = 0, sxx = 0, sxy = 0;
    const double x0 = static_cast<double>(ring_[0].device);
    for (std::size_t i = 0; i < blocks_; ++i) {
      const double x = static_cast<double>(ring_[i].device) - x0;
      const double y = static_cast<double>(ring_[i].delay);
      if (y - predicted(ring_[i].device) > ceiling) continue;
      n += 1, sx += x, sy += y, sxx += x * x, sxy += x * y;
    }
    const double spread = n * sxx - sx * sx;
    if (n >= 2 && spread > 0) {
      skew_ = std::clamp((n * sxy - sx * sy) / spread, -model_.max_skew, model_.max_skew);
    }
  };
  const auto lowest_and_highest = [this] {
    double low = INFINITY, high = -INFINITY;
    for (std::size_t i = 0; i < blocks_; ++i) {
      const double residual =
          static_cast<double>(ring_[i].delay) - skew_ * static_cast<double>(ring_[i].device);
      low = std::min(low, residual);
      high = std::max(high, residual);
    }
    return std::pair(low, high);
  };
  if (fitted()) {
    line(INFINITY);
    offset_ = lowest_and_highest().first;
    line(kTrim);
  }
  const auto [low, high] = lowest_and_highest();
  offset_ = low;
  health_.residual = hal::Duration(nearest(high - low));
}

inline hal::Time ClockMapper::publish(hal::Time wanted, hal::Time arrival) {
  hal::Time at = std::min(wanted, arrival);
  if (at <= last_out_) {
    at = last_out_ + kNudge;
    ++health_.nudged;
  }
  last_out_ = at;
  return at;
}

}  // namespace drivers
