// Inertial samples of one sensor as the tracking frame's origin would measure them: rotated, and
// less the centripetal acceleration of the lever arm r, w x (w x r), from the gyro. (Cartographer
// aborts on an IMU 1e-5 m from the origin.) The third term, dw/dt x r, is left in: it would take
// the derivative of the gyro, whose noise is greater than what it corrects at the lever arms of
// robots; where a robot's jerks matter, let `frame` be the IMU.
#pragma once

#include <Eigen/Geometry>
#include <cstdint>
#include <optional>

#include "drivers/packet.h"
#include "hal/result.h"

namespace collation {

// In the tracking frame. Aligned like a double, so that it moves through every container.
struct ImuData {
  using Quaternion = Eigen::Quaternion<double, Eigen::DontAlign>;
  hal::Time at{};
  std::optional<std::int64_t> device_ns{};
  Eigen::Vector3d linear_acceleration = Eigen::Vector3d::Zero();  // m/s^2, +9.8 up at rest
  Eigen::Vector3d angular_velocity = Eigen::Vector3d::Zero();     // rad/s
  std::optional<Quaternion> orientation{};                        // tracking frame to world (ENU)
};

// Counters only grow: in = out + incomplete + non_finite + all_zero + implausible.
struct ImuStats {
  std::uint64_t in = 0, out = 0;
  std::uint64_t incomplete = 0;       // without acceleration or without angular rate
  std::uint64_t non_finite = 0;       // not a number, infinite
  std::uint64_t all_zero = 0;         // acceleration exactly 0: the sensor is not measuring
  std::uint64_t implausible = 0;      // beyond kMaxAcceleration or kMaxRate
  std::uint64_t bad_orientation = 0;  // not a unit quaternion; the sample goes on without it
};

class ImuAligner {
 public:
  static constexpr double kMaxAcceleration = 2000;  // m/s^2, 200 g
  static constexpr double kMaxRate = 200;           // rad/s, 11459 degrees/s

  explicit ImuAligner(const Eigen::Isometry3d& tracking_from_sensor);

  // Empty when the sample was dropped; the reason is counted.
  std::optional<ImuData> align(const drivers::ImuSample& sample);

  const ImuStats& stats() const { return stats_; }

 private:
  std::optional<ImuData::Quaternion> aligned(const std::array<double, 4>& orientation);

  const Eigen::Matrix3d rotation_;
  const Eigen::Vector3d lever_;  // m, in the tracking frame
  const Eigen::Quaterniond sensor_from_tracking_;
  ImuStats stats_;
};

}  // namespace collation
