// The motor of a Hokuyo: when its turns begin and end.
#pragma once

#include <cmath>

#include "test/sim/device_clock.h"
#include "test/sim/hokuyo_scan.h"

namespace sim::hokuyo_scip {

class Rotor {
 public:
  Rotor(const Model& model, const DeviceClock& clock, int rated_rpm)
      : model_(model), clock_(clock), rated_rpm_(rated_rpm) {}

  void power_up(hal::Time now) {
    rpm_ = rated_rpm_;
    first_ = now;
    part_ns_ = 0.0;
  }
  int rpm() const { return rpm_; }
  int rated_rpm() const { return rated_rpm_; }
  void slow_down(int percent) { rpm_ = rated_rpm_ * (100 - percent) / 100; }

  // The turn in the making.
  Turn turn() const { return {first_, period_ns() / model_.steps_per_turn}; }
  hal::Time end() const { return turn().at(model_, model_.highest); }
  void next(double turns = 1.0) {
    const double exact = turns * period_ns() + part_ns_;
    const auto whole = static_cast<std::int64_t>(exact);
    part_ns_ = exact - static_cast<double>(whole);
    first_ += hal::Duration(whole);
  }
  // To the first turn that begins now or later.
  void catch_up(hal::Time now) {
    const auto behind = static_cast<double>((now - first_).count());
    if (behind > 0.0) next(std::ceil(behind / period_ns()));
  }

 private:
  double period_ns() const { return clock_.true_ns(6e10 / rpm_); }

  const Model& model_;
  const DeviceClock& clock_;
  const int rated_rpm_;
  int rpm_ = 0;
  hal::Time first_{};
  double part_ns_ = 0.0;  // of a nanosecond, by which the next turn is later
};

}  // namespace sim::hokuyo_scip
