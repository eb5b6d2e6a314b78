#include "hal/wall_offset.h"

#include <algorithm>

namespace hal {

std::optional<WallOffset::Step> WallOffset::update(const ClockPair& now) {
  if (mode_ == WallClock::hold) return std::nullopt;
  const std::int64_t difference = now.unix_ns - to_ns(now.inner) - offset_ns_;
  if (Duration(difference) > kLargestSlewed || Duration(difference) < -kLargestSlewed) {
    offset_ns_ += difference;
    slewed_until_ = now.inner;
    return Step{Duration(difference)};
  }
  // What the division leaves over counts for the next call: calls may come every microsecond.
  const std::int64_t elapsed = std::max<std::int64_t>((now.inner - slewed_until_).count(), 0);
  const std::int64_t most = elapsed / kSlewDivisor;
  offset_ns_ += std::clamp(difference, -most, most);
  slewed_until_ += Duration(most * kSlewDivisor);
  return std::nullopt;
}

}  // namespace hal
