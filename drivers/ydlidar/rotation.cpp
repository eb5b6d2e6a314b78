#include "drivers/ydlidar/rotation.h"

#include <cmath>
#include <utility>

#include "drivers/rounding.h"

namespace drivers {
namespace {

constexpr int kTurns = 5;          // that the rate is measured over
constexpr double kStrange = 0.04;  // what the mapping of the clock cannot well follow
constexpr double kAlikeTwice = 0.02;

double wrapped(double deg) { return deg >= 360 ? deg - 360 : deg < 0 ? deg + 360 : deg; }

}  // namespace

void EvenSamples::restart(double period_ns) {
  *this = EvenSamples{};
  period_ns_ = period_ns;
}

// Where the motor's jitter puts the last before the first, the usual step goes on.
double EvenSamples::step_of(double first, double last, std::size_t n) const {
  if (n == 1) return 0;
  const double span = last < first ? last - first + 360 : last - first;
  if (span <= 180) return span / static_cast<double>(n - 1);
  return step_ > 0 ? step_ : -1;
}

EvenSamples::Place EvenSamples::next(const Frame& frame, double first, double step, std::size_t n,
                                     bool zero) {
  if (n > 1) step_ = step;
  // A gap of the angles is a loss; jitter may go back a little.
  const double gap = next_ < 0 ? 0 : wrapped(wrapped(first) - next_);
  const bool lost = step_ > 0 && gap > 2 * step_ + 1 && gap < 345;
  const double missing = lost ? std::round(gap / step_) : 0;
  raw_ns_ += (static_cast<double>(n) + missing) * period_ns_;
  const double span = step * static_cast<double>(n - 1);
  const double turned = (gap > 345 ? gap - 360 : gap) + span + (step_ > 0 ? step_ : 0);
  next_ = within(first + span + (step_ > 0 ? step_ : step), 360);

  const bool starts_turn = passes_turn(zero, turned);
  // The packet of a turn's start may be short, and have waited for a long one before it on the
  // line: the one after it begins anew.
  const bool anew = std::exchange(is_new_, starts_turn && measure_period(frame.last_at));
  const auto per_beam = hal::Duration(nearest(period_ns_));
  return {.slice = {.step = per_beam, .starts_turn = starts_turn},
          .timing = {.source = Timing::Source::counter,
                     .raw_ns = nearest(raw_ns_),
                     .anew = anew,
                     .arrival = frame.last_at,
                     .bytes = frame.bytes.size(),
                     .to_first = -per_beam * (static_cast<std::int64_t>(n) - 1)}};
}

// The zero packet marks the boundary. One that comes twice is no second turn, and one that is lost
// is made up for by the angles.
bool EvenSamples::passes_turn(bool zero, double turned) {
  since_turn_ += turned;
  if (zero && (!knows_turn_ || since_turn_ > 180)) {
    since_turn_ = 0;
    return knows_turn_ = true;
  }
  if (since_turn_ < 390) return false;
  since_turn_ = std::fmod(since_turn_, 360);
  return knows_turn_;
}

// Turns take as long as the samples in them, unless the rate is not what it was thought to be: then
// that of the arrivals is used. A stalled host or a loss is no rate: it must come out twice.
bool EvenSamples::measure_period(hal::Time arrival) {
  if (turns_ >= 0 && ++turns_ < kTurns) return false;
  bool again = false;
  if (turns_ == kTurns) {
    const double ratio = hal::to_seconds(arrival - mark_at_) * 1e9 / (raw_ns_ - mark_ns_);
    const bool strange = ratio > 0.2 && ratio < 5 && std::abs(ratio - 1) > kStrange;
    again = strange && std::abs(ratio - strange_) < kAlikeTwice;
    if (again) period_ns_ *= ratio;
    strange_ = strange && !again ? ratio : 0;
  }
  turns_ = 0;
  mark_at_ = arrival;
  mark_ns_ = raw_ns_;
  return again;
}

}  // namespace drivers
