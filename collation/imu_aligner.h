// Inertial samples of one sensor as the tracking frame's origin would measure them: rotated, and
// less the centripetal acceleration of the lever arm r, w x (w x r), from the gyro. (Cartographer
// aborts on an IMU 1e-5 m from the origin.) The third term, dw/dt x r, is left in: it would take
// the derivative of the gyro, whose noise is greater than what it corrects at the lever arms of
// robots; where a robot's jerks matter, let `frame` be the IMU.
//
// A device that sends only what velocity and angle changed by, over an interval that is known, is
// taken at the means over that interval. Orientations keep their sign from sample to sample: a
// quaternion and its negative are one rotation, but not to those who interpolate.
#pragma once

#include <Eigen/Geometry>
#include <cstdint>
#include <optional>

#include "drivers/packet.h"
#include "hal/result.h"

namespace collation {

// Which readings of a sensor are passed on, of those that it sends.
struct WantedReadings {
  bool mag = false, pressure = false, temperature = false;
};

// What an inertial sensor measures besides motion.
struct Readings {
  std::optional<Eigen::Vector3d> mag{};  // T, in the tracking frame
  std::optional<double> pressure{};      // Pa
  std::optional<double> temperature{};   // deg C

  bool empty() const { return !mag && !pressure && !temperature; }
};

// In the tracking frame. Aligned like a double, so that it moves through every container.
struct ImuData {
  using Quaternion = Eigen::Quaternion<double, Eigen::DontAlign>;
  hal::Time at{};
  std::optional<std::int64_t> device_ns{};
  Eigen::Vector3d linear_acceleration = Eigen::Vector3d::Zero();  // m/s^2, +9.8 up at rest
  Eigen::Vector3d angular_velocity = Eigen::Vector3d::Zero();     // rad/s
  std::optional<Quaternion> orientation{};                        // tracking frame to world (ENU)
  Readings readings{};                                            // only those that are wanted
  bool without_rate = false;   // the rate is zeros that nobody measured; there is an orientation
  bool readings_only = false;  // so is the acceleration; there is none
};

// Counters only grow: in = out + incomplete + non_finite + all_zero + implausible.
struct ImuStats {
  std::uint64_t in = 0, out = 0;
  std::uint64_t incomplete = 0;       // neither motion (see align()) nor wanted readings
  std::uint64_t non_finite = 0;       // not a number, infinite
  std::uint64_t all_zero = 0;         // acceleration exactly 0: the sensor is not measuring
  std::uint64_t implausible = 0;      // beyond kMaxAcceleration or kMaxRate
  std::uint64_t bad_orientation = 0;  // not a unit quaternion; the sample goes on without it
  std::uint64_t bad_reading = 0;      // a wanted reading is not a number; as above
  // Of `out`: those with each reading, and those with nothing else.
  std::uint64_t mag = 0, pressure = 0, temperature = 0, readings_only = 0;
};

class ImuAligner {
 public:
  static constexpr double kMaxAcceleration = 2000;  // m/s^2, 200 g
  static constexpr double kMaxRate = 200;           // rad/s, 11459 degrees/s

  explicit ImuAligner(const Eigen::Isometry3d& tracking_from_sensor, WantedReadings wanted = {});

  // Empty when the sample was dropped; the reason is counted. Motion is acceleration with angular
  // rate, orientation or both; without a rate the lever arm is not accounted for.
  std::optional<ImuData> align(const drivers::ImuSample& sample);
  // The sensor starts anew: the sign of its orientation, too.
  void restart() { before_.reset(); }

  const ImuStats& stats() const { return stats_; }

 private:
  bool align_motion(const drivers::ImuSample&, ImuData&);
  std::optional<ImuData::Quaternion> aligned(const std::array<double, 4>& orientation);
  Readings readings_of(const drivers::ImuSample&);

  const Eigen::Matrix3d rotation_;
  const Eigen::Vector3d lever_;  // m, in the tracking frame
  const Eigen::Quaterniond sensor_from_tracking_;
  const WantedReadings wanted_;
  std::optional<ImuData::Quaternion> before_;  // the orientation that was given out last
  ImuStats stats_;
};

}  // namespace collation
