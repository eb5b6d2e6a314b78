#include "drivers/utc_clock.h"

namespace drivers {

std::optional<hal::Time> UtcClock::instant(std::int64_t unix_ns, hal::Time arrival) {
  if (!offset_ns_) return std::nullopt;
  const hal::Time at = hal::from_ns(unix_ns - *offset_ns_);
  const auto fits = [arrival](hal::Time t) {
    return arrival - t <= kOldest && t - arrival <= kTolerance;
  };
  if (!fits(at)) {
    state_ = fits(at - kTai) ? UtcState::tai : UtcState::implausible;
    probation_ = kProbation;
    return std::nullopt;
  }
  if (probation_ > 0 && --probation_ > 0) return std::nullopt;
  state_ = UtcState::trusted;
  return at;
}

}  // namespace drivers
