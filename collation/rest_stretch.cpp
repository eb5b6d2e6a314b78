#include "collation/rest_stretch.h"

namespace collation {
namespace {

using Eigen::Vector3d;

bool varies_less(const Vector3d& sum, const Vector3d& squares, double n, double limit) {
  const Vector3d mean = sum / n;
  return ((squares / n - mean.cwiseAbs2()).array() < limit * limit).all();
}

}  // namespace

bool RestStretch::add(hal::Time at, const Vector3d& rate, const Vector3d& acceleration) {
  if (ended_ || at - begin_ > kLength + kMaxGap) {
    *this = {};
    begin_ = at;
    ended_ = false;
  }
  ++samples_;
  rate_ += rate;
  rate_squared_ += rate.cwiseAbs2();
  acceleration_ += acceleration;
  acceleration_squared_ += acceleration.cwiseAbs2();
  ended_ = at - begin_ >= kLength;
  return ended_;
}

bool RestStretch::at_rest() const {
  const auto n = static_cast<double>(samples_);
  return samples_ >= kSamples && varies_less(rate_, rate_squared_, n, kRate) &&
         varies_less(acceleration_, acceleration_squared_, n, kAcceleration) &&
         (mean_rate().array().abs() < kMaxBias).all();
}

}  // namespace collation
