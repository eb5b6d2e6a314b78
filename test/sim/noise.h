// What no reading of a lidar is without: without it no turn in the room would differ from the one
// before.
#pragma once

#include "test/sim/models.h"
#include "test/sim/random.h"

namespace sim {

// The option of every model that has it. Whoever compares with the room plays without.
constexpr OptionRow noise_option() {
  return number("noise", "0", 0.0, 1000.0,
                "mm that a reading is off at most; lidarctl simulate plays 1 where nothing is set");
}

// Readings are off evenly, by up to the option `noise`.
class Noise {
 public:
  explicit Noise(const ModelInputs& inputs)
      : most_m_(inputs.settings.number("noise") / 1000.0), random_(inputs.seed ^ 0x2015EU) {}

  double off() { return most_m_ > 0.0 ? random_.uniform(-most_m_, most_m_) : 0.0; }
  // What is really read, and so the truth; no return stays none.
  TrueBeam on(TrueBeam beam) {
    if (beam.range > 0.0) beam.range += off();
    return beam;
  }

 private:
  double most_m_;
  Random random_;
};

}  // namespace sim
