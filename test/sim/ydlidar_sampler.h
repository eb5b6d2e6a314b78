// Turns the room into the samples of YDLIDAR packets, and records where each ray truly went.
#pragma once

#include <cstddef>
#include <vector>

#include "test/sim/ydlidar_catalogue.h"

namespace sim::ydlidar {

// How this very device carries its samples; the model's way unless an option said otherwise.
struct Carriage {
  Form form;
  Unit unit;
  bool corrects;
  std::uint8_t flag;
};

// A ray as a decoder gets it back from the bytes.
struct Ray {
  double clockwise_deg = 0.0;  // corrected
  double mm = 0.0;             // as the format carries it; 0 = no return
  double range = 0.0;          // m, exact
};

class Sampler {
 public:
  explicit Sampler(const Carriage& carriage) : carriage_(carriage) {}

  // The ray of a sample whose uncorrected angle is `raw_deg`. A sample without return is not
  // corrected: its angle is the raw one. `off_m`: how far off the reading is, of devices that do
  // not correct the angle by it.
  Ray cast(double raw_deg, double off_m = 0.0) const;
  Sample sample(const Ray& ray) const;

 private:
  double carried_mm(double range) const;

  Carriage carriage_;
};

}  // namespace sim::ydlidar
