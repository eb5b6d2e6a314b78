// One turn of a Hokuyo: the room as the characters that a measuring command asked for, and the
// truth.
#pragma once

#include <string>
#include <vector>

#include "hal/time.h"
#include "test/sim/device_model.h"
#include "test/sim/hokuyo_catalogue.h"
#include "test/sim/noise.h"

namespace sim::hokuyo_scip {

// What a measuring command wants of each scan.
struct Wanted {
  int start = 0, end = 0;  // steps, both included
  int cluster = 1;         // steps to a value
  int chars = 3;           // of a distance
  bool intensity = false;
  bool echoes = false;  // further returns, too
};

// The room has glass walls: of three steps one tells one return, one two, one three, each half a
// metre behind the one before.
constexpr int further_returns(int step) { return step % 3; }
constexpr double kGlass = 0.5;  // m

// `first` is the instant of the model's first step, `step_ns` the time from one step to the next.
struct Turn {
  hal::Time first;
  double step_ns = 0.0;

  hal::Time at(const Model& model, int step) const {
    return first + hal::Duration(static_cast<std::int64_t>((step - model.first) * step_ns));
  }
};

// The data string, not yet cut in lines. A value of a cluster is the shortest of its ranges and
// stands at the cluster's first step.
std::string measure(const Model& model, const Wanted& wanted, const Turn& turn, Noise& noise,
                    std::vector<TrueBeam>& beams);

}  // namespace sim::hokuyo_scip
