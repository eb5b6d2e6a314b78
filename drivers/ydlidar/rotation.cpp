#include "drivers/ydlidar/rotation.h"

#include <cmath>
#include <utility>

#include "drivers/rounding.h"

namespace drivers {
namespace {

double wrapped(double deg) { return deg >= 360 ? deg - 360 : deg < 0 ? deg + 360 : deg; }

}  // namespace

void EvenSamples::take_period(double ns, bool is_told) {
  period_ns_ = ns;
  rate_.restart(is_told);
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
  const double counted = (static_cast<double>(n) + missing) * period_ns_;
  raw_ns_ += counted;
  const double span = step * static_cast<double>(n - 1);
  const double turned = (gap > 345 ? gap - 360 : gap) + span + (step_ > 0 ? step_ : 0);
  next_ = within(first + span + (step_ > 0 ? step_ : step), 360);

  const bool starts_turn = passes_turn(zero, turned);
  const bool was_known = rate_.is_known();
  const double longer = rate_.see(raw_ns_, hal::to_ns(frame.last_at));
  period_ns_ *= longer;
  is_new_ |= !was_known || longer != 1;
  // The packet of a turn's start may be short, and have waited for a long one before it on the
  // line: the one after it begins anew.
  const bool searches = !rate_.is_known() || (is_new_ && starts_turn);
  if (searches) slack_ns_ += CountedRate::kSlack * counted;
  const bool anew = !searches && std::exchange(is_new_, false);
  const auto per_beam = hal::Duration(nearest(period_ns_));
  return {.slice = {.step = per_beam, .starts_turn = starts_turn},
          .timing = {.source = Timing::Source::counter,
                     .raw_ns = nearest(raw_ns_ + slack_ns_),
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

}  // namespace drivers
