#include "app/rest_check.h"

#include <array>
#include <cmath>

namespace app {
namespace {

// What a wrong amount looks like.
const char* cause_of(double length) {
  if (length < 0.5) return "gravity is missing: let the device send the acceleration with gravity";
  if (length > 0.9 && length < 1.1) return "that looks like g instead of m/s^2";
  if (length > 940 && length < 990) return "that looks like cm/s^2";
  if (length > 900 && length < 1100) return "that looks like mg instead of m/s^2";
  return "check the device's units, range and calibration";
}

struct Axis {
  const char* name;
  const char* turn;  // that would bring it upright
};

constexpr std::array<Axis, 6> kAxes{{{"+x", "-90 deg about y"},
                                     {"-x", "90 deg about y"},
                                     {"+y", "90 deg about x"},
                                     {"-y", "-90 deg about x"},
                                     {"+z", "0 deg"},
                                     {"-z", "180 deg about x"}}};

const Axis& nearest_axis(const Eigen::Vector3d& v) {
  Eigen::Index i = 0;
  v.cwiseAbs().maxCoeff(&i);
  return kAxes[static_cast<std::size_t>(2 * i + (v[i] < 0))];
}

}  // namespace

void RestCheck::take(const collation::ImuData& imu) {
  if (verdict_ == Verdict::fine || imu.readings_only) return;
  const bool ended = stretch_.add(imu.at, imu.angular_velocity, imu.linear_acceleration);
  if (stretch_.samples() == 1) world_.setZero(), attitudes_ = 0;
  if (imu.orientation) {
    world_ += *imu.orientation * imu.linear_acceleration;
    ++attitudes_;
  }
  if (ended && stretch_.at_rest()) judge();
}

void RestCheck::judge() {
  const Eigen::Vector3d accel = stretch_.mean_acceleration();
  const double length = accel.norm();
  if (!judge_amount(length) || !judge_direction(accel) || !judge_attitude(length)) return;
  find(Verdict::fine, hal::Text<192>::of("%.2f m/s^2 along %s", length, nearest_axis(accel).name));
}

bool RestCheck::judge_amount(double length) {
  if (length >= kLeast && length <= kMost) return true;
  find(Verdict::amount, hal::Text<192>::of("|a| = %.2f at rest, expected %.1f to %.1f m/s^2: %s",
                                           length, kLeast, kMost, cause_of(length)));
  return false;
}

bool RestCheck::judge_direction(const Eigen::Vector3d& accel) {
  if (accel.z() >= kMostTilt * accel.norm()) return true;
  const Axis& axis = nearest_axis(accel);
  const bool hangs = axis.name == kAxes[5].name;
  find(Verdict::direction,
       hal::Text<192>::of(
           "gravity along %s at rest, expected along +z: the device %s, or its `pose` "
           "lacks a turn of %s",
           axis.name, hangs ? "hangs upside down" : "lies on its side", axis.turn));
  return false;
}

bool RestCheck::judge_attitude(double length) {
  if (attitudes_ == 0) return true;
  const Eigen::Vector3d mean = world_ / static_cast<double>(attitudes_);
  const Eigen::Vector3d error = mean - Eigen::Vector3d(0, 0, length);
  if ((error.array().abs() <= kAttitudeError).all()) return true;
  find(Verdict::attitude,
       hal::Text<192>::of("by its orientation gravity at rest is (%.1f %.1f %.1f) m/s^2 in the "
                          "world, expected (0 0 9.8): another frame, or its filter has not settled",
                          mean.x(), mean.y(), mean.z()));
  return false;
}

}  // namespace app
