// The real clocks: inner time (see time.h) and Unix time.
#pragma once

#include "hal/time.h"

namespace hal {

class InnerClock final : public Clock {
 public:
  InnerClock() { (void)sample_sleep(); }

  Time now() const override;
  ClockPair both() const override;

  // Looks whether the machine slept since the last call; called once per loop pass, first thing.
  // Until then inner time lacks that sleep. Returns its length, 0 normally.
  Duration sample_sleep();

 private:
  Duration slept_{};
};

}  // namespace hal
