// How far stamps are from the truth that a simulator wrote.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "app/messages.h"

namespace lidarctl {

// A sensor's pose in the tracking frame, as /tf_static tells it.
struct SensorPose {
  app::Vector3 translation{};
  app::Quaternion rotation{0, 0, 0, 1};

  // Angle of a point of the tracking frame as the sensor sees it, rad.
  double angle_of(float x, float y, float z) const;
};

class Truth {
 public:
  // Reads a truth file; a last line that is not whole yet is left out. A Failure when there is
  // none.
  explicit Truth(const std::string& path);

  // Stamp minus truth, ns, against the nearest true beam of that angle (rad, sensor frame).
  std::optional<std::int64_t> beam_error(std::int64_t inner_ns, double angle) const;
  // Against the nearest true sample.
  std::optional<std::int64_t> sample_error(std::int64_t inner_ns) const;

 private:
  struct Beam {
    std::int64_t at;
    double angle;
  };
  std::vector<Beam> beams_;
  std::vector<std::int64_t> samples_;
};

}  // namespace lidarctl
