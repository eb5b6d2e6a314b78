// The motion of a simulated inertial sensor, and the frames in which its family tells it.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

#include "test/sim/settings.h"

namespace sim {

using Vector3 = std::array<double, 3>;
using Quaternion = std::array<double, 4>;  // w, x, y, z; turns vectors of the body into the world's

// At one instant; body FLU, world ENU, SI units.
struct Motion {
  double roll = 0.0, pitch = 0.0, yaw = 0.0;  // rad
  Quaternion orientation{1.0, 0.0, 0.0, 0.0};
  Vector3 gyro{};   // rad/s
  Vector3 accel{};  // m/s^2, specific force
  Vector3 mag{};    // T
};

inline constexpr double kStandardGravity = 9.80665;  // m/s^2
inline constexpr double kTurnRate = 0.5;             // rad/s of roll, pitch and yaw

enum class MotionKind : std::uint8_t { swing, rest, roll, pitch, yaw, shake };

// A model's option `motion`; swing: a slow yaw swing of half a radian with slight roll and pitch.
// rest: level, nose to the East. roll, pitch, yaw: steady turning about one axis, on and on. shake:
// to and fro along all three axes, without turning.
inline constexpr OptionRow kMotionOption =
    choice("motion", "swing", "swing|rest|roll|pitch|yaw|shake", "how the device moves");
MotionKind motion_kind(const Settings&);  // of that option

// `t` is seconds since power-up.
Motion motion_at(double t, MotionKind kind);

Quaternion product(const Quaternion& a, const Quaternion& b);
Vector3 into_body(const Quaternion& q, const Vector3& world);

// As devices of other frames see it.
constexpr Vector3 flu_to_frd(const Vector3& v) { return {v[0], -v[1], -v[2]}; }
constexpr Vector3 flu_to_rfu(const Vector3& v) { return {-v[1], v[0], v[2]}; }
Quaternion to_ned_frd(const Quaternion&);  // forward-right-down in north-east-down
Quaternion to_enu_rfu(const Quaternion&);  // right-forward-up in east-north-up
Quaternion to_nwu_flu(const Quaternion&);  // forward-left-up in north-west-up

}  // namespace sim
