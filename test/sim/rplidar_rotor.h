// The turning head of an RPLIDAR. Its speed changes at once.
#pragma once

#include <cmath>

#include "hal/time.h"

namespace sim::rplidar {

struct Rotor {
  double deg = 0.0;  // clockwise
  double deg_per_s = 0.0;
  hal::Time at;

  double ahead(hal::Duration d) const {
    return std::fmod(deg + deg_per_s * hal::to_seconds(d), 360.0);
  }
  void run_to(hal::Time t) {
    deg = ahead(t - at);
    at = t;
  }
};

}  // namespace sim::rplidar
