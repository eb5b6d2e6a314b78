// Time as the test wants it.
#pragma once

#include "hal/time.h"

namespace test {

using namespace std::chrono_literals;

// Starts at 1000 s of inner time, which is 2023-11-14 22:13:20 UTC.
class ManualClock final : public hal::Clock {
 public:
  hal::Time now() const override { return now_; }
  hal::ClockPair both() const override { return {now_, hal::to_ns(now_) + unix_minus_inner_}; }

  hal::Time advance(hal::Duration d) { return now_ += d; }
  void set(hal::Time t) { now_ = t; }
  void step_wall(hal::Duration d) { unix_minus_inner_ += d.count(); }

 private:
  hal::Time now_{1000s};
  std::int64_t unix_minus_inner_ = 1'699'999'000'000'000'000 + 1'000'000'000'000;
};

}  // namespace test
