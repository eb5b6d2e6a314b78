// What the drivers of inertial sensors share: the conversions of their frames to body
// forward-left-up and world east-north-up (REP 103), and what cannot be a measurement.
//
// A driver converts each vector and each attitude by the one pair of functions of its family, and
// nowhere else. Where the sensor is mounted is the configuration's affair.
#pragma once

#include <array>
#include <limits>
#include <optional>

#include "drivers/packet.h"

namespace drivers::inertial {

using Vector = ImuSample::Vector;
using Orientation = std::array<double, 4>;  // x y z w, as in ImuSample

inline constexpr double kGravity = 9.80665;  // m/s^2, the standard's; for what is told in g
inline constexpr double kRadPerDeg = 3.14159265358979323846 / 180;

// In the order that most families send it; turns vectors of the body into vectors of the world.
struct Quaternion {
  double w, x, y, z;
};

// Body axes to forward-left-up.
constexpr Vector from_frd(const Vector& v) { return {v[0], -v[1], -v[2]}; }  // forward-right-down
constexpr Vector from_rfu(const Vector& v) { return {v[1], -v[0], v[2]}; }   // right-forward-up

// Attitudes to that of forward-left-up in east-north-up, w >= 0. Empty: not a rotation, as before
// the filter of a device has settled.
std::optional<Orientation> from_ned_frd(const Quaternion&);  // north-east-down, forward-right-down
std::optional<Orientation> from_enu_rfu(const Quaternion&);  // east-north-up, right-forward-up
std::optional<Orientation> from_nwu_flu(const Quaternion&);  // north-west-up, forward-left-up
std::optional<Orientation> from_enu_flu(const Quaternion&);  // already that

// Of an attitude that is sent as angles: first yaw about z, then pitch about y, then roll about x,
// each about the axis as the one before turned it; rad, in the family's own frames.
Quaternion from_euler(double roll, double pitch, double yaw);
// Of an attitude that is sent as a matrix, row by row, that turns vectors of the world into vectors
// of the body.
Quaternion from_matrix(const std::array<double, 9>& body_from_world);

// Whether it is a rotation but for what devices make of it that compute roots by approximation
// (0.2 % short, seen of a real one). Stricter than the conversions, for messages that nothing guards.
constexpr bool is_unit(const Orientation& q) {
  const double squares = q[0] * q[0] + q[1] * q[1] + q[2] * q[2] + q[3] * q[3];
  return squares > 0.99 && squares < 1.002;
}

// What a sensor can measure on any of its axes, by its data sheet; infinite where that is not
// known: what no sensor can measure is dropped behind the drivers.
struct Limits {
  double accel = std::numeric_limits<double>::infinity();  // m/s^2
  double gyro = std::numeric_limits<double>::infinity();   // rad/s
};

// False: something is not a number, the acceleration is zero on all axes (a sensor that has not
// measured yet; gravity makes it impossible later), or beyond the limits by more than rounding.
// The driver calls the frame undecodable.
bool is_sensible(const ImuSample&, const Limits&);

}  // namespace drivers::inertial
