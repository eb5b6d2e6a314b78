// The crystal of a simulated device: counts from power-up, with the errors that faults give it.
#pragma once

#include <cstdint>

#include "hal/time.h"
#include "test/sim/random.h"

namespace sim {

class DeviceClock {
 public:
  explicit DeviceClock(std::uint64_t seed) : random_(seed) {}

  // Nanoseconds on the device's counter at `t`, never wrapped; the model takes it modulo its own
  // width. Jitter, when a fault asks for it, is drawn anew at each call: call once per stamp.
  std::int64_t stamp(hal::Time t);

  // The true time, ns, that passes while the device counts `nominal_ns`: a model paces its sampling
  // by it, as one crystal drives both.
  double true_ns(double nominal_ns) const { return nominal_ns / (1.0 + drift_); }

  void restart(hal::Time t, std::int64_t value_ns = 0);
  void jump(hal::Time t, hal::Duration by);   // never below zero
  void set_drift(hal::Time t, double ppm);    // positive: the device runs fast
  void set_jitter(hal::Duration half_width);  // uniform in [-half_width, +half_width]

 private:
  std::int64_t count(hal::Time t) const;

  Random random_;
  hal::Time since_{};
  std::int64_t value_ns_ = 0;
  double drift_ = 0.0;  // relative, 1e-6 = 1 ppm
  hal::Duration jitter_{};
};

}  // namespace sim
