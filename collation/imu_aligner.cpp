#include "collation/imu_aligner.h"

#include <cmath>

namespace collation {

namespace {

Eigen::Vector3d vector(const drivers::ImuSample::Vector& v) { return {v[0], v[1], v[2]}; }

}  // namespace

ImuAligner::ImuAligner(const Eigen::Isometry3d& tracking_from_sensor)
    : rotation_(tracking_from_sensor.linear()),
      lever_(tracking_from_sensor.translation()),
      sensor_from_tracking_(rotation_.transpose()) {}

std::optional<ImuData> ImuAligner::align(const drivers::ImuSample& sample) {
  ++stats_.in;
  if (!sample.accel || !sample.gyro) return ++stats_.incomplete, std::nullopt;
  const Eigen::Vector3d accel = vector(*sample.accel), gyro = vector(*sample.gyro);
  if (!accel.allFinite() || !gyro.allFinite()) return ++stats_.non_finite, std::nullopt;
  // A gyro with a dead band tells 0 at rest. An accelerometer in free fall does not for long.
  if (accel.isZero(0)) return ++stats_.all_zero, std::nullopt;
  if (accel.norm() > kMaxAcceleration || gyro.norm() > kMaxRate) {
    return ++stats_.implausible, std::nullopt;
  }
  ImuData data{sample.at, sample.device_ns, rotation_ * accel, rotation_ * gyro, {}};
  const Eigen::Vector3d& w = data.angular_velocity;
  data.linear_acceleration -= w.cross(w.cross(lever_));
  if (sample.orientation) data.orientation = aligned(*sample.orientation);
  ++stats_.out;
  return data;
}

std::optional<ImuData::Quaternion> ImuAligner::aligned(const std::array<double, 4>& xyzw) {
  const Eigen::Quaterniond world_from_sensor(xyzw[3], xyzw[0], xyzw[1], xyzw[2]);
  const double norm = world_from_sensor.norm();
  if (!(std::abs(norm - 1) < 1e-2)) return ++stats_.bad_orientation, std::nullopt;
  return ImuData::Quaternion(world_from_sensor.normalized() * sensor_from_tracking_);
}

}  // namespace collation
