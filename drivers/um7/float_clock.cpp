#include "drivers/um7/float_clock.h"

#include <algorithm>
#include <cmath>

namespace drivers::um7 {

std::int64_t FloatClock::stamp_of(float seconds) {
  constexpr std::int64_t kFine = 250'000;  // ns; steps of this size are as good as none
  const auto told = static_cast<std::int64_t>(std::llround(double{seconds} * 1e9));
  const double step = double{std::nextafter(seconds, 2e9F)} - double{seconds};
  const auto half = static_cast<std::int64_t>(step * 5e8);
  const bool goes_on = newest_ && told > *newest_ - 2 * half - period_;
  if (half <= kFine || !goes_on) return *(newest_ = told);
  newest_ = std::max(std::clamp(*newest_ + period_, told - half, told + half), *newest_ + 1);
  return *newest_;
}

}  // namespace drivers::um7
