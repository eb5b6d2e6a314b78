// Whether an inertial sensor was at rest, a second at a time.
#pragma once

#include <Eigen/Core>
#include <cstddef>

#include "hal/time.h"

namespace collation {

class RestStretch {
 public:
  // None of the axes varies by more than this (standard deviation) or turns by more than kMaxBias,
  // which is beyond what gyros are off by.
  static constexpr hal::Duration kLength = std::chrono::seconds(1);
  static constexpr double kRate = 0.01;         // rad/s
  static constexpr double kAcceleration = 0.3;  // m/s^2
  static constexpr double kMaxBias = 0.05;      // rad/s
  static constexpr std::size_t kSamples = 10;   // at least
  // Longer than kLength by this: samples are missing, and the stretch begins anew.
  static constexpr hal::Duration kMaxGap = std::chrono::milliseconds(50);

  // True when a stretch ends with this sample; the functions below tell of it until the next add().
  bool add(hal::Time at, const Eigen::Vector3d& rate, const Eigen::Vector3d& acceleration);

  bool at_rest() const;
  std::size_t samples() const { return samples_; }
  Eigen::Vector3d mean_rate() const { return rate_ / static_cast<double>(samples_); }
  Eigen::Vector3d mean_acceleration() const {
    return acceleration_ / static_cast<double>(samples_);
  }

 private:
  hal::Time begin_{};
  bool ended_ = true;
  std::size_t samples_ = 0;
  Eigen::Vector3d rate_ = Eigen::Vector3d::Zero(), rate_squared_ = Eigen::Vector3d::Zero();
  Eigen::Vector3d acceleration_ = Eigen::Vector3d::Zero();
  Eigen::Vector3d acceleration_squared_ = Eigen::Vector3d::Zero();
};

}  // namespace collation
