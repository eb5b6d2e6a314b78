// Whole numbers from measured ones.
#pragma once

#include <cstdint>

namespace drivers {

// As std::llround: halves away from zero. That one is a call to the library, which costs more than
// the arithmetic it is used in. `x` lies within what an int64 holds.
constexpr std::int64_t nearest(double x) {
  const auto whole = static_cast<std::int64_t>(x);
  const double rest = x - static_cast<double>(whole);  // exact: what is large has no fraction
  return whole + (rest >= 0.5) - (rest <= -0.5);
}

}  // namespace drivers
