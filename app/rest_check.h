// Whether an inertial sensor that rests measures gravity as it should: how much of it, which way,
// and whether its attitude agrees. A diagnosis, looked at from the start until it was right once.
#pragma once

#include "collation/imu_aligner.h"
#include "collation/rest_stretch.h"
#include "hal/text.h"

namespace app {

class RestCheck {
 public:
  enum class Verdict : std::uint8_t { open, fine, amount, direction, attitude };

  static constexpr double kLeast = 9.3, kMost = 10.3;  // m/s^2, of gravity
  static constexpr double kAttitudeError = 0.5;        // m/s^2, on each axis of the world
  static constexpr double kMostTilt = 0.7;             // part of gravity along z; 45 degrees

  // In the tracking frame, where +z is up. The first second at rest decides; while that finds
  // something wrong, the next one decides again.
  void take(const collation::ImuData&);
  void restart() { *this = {}; }  // the sensor starts anew

  Verdict verdict() const { return verdict_; }
  bool is_wrong() const { return verdict_ > Verdict::fine; }
  // "9.81 m/s^2 along +z", or what is wrong and why that may be; empty: it has not rested yet.
  const hal::Text<192>& words() const { return words_; }

 private:
  void judge();
  bool judge_amount(double length);
  bool judge_direction(const Eigen::Vector3d& accel);
  bool judge_attitude(double length);
  void find(Verdict verdict, const hal::Text<192>& words) { verdict_ = verdict, words_ = words; }

  collation::RestStretch stretch_;
  Eigen::Vector3d world_ = Eigen::Vector3d::Zero();  // sum of accelerations in the world
  std::size_t attitudes_ = 0;                        // in it
  Verdict verdict_ = Verdict::open;
  hal::Text<192> words_{};
};

}  // namespace app
