// Arithmetic of hot paths, without calls to the library.
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

// As std::fmod, of what is not negative and a few times `turn` at most.
constexpr double within(double x, double turn) {
  while (x >= turn) x -= turn;
  return x;
}

}  // namespace drivers
