// The RS-232 line of a Hokuyo: it boots at 19200, and what is said waits for what was said before.
#pragma once

#include <algorithm>

#include "test/sim/device_model.h"

namespace sim::hokuyo_scip {

inline constexpr unsigned kBootBaud = 19200;
inline constexpr int kBauds[] = {19200, 38400, 57600, 115200, 250000, 500000, 750000};

// Without a rate (0) it is USB or Ethernet, which carry at once.
struct Line {
  void power_up(unsigned rate, hal::Time now) {
    baud = rate;
    at = kNever;
    free = now;
  }

  bool is_serial() const { return baud != 0; }
  // When what is said now begins to leave.
  hal::Time carry(std::size_t bytes, hal::Time now) {
    if (!is_serial()) return now;
    const hal::Time begin = std::max(now, free);
    free = begin + hal::Duration(static_cast<std::int64_t>(bytes) * 10'000'000'000 /
                                 static_cast<std::int64_t>(baud));
    return begin;
  }
  bool is_busy(hal::Time now) const { return is_serial() && free > now; }

  // The new rate holds when all that was said has left at the old one, and a little later.
  void change(unsigned rate) {
    if (!is_serial() || rate == baud) return;
    next = rate;
    at = free + std::chrono::milliseconds(2);
  }
  void advance(hal::Time now) {
    if (at > now) return;
    baud = next;
    at = kNever;
  }

  unsigned baud = 0, next = 0;
  hal::Time at = kNever;  // when `next` holds
  hal::Time free{};
};

}  // namespace sim::hokuyo_scip
