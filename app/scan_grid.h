// The beams of one cloud on the even grid of angles that a LaserScan message has.
#pragma once

#include <span>

#include "drivers/packet.h"

namespace app {

struct ScanGrid {
  float angle_min = 0, angle_max = 0, angle_increment = 0;  // rad; increment < 0: clockwise
};

// Fills `ranges` and `intensities`, each as long as `beams`: ray i lies at angle_min + i *
// angle_increment, in the order of acquisition. Beams fall on the nearest ray; of two on one ray
// the nearer return stays. A beam without return is +infinity (REP 117); a ray is not a number when no
// beam fell on it, or when a filter took what it saw: nothing is known there. Beams whose angle is
// no number are left out.
ScanGrid to_grid(std::span<const drivers::Beam> beams, std::span<float> ranges,
                 std::span<float> intensities);

}  // namespace app
