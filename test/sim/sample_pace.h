// When a simulated inertial sensor takes its samples: by its own crystal, from power-up on.
#pragma once

#include "test/sim/models.h"

namespace sim {

// Parts of nanoseconds are kept, so a period that is no whole number of them does not drift.
class SamplePace {
 public:
  explicit SamplePace(const DeviceClock& clock) : clock_(clock) {}

  // The first sample is one period away.
  void start(hal::Time now, double hz) {
    origin_ = now;
    passed_ns_ = 0.0;
    ticks_ = 0;
    hz_ = hz;
  }
  // From the sample before on.
  void set_rate(double hz) { hz_ = hz; }
  hal::Time next() const {
    return origin_ + hal::Duration(static_cast<std::int64_t>(passed_ns_ + period_ns()));
  }
  void pass() {
    passed_ns_ += period_ns();
    ++ticks_;
  }
  std::uint64_t ticks() const { return ticks_; }  // that have passed
  hal::Time origin() const { return origin_; }

 private:
  double period_ns() const { return clock_.true_ns(1e9 / hz_); }

  const DeviceClock& clock_;
  hal::Time origin_{};
  double passed_ns_ = 0.0;
  double hz_ = 1.0;
  std::uint64_t ticks_ = 0;
};

// --rate in samples/s, or `fallback` when it is not given; refused outside [least, most].
inline hal::Result<double> samples_per_s(const ModelInputs& inputs, double fallback, double least,
                                         double most) {
  if (inputs.rate_hz == 0.0) return fallback;
  if (inputs.rate_hz >= least && inputs.rate_hz <= most) return inputs.rate_hz;
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
  error.detail.print("%g samples/s is out of range: %g to %g Hz", inputs.rate_hz, least, most);
  return error;
}

}  // namespace sim
