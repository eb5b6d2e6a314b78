// How old a stamp is.
#pragma once

#include <cstdint>

#include "hal/time.h"

namespace collation {

// now - at, bounded to [0, one year]: stamps from outside may be anything.
inline hal::Duration age(hal::Time at, hal::Time now) {
  constexpr std::uint64_t kYear = std::uint64_t{365} * 24 * 3600 * 1'000'000'000;
  if (at >= now) return {};
  const auto ns =
      static_cast<std::uint64_t>(hal::to_ns(now)) - static_cast<std::uint64_t>(hal::to_ns(at));
  return hal::Duration(static_cast<std::int64_t>(ns < kYear ? ns : kYear));
}

// The same, negative when the stamp is ahead.
inline hal::Duration delay(hal::Time at, hal::Time arrival) {
  return at > arrival ? -age(arrival, at) : age(at, arrival);
}

}  // namespace collation
