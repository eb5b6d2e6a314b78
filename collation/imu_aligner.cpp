#include "collation/imu_aligner.h"

#include <cmath>

namespace collation {

namespace {

Eigen::Vector3d vector(const drivers::ImuSample::Vector& v) { return {v[0], v[1], v[2]}; }

// As measured, or the mean over the interval of its change.
std::optional<Eigen::Vector3d> rate(const std::optional<drivers::ImuSample::Vector>& measured,
                                    const std::optional<drivers::ImuSample::Vector>& delta,
                                    hal::Duration interval) {
  if (measured) return vector(*measured);
  if (!delta || interval <= hal::Duration::zero()) return std::nullopt;
  return vector(*delta) / hal::to_seconds(interval);
}

}  // namespace

ImuAligner::ImuAligner(const Eigen::Isometry3d& tracking_from_sensor, WantedReadings wanted)
    : rotation_(tracking_from_sensor.linear()),
      lever_(tracking_from_sensor.translation()),
      sensor_from_tracking_(rotation_.transpose()),
      wanted_(wanted) {}

std::optional<ImuData> ImuAligner::align(const drivers::ImuSample& sample) {
  ++stats_.in;
  std::optional<ImuData> data;
  data.emplace().at = sample.at;
  data->device_ns = sample.device_ns;
  data->readings = readings_of(sample);
  const bool measured = sample.accel || sample.gyro || sample.delta_velocity || sample.delta_angle;
  if (!measured && !data->readings.empty()) {
    data->readings_only = true;
    ++stats_.readings_only;
  } else if (!align_motion(sample, *data)) {
    return std::nullopt;
  }
  stats_.mag += data->readings.mag.has_value();
  stats_.pressure += data->readings.pressure.has_value();
  stats_.temperature += data->readings.temperature.has_value();
  ++stats_.out;
  return data;
}

// False: it is dropped, and counted.
bool ImuAligner::align_motion(const drivers::ImuSample& sample, ImuData& data) {
  const auto accel = rate(sample.accel, sample.delta_velocity, sample.interval);
  const auto gyro = rate(sample.gyro, sample.delta_angle, sample.interval);
  if (!accel || (!gyro && !sample.orientation)) return ++stats_.incomplete, false;
  data.without_rate = !gyro;
  if (!accel->allFinite() || (gyro && !gyro->allFinite())) return ++stats_.non_finite, false;
  // A gyro with a dead band tells 0 at rest. An accelerometer in free fall does not for long.
  if (accel->isZero(0)) return ++stats_.all_zero, false;
  if (accel->norm() > kMaxAcceleration || (gyro && gyro->norm() > kMaxRate)) {
    return ++stats_.implausible, false;
  }
  data.linear_acceleration = rotation_ * *accel;
  if (gyro) data.angular_velocity = rotation_ * *gyro;
  const Eigen::Vector3d& w = data.angular_velocity;
  data.linear_acceleration -= w.cross(w.cross(lever_));
  if (sample.orientation) data.orientation = aligned(*sample.orientation);
  return true;
}

std::optional<ImuData::Quaternion> ImuAligner::aligned(const std::array<double, 4>& xyzw) {
  const Eigen::Quaterniond world_from_sensor(xyzw[3], xyzw[0], xyzw[1], xyzw[2]);
  const double norm = world_from_sensor.norm();
  if (!(std::abs(norm - 1) < 1e-2)) return ++stats_.bad_orientation, std::nullopt;
  ImuData::Quaternion q(world_from_sensor.normalized() * sensor_from_tracking_);
  const bool turned_over = before_ ? q.dot(*before_) < 0 : q.w() < 0;
  if (turned_over) q.coeffs() = -q.coeffs();
  return before_ = q;
}

Readings ImuAligner::readings_of(const drivers::ImuSample& sample) {
  Readings readings;
  if (wanted_.mag && sample.mag) {
    const Eigen::Vector3d mag = vector(*sample.mag);
    if (mag.allFinite()) {
      readings.mag = rotation_ * mag;
    } else {
      ++stats_.bad_reading;
    }
  }
  const auto take = [&](bool wanted, const std::optional<double>& value) {
    if (!wanted || !value) return std::optional<double>();
    if (!std::isfinite(*value)) return ++stats_.bad_reading, std::optional<double>();
    return value;
  };
  readings.pressure = take(wanted_.pressure, sample.pressure);
  readings.temperature = take(wanted_.temperature, sample.temperature);
  return readings;
}

}  // namespace collation
