#include "drivers/inertial.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace drivers::inertial {
namespace {

constexpr double kHalf = std::numbers::sqrt2 / 2;
constexpr double kRounding = 1.02;  // a full scale of 16 g is one of 16.0004 g in some units

// What float32 makes of a rotation is one; a sum of squares far from 1 is none.
bool is_rotation(const Quaternion& q) {
  const double squares = q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z;
  return squares >= 0.9 && squares <= 1.1;  // false for what is not a number
}

// The same rotation with w >= 0, times `factor`.
Orientation upright(double w, double x, double y, double z, double factor = 1) {
  const double s = std::copysign(factor, w);
  return {s * x, s * y, s * z, s * w};
}

bool is_within(const std::optional<Vector>& v, double limit) {
  return !v || std::ranges::all_of(*v, [limit](double x) { return std::abs(x) <= limit; });
}

bool is_finite(const std::optional<Vector>& v) {
  return !v || std::ranges::all_of(*v, [](double x) { return std::isfinite(x); });
}

bool is_finite(const std::optional<double>& v) { return !v || std::isfinite(*v); }

}  // namespace

// (0, s, s, 0) q (0, 1, 0, 0) with s = 1 / sqrt 2.
std::optional<Orientation> from_ned_frd(const Quaternion& q) {
  if (!is_rotation(q)) return std::nullopt;
  return upright(q.w + q.z, q.x + q.y, q.x - q.y, q.w - q.z, kHalf);
}

// q (s, 0, 0, s).
std::optional<Orientation> from_enu_rfu(const Quaternion& q) {
  if (!is_rotation(q)) return std::nullopt;
  return upright(q.w - q.z, q.x + q.y, q.y - q.x, q.z + q.w, kHalf);
}

// (s, 0, 0, s) q.
std::optional<Orientation> from_nwu_flu(const Quaternion& q) {
  if (!is_rotation(q)) return std::nullopt;
  return upright(q.w - q.z, q.x - q.y, q.y + q.x, q.z + q.w, kHalf);
}

std::optional<Orientation> from_enu_flu(const Quaternion& q) {
  if (!is_rotation(q)) return std::nullopt;
  return upright(q.w, q.x, q.y, q.z);
}

Quaternion from_euler(double roll, double pitch, double yaw) {
  const double cr = std::cos(roll / 2), sr = std::sin(roll / 2), cp = std::cos(pitch / 2),
               sp = std::sin(pitch / 2), cy = std::cos(yaw / 2), sy = std::sin(yaw / 2);
  return {cr * cp * cy + sr * sp * sy, sr * cp * cy - cr * sp * sy, cr * sp * cy + sr * cp * sy,
          cr * cp * sy - sr * sp * cy};
}

// By its largest component, so that nothing small is divided by.
Quaternion from_matrix(const std::array<double, 9>& m) {
  const double xx = m[0], yy = m[4], zz = m[8];
  const std::array<double, 4> squares{1 + xx + yy + zz, 1 + xx - yy - zz, 1 - xx + yy - zz,
                                      1 - xx - yy + zz};  // 4 w^2, 4 x^2, 4 y^2, 4 z^2
  const double wx = m[5] - m[7], wy = m[6] - m[2], wz = m[1] - m[3];
  const double xy = m[1] + m[3], xz = m[2] + m[6], yz = m[5] + m[7];
  const auto largest = std::ranges::max_element(squares) - squares.begin();
  const double twice = std::sqrt(squares[static_cast<std::size_t>(largest)]), f = 0.5 / twice;
  switch (largest) {
    case 0:
      return {twice / 2, f * wx, f * wy, f * wz};
    case 1:
      return {f * wx, twice / 2, f * xy, f * xz};
    case 2:
      return {f * wy, f * xy, twice / 2, f * yz};
    default:
      return {f * wz, f * xz, f * yz, twice / 2};
  }
}

bool is_sensible(const ImuSample& s, const Limits& limits) {
  if (s.accel == Vector{}) return false;
  return is_finite(s.accel) && is_finite(s.gyro) && is_within(s.accel, limits.accel * kRounding) &&
         is_within(s.gyro, limits.gyro * kRounding) && is_finite(s.mag) &&
         is_finite(s.delta_velocity) && is_finite(s.delta_angle) && is_finite(s.pressure) &&
         is_finite(s.temperature);
}

}  // namespace drivers::inertial
