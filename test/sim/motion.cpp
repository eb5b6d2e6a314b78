#include "test/sim/motion.h"

#include <cmath>
#include <cstddef>

#include "test/sim/room.h"

namespace sim {
namespace {

constexpr double kRollSwing = 0.04, kPitchSwing = 0.03, kYawSwing = 0.5;  // rad
constexpr double kRollHz = 0.31, kPitchHz = 0.23, kYawHz = 0.2;
constexpr Vector3 kShake = {2.0, 1.5, 3.0};  // m/s^2
constexpr Vector3 kShakeHz = {3.0, 5.0, 7.0};
constexpr Vector3 kFieldEnu = {0.0, 21e-6, -43e-6};  // T

// An angle and its rate.
struct Swing {
  double angle = 0.0, rate = 0.0;
};
Swing swing(double size, double hz, double t) {
  return {size * std::sin(kTurn * hz * t), size * kTurn * hz * std::cos(kTurn * hz * t)};
}
Swing turning(double t) { return {kTurnRate * t, kTurnRate}; }

// The same rotation, w >= 0, no part of it -0.
Quaternion upright(const Quaternion& q) {
  const double sign = q[0] < 0.0 ? -1.0 : 1.0;
  return {sign * q[0] + 0.0, sign * q[1] + 0.0, sign * q[2] + 0.0, sign * q[3] + 0.0};
}

Motion turned(const Swing& roll, const Swing& pitch, const Swing& yaw) {
  Motion m;
  m.roll = roll.angle, m.pitch = pitch.angle, m.yaw = yaw.angle;
  const double sr = std::sin(m.roll), cr = std::cos(m.roll);
  const double sp = std::sin(m.pitch), cp = std::cos(m.pitch);
  m.gyro = {roll.rate - yaw.rate * sp, pitch.rate * cr + yaw.rate * cp * sr,
            -pitch.rate * sr + yaw.rate * cp * cr};
  const Quaternion about_z = {std::cos(m.yaw / 2), 0.0, 0.0, std::sin(m.yaw / 2)};
  const Quaternion about_y = {std::cos(m.pitch / 2), 0.0, std::sin(m.pitch / 2), 0.0};
  const Quaternion about_x = {std::cos(m.roll / 2), std::sin(m.roll / 2), 0.0, 0.0};
  m.orientation = product(product(about_z, about_y), about_x);
  m.accel = into_body(m.orientation, {0.0, 0.0, kStandardGravity});
  m.mag = into_body(m.orientation, kFieldEnu);
  return m;
}

Motion shaken(double t) {
  Motion m = turned({}, {}, {});
  for (std::size_t i = 0; i < 3; ++i) m.accel[i] += kShake[i] * std::sin(kTurn * kShakeHz[i] * t);
  return m;
}

constexpr double kHalf = 0.70710678118654752440;  // sqrt(1/2)
constexpr Quaternion kQuarterRight = {kHalf, 0.0, 0.0, -kHalf};

}  // namespace

MotionKind motion_kind(const Settings& settings) {
  const std::string_view word = settings.word(kMotionOption.key);
  if (word == "rest") return MotionKind::rest;
  if (word == "roll") return MotionKind::roll;
  if (word == "pitch") return MotionKind::pitch;
  if (word == "yaw") return MotionKind::yaw;
  if (word == "shake") return MotionKind::shake;
  return MotionKind::swing;
}

Motion motion_at(double t, MotionKind kind) {
  switch (kind) {
    case MotionKind::swing:
      return turned(swing(kRollSwing, kRollHz, t), swing(kPitchSwing, kPitchHz, t),
                    swing(kYawSwing, kYawHz, t));
    case MotionKind::rest:
      return turned({}, {}, {});
    case MotionKind::roll:
      return turned(turning(t), {}, {});
    case MotionKind::pitch:
      return turned({}, turning(t), {});
    case MotionKind::yaw:
      return turned({}, {}, turning(t));
    case MotionKind::shake:
      return shaken(t);
  }
  return {};
}

Quaternion product(const Quaternion& a, const Quaternion& b) {
  return {a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
          a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
          a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
          a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0]};
}

// q* v q.
Vector3 into_body(const Quaternion& q, const Vector3& v) {
  const Quaternion back = {q[0], -q[1], -q[2], -q[3]};
  const Quaternion r = product(product(back, {0.0, v[0], v[1], v[2]}), q);
  return {r[1], r[2], r[3]};
}

// East-north-up is north-east-down turned by half a turn about the line between north and east, and
// forward-left-up is forward-right-down turned by half a turn about forward.
Quaternion to_ned_frd(const Quaternion& q) {
  return upright(product(product({0.0, kHalf, kHalf, 0.0}, q), {0.0, 1.0, 0.0, 0.0}));
}

// Forward lies a quarter turn to the left of right.
Quaternion to_enu_rfu(const Quaternion& q) { return upright(product(q, kQuarterRight)); }

// North lies a quarter turn to the left of east.
Quaternion to_nwu_flu(const Quaternion& q) { return upright(product(kQuarterRight, q)); }

}  // namespace sim
