// Where the robot has turned to, from the angular rates of one IMU: what de-skewing asks.
#pragma once

#include <boost/circular_buffer.hpp>

#include "collation/imu_aligner.h"
#include "collation/rest_stretch.h"

namespace collation {

// Counters only grow.
struct GyroStats {
  std::uint64_t samples = 0;
  std::uint64_t backward = 0;  // not stamped after the one before; left out
  std::uint64_t gaps = 0;      // longer than kMaxGap: nothing is said across them
  std::uint64_t rests = 0;     // stretches at rest that the bias was taken from
};

// Keeps the newest samples, as many as its capacity; all memory is taken at construction. Rates
// are those of the tracking frame, less the bias, and change linearly between two samples.
class GyroTrack {
 public:
  // Longer without a sample is a gap; as far ahead of the newest the last rate is believed.
  static constexpr hal::Duration kMaxGap = std::chrono::milliseconds(50);

  // `capacity`: samples, >= 2.
  explicit GyroTrack(std::size_t capacity);

  void add(const ImuData& imu);

  // Whether the turn between the two is known: samples from before `from`, no gap, none missing
  // at the end by more than kMaxGap.
  bool covers(hal::Time from, hal::Time to) const;

  // From the tracking frame at `at` to a frame that does not turn. Any time gives an answer; it is
  // good for what covers() says.
  Eigen::Quaterniond orientation(hal::Time at) const;

  const Eigen::Vector3d& bias() const { return bias_; }  // rad/s; zero until a rest was seen
  const GyroStats& stats() const { return stats_; }

  static std::size_t memory(std::size_t capacity) { return capacity * sizeof(Sample); }

 private:
  struct Sample {
    hal::Time at;
    Eigen::Vector3d rate;
    ImuData::Quaternion orientation;
  };
  void look_for_rest(const ImuData& imu);

  boost::circular_buffer<Sample> samples_;
  hal::Time covered_since_ = hal::Time::max();  // first sample after the last gap
  RestStretch stretch_;
  Eigen::Vector3d bias_ = Eigen::Vector3d::Zero();
  GyroStats stats_;
};

}  // namespace collation
