// Scans of a room for the benchmarks of conversion and filters.
#pragma once

#include <cmath>
#include <numbers>
#include <random>
#include <vector>

#include "collation/cloud_options.h"

namespace bench {

using Scan = std::vector<drivers::Beam>;

inline constexpr std::size_t kScans = 16;  // different ones, so that nothing is learnt by heart

// One turn in a room of 8 m x 5 m with a wall's edge every 50 beams and 1 cm of noise. Of device
// whose angles lie on a grid, or, with `jitter`, of one whose angles are never the same again.
inline std::vector<Scan> scans(std::size_t beams, bool jitter) {
  std::mt19937 random(1);
  std::normal_distribution<float> noise(0, 0.01F);
  std::uniform_real_distribution<float> phase(0, 0.01F);
  std::vector<Scan> result(kScans);
  for (Scan& scan : result) {
    const float first = jitter ? phase(random) : 0;
    for (std::size_t i = 0; i < beams; ++i) {
      const float angle =
          first + static_cast<float>(i) / static_cast<float>(beams) * 2 * std::numbers::pi_v<float>;
      const float wall = std::min(4 / std::max(0.1F, std::abs(std::cos(angle))),
                                  2.5F / std::max(0.1F, std::abs(std::sin(angle))));
      const float edge = i / 25 % 2 == 0 ? 0 : -1;
      scan.push_back({angle, wall + edge + noise(random), static_cast<float>(i % 200)});
    }
  }
  return result;
}

// Everything is converted that a usual sensor has: a window, a pose, intensities.
inline collation::CloudOptions usual_options() {
  collation::CloudOptions options;
  options.emit = collation::Emit::chunk;
  options.min_range = 0.05F;
  options.max_range = 30;
  options.windows = {{-3, 6}};
  options.tracking_from_sensor =
      Eigen::Translation3f(0.1F, 0.2F, 0.3F) * Eigen::AngleAxisf(0.5F, Eigen::Vector3f::UnitZ());
  return options;
}

}  // namespace bench
