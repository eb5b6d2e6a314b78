#include "test/sim/mip_data.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::mip {
namespace {

constexpr double kGravity = 9.80665;  // m/s^2; the unit "g" of the sensor set
constexpr double kRollSwing = 0.04, kPitchSwing = 0.03, kYawSwing = 0.5;  // rad
constexpr double kRollHz = 0.31, kPitchHz = 0.23, kYawHz = 0.2;
constexpr Vector3 kFieldEnu = {0.0, 0.21, -0.43};  // gauss
constexpr double kWeek = 604'800.0;                // s
constexpr unsigned kGpsWeek = 2300;

constexpr std::uint8_t kSensorSeries7[] = {0x04, 0x05, 0x06, 0x07, 0x08, 0x0A, 0x0C, 0x10, 0x11,
                                           0x14, 0x17, 0x18, 0xD1, 0xD3, 0xD4, 0xD5, 0xD6};
constexpr std::uint8_t kSensorGx5[] = {0x04, 0x05, 0x06, 0x07, 0x08, 0x0A,
                                       0x0C, 0x10, 0x11, 0x12, 0x17};
constexpr std::uint8_t kFilterSeries7[] = {0x03, 0x05, 0x06, 0x0A, 0x0D, 0x0E, 0x10,
                                           0x13, 0x1C, 0xD1, 0xD3, 0xD4, 0xD5, 0xD6};
constexpr std::uint8_t kFilterGx5[] = {0x03, 0x05, 0x06, 0x0A, 0x0D, 0x0E, 0x10, 0x13, 0x1C};

double swing(double size, double hz, double t) { return size * std::sin(kTurn * hz * t); }
double swing_rate(double size, double hz, double t) {
  return size * kTurn * hz * std::cos(kTurn * hz * t);
}

Quaternion product(const Quaternion& a, const Quaternion& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
          a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
          a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

// World to body: q* v q.
Vector3 into_body(const Quaternion& q, const Vector3& v) {
  const Quaternion back = {q[0], -q[1], -q[2], -q[3]};
  const Quaternion r = product(product(back, {0.0, v[0], v[1], v[2]}), q);
  return {r[1], r[2], r[3]};
}

void put_frd(Field& field, const Vector3& flu, double scale) {
  put_be_f32(field.data, flu[0] * scale);
  put_be_f32(field.data, -flu[1] * scale);
  put_be_f32(field.data, -flu[2] * scale);
}

// imu-conventions.md formula A is its own inverse.
void put_ned_quaternion(Field& field, const Quaternion& enu) {
  const double s = std::sqrt(0.5);
  const double w = s * (enu[0] + enu[3]);
  const double sign = w < 0.0 ? -1.0 : 1.0;
  put_be_f32(field.data, sign * w);
  put_be_f32(field.data, sign * s * (enu[1] + enu[2]));
  put_be_f32(field.data, sign * s * (enu[1] - enu[2]));
  put_be_f32(field.data, sign * s * (enu[0] - enu[3]));
}

void put_ned_euler(Field& field, const Motion& motion) {
  put_be_f32(field.data, motion.roll);
  put_be_f32(field.data, -motion.pitch);
  put_be_f32(field.data, std::remainder(kPi / 2.0 - motion.yaw, kTurn));
}

void put_gps_time(Field& field, std::int64_t device_ns) {
  // Without GPS the device's own time stands in for the time of week, and no flag vouches for it.
  const double seconds = static_cast<double>(device_ns) * 1e-9;
  put_be_f64(field.data, std::fmod(seconds, kWeek));
  put_be(field.data, kGpsWeek + static_cast<unsigned>(seconds / kWeek), 2);
  put_be(field.data, 0, 2);
}

bool put_shared(Field& field, const Sample& sample) {
  switch (field.descriptor) {
    case 0xD1:
      return put_be(field.data, sample.ticks, 4), true;
    case 0xD3:
      return put_gps_time(field, sample.device_ns), true;
    case 0xD4:
      return put_be_f64(field.data, static_cast<double>(sample.delta_ns) * 1e-9), true;
    case 0xD5:
      return put_be(field.data, static_cast<std::uint64_t>(sample.device_ns), 8), true;
    case 0xD6:
      return put_be(field.data, static_cast<std::uint64_t>(sample.delta_ns), 8), true;
    default:
      return false;
  }
}

void put_sensor(Field& field, const Sample& sample) {
  const Motion& motion = sample.motion;
  const double delta_s = static_cast<double>(sample.delta_ns) * 1e-9;
  switch (field.descriptor) {
    case 0x04:
    case 0x11:
      return put_frd(field, motion.accel, 1.0 / kGravity);
    case 0x05:
      return put_frd(field, motion.gyro, 1.0);
    case 0x06:
    case 0x10:
      return put_frd(field, into_body(motion.orientation, kFieldEnu), 1.0);
    case 0x07:
      return put_frd(field, sample.delta_angle, 1.0);
    case 0x08:
      return put_frd(field, motion.accel, delta_s / kGravity);
    case 0x0A:
      return put_ned_quaternion(field, motion.orientation);
    case 0x0C:
      return put_ned_euler(field, motion);
    case 0x12:
      return put_gps_time(field, sample.device_ns);
    case 0x14:
      for (const double celsius : {24.5, 25.5, 25.0}) put_be_f32(field.data, celsius);
      return;
    case 0x17:
      return put_be_f32(field.data, 1013.25);
    default:  // 0x18, over-range: none
      return put_be(field.data, 0, 2);
  }
}

void put_filter(Field& field, const Sample& sample) {
  const Motion& motion = sample.motion;
  const Vector3 gravity = {-motion.accel[0], -motion.accel[1], -motion.accel[2]};
  switch (field.descriptor) {
    case 0x03:
      put_ned_quaternion(field, motion.orientation);
      break;
    case 0x05:
      put_ned_euler(field, motion);
      break;
    case 0x0A:
      for (int i = 0; i < 3; ++i) put_be_f32(field.data, 0.01);
      break;
    case 0x06:
    case 0x0D:
      put_frd(field, {}, 1.0);
      break;
    case 0x0E:
      put_frd(field, motion.gyro, 1.0);
      break;
    case 0x13:
      put_frd(field, gravity, 1.0);
      break;
    case 0x1C:
      put_frd(field, motion.accel, 1.0);
      break;
    default:  // 0x10, status: running; dynamics mode 1; its flags say "nothing wrong"
      put_be(field.data, sample.generation == Generation::gx5 ? 2 : 3, 2);
      put_be(field.data, 1, 2), put_be(field.data, 0, 2);
      return;
  }
  put_be(field.data, 1, 2);
}

}  // namespace

Motion motion_at(double t, bool moving) {
  Motion m;
  if (!moving) return m.accel = {0.0, 0.0, kGravity}, m;
  m.roll = swing(kRollSwing, kRollHz, t);
  m.pitch = swing(kPitchSwing, kPitchHz, t);
  m.yaw = swing(kYawSwing, kYawHz, t);
  const double roll_rate = swing_rate(kRollSwing, kRollHz, t);
  const double pitch_rate = swing_rate(kPitchSwing, kPitchHz, t);
  const double yaw_rate = swing_rate(kYawSwing, kYawHz, t);
  const double sr = std::sin(m.roll), cr = std::cos(m.roll);
  const double sp = std::sin(m.pitch), cp = std::cos(m.pitch);
  m.gyro = {roll_rate - yaw_rate * sp, pitch_rate * cr + yaw_rate * cp * sr,
            -pitch_rate * sr + yaw_rate * cp * cr};
  m.accel = {-kGravity * sp, kGravity * sr * cp, kGravity * cr * cp};
  const Quaternion about_z = {std::cos(m.yaw / 2), 0.0, 0.0, std::sin(m.yaw / 2)};
  const Quaternion about_y = {std::cos(m.pitch / 2), 0.0, std::sin(m.pitch / 2), 0.0};
  const Quaternion about_x = {std::cos(m.roll / 2), std::sin(m.roll / 2), 0.0, 0.0};
  m.orientation = product(product(about_z, about_y), about_x);
  return m;
}

std::span<const std::uint8_t> descriptors(Generation generation, unsigned set) {
  const bool series7 = generation == Generation::series7;
  if (set == kSensorSet && series7) return kSensorSeries7;
  if (set == kSensorSet) return kSensorGx5;
  if (set == kFilterSet && series7) return kFilterSeries7;
  if (set == kFilterSet) return kFilterGx5;
  return {};
}

bool is_supported(Generation generation, unsigned set, unsigned descriptor) {
  const auto known = descriptors(generation, set);
  return std::find(known.begin(), known.end(), descriptor) != known.end();
}

Field make_field(unsigned set, unsigned descriptor, const Sample& sample) {
  Field field{descriptor, {}};
  if (put_shared(field, sample)) return field;
  if (set == kSensorSet)
    put_sensor(field, sample);
  else
    put_filter(field, sample);
  return field;
}

}  // namespace sim::mip
