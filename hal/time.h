// One time line for the whole program: inner time, in integer nanoseconds.
//
// Inner time is CLOCK_MONOTONIC_RAW plus the time the machine slept. NTP neither slews nor steps
// it. Unix time exists only at the outputs, as inner time plus one offset.
#pragma once

#include <chrono>
#include <cstdint>

namespace hal {

using Duration = std::chrono::nanoseconds;

struct Inner {
  using rep = std::int64_t;
  using period = std::nano;
  using duration = Duration;
  using time_point = std::chrono::time_point<Inner, Duration>;
  static constexpr bool is_steady = true;
};
using Time = Inner::time_point;

constexpr std::int64_t to_ns(Time t) { return t.time_since_epoch().count(); }
constexpr Time from_ns(std::int64_t ns) { return Time(Duration(ns)); }
constexpr double to_seconds(Duration d) { return static_cast<double>(d.count()) * 1e-9; }
constexpr Duration from_seconds(double s) { return Duration(static_cast<std::int64_t>(s * 1e9)); }

// Inner and Unix time of one instant.
struct ClockPair {
  Time inner;
  std::int64_t unix_ns = 0;
};

// The only way to ask what time it is. Tests pass a ManualClock.
class Clock {
 public:
  virtual ~Clock() = default;
  virtual Time now() const = 0;
  virtual ClockPair both() const = 0;  // the two clocks read together
};

}  // namespace hal
