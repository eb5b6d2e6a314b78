// What turns in a Pepperl+Fuchs lidar: when and where each point is measured.
#pragma once

#include <cmath>

#include "test/sim/device_clock.h"
#include "test/sim/pepperl_parameters.h"

namespace sim::pepperl_fuchs {

class Motor {
 public:
  Motor(const Model& model, const DeviceClock& clock) : model_(model), clock_(clock) {}

  const Measuring& measuring() const { return measuring_; }
  // At `now` it passes the start of its field.
  void turn(const Measuring& measuring, hal::Time now) {
    measuring_ = measuring;
    since_ = now;
  }

  double turn_ns() const { return clock_.true_ns(1e9 / (measuring_.frequency_hz * kTooFast)); }

  double step_deg() const {
    const double step = model_.fov_deg / measuring_.samples;
    return measuring_.clockwise ? -step : step;
  }
  double point_ns() const { return turn_ns() * std::abs(step_deg()) / 360.0; }

  // When turn number `turn` passes `start_deg`. A turn of an R2300 measures one layer, whole.
  hal::Time begins(double start_deg, long turn) const {
    double ahead = (start_deg - model_.start_deg) / 360.0;
    if (measuring_.clockwise) ahead = -ahead;
    if (model_.layers > 1) ahead = 0.0;
    ahead -= std::floor(ahead);
    return since_ + hal::Duration(std::llround((static_cast<double>(turn) + ahead) * turn_ns()));
  }

  // The first turn that passes `start_deg` not before `now`.
  long first_turn(double start_deg, hal::Time now) const {
    long turn = static_cast<long>(static_cast<double>((now - since_).count()) / turn_ns()) - 1;
    while (begins(start_deg, turn) < now) ++turn;
    return turn;
  }

 private:
  // No motor keeps the speed that it was told; if one did, each turn would repeat the one before.
  static constexpr double kTooFast = 1.0002;

  const Model& model_;
  const DeviceClock& clock_;
  Measuring measuring_;
  hal::Time since_{};
};

}  // namespace sim::pepperl_fuchs
