// A clock that is told as a float32 of seconds: a step is 1 ms after two hours, and more than a
// period after a day.
#pragma once

#include <cstdint>
#include <optional>

#include "hal/time.h"

namespace drivers::um7 {

// Nominal periods carry the stamps over the steps, and the steps keep them honest.
class FloatClock {
 public:
  explicit FloatClock(hal::Duration period) : period_(period.count()) {}
  void forget() { newest_.reset(); }
  std::int64_t stamp_of(float seconds);  // ns; not negative

 private:
  const std::int64_t period_;
  std::optional<std::int64_t> newest_{};
};

}  // namespace drivers::um7
