#include "collation/gyro_track.h"

#include <algorithm>
#include <cassert>

namespace collation {

namespace {

using Eigen::Quaterniond, Eigen::Vector3d;

// The rotation by this vector, rad, from the series of sine and cosine for the half angle, good to
// 1e-9 up to 0.5 rad; halved before that, which any rate that passed the aligner ends.
Quaterniond rotation_by(Vector3d vector) {
  int doublings = 0;
  for (; vector.squaredNorm() > 0.25; ++doublings) vector *= 0.5;
  const double h2 = vector.squaredNorm() / 4;  // of the half angle
  const double cosine = 1 - h2 / 2 + h2 * h2 / 24 - h2 * h2 * h2 / 720;
  const double half_sinc = 0.5 - h2 / 12 + h2 * h2 / 240 - h2 * h2 * h2 / 10080;
  Quaterniond q;
  q.w() = cosine;
  q.vec() = half_sinc * vector;
  for (; doublings > 0; --doublings) q = q * q;
  return q;
}

bool varies_less(const Vector3d& sum, const Vector3d& squares, double n, double limit) {
  const Vector3d mean = sum / n;
  return ((squares / n - mean.cwiseAbs2()).array() < limit * limit).all();
}

}  // namespace

GyroTrack::GyroTrack(std::size_t capacity) : samples_(capacity) { assert(capacity >= 2); }

void GyroTrack::add(const ImuData& imu) {
  ++stats_.samples;
  if (!samples_.empty() && imu.at <= samples_.back().at) {
    ++stats_.backward;
    return;
  }
  look_for_rest(imu);
  Sample sample{imu.at, imu.angular_velocity - bias_, ImuData::Quaternion::Identity()};
  if (samples_.empty()) {
    covered_since_ = imu.at;
  } else {
    const Sample& last = samples_.back();
    const hal::Duration step = imu.at - last.at;
    if (step > kMaxGap) {
      ++stats_.gaps;
      covered_since_ = imu.at;
    } else {
      const Vector3d turned = (last.rate + sample.rate) * (hal::to_seconds(step) / 2);
      sample.orientation = (Quaterniond(last.orientation) * rotation_by(turned)).normalized();
    }
  }
  samples_.push_back(sample);
}

bool GyroTrack::covers(hal::Time from, hal::Time to) const {
  return !samples_.empty() && from >= std::max(covered_since_, samples_.front().at) &&
         to <= samples_.back().at + kMaxGap;
}

Quaterniond GyroTrack::orientation(hal::Time at) const {
  if (samples_.empty()) return Quaterniond::Identity();
  // Clouds are asked for soon after their last sample, so the search begins there. It ends at the
  // first sample behind a gap: what lies before that belongs to another frame.
  std::size_t i = samples_.size() - 1;
  while (i > 0 && samples_[i].at > at && samples_[i - 1].at >= covered_since_) --i;
  const Sample& before = samples_[i];
  const double dt = hal::to_seconds(std::clamp(at - before.at, -kMaxGap, kMaxGap));
  Vector3d rate = before.rate;  // in the middle of the way
  if (i + 1 < samples_.size()) {
    const Sample& after = samples_[i + 1];
    rate += (after.rate - rate) * (dt / 2 / hal::to_seconds(after.at - before.at));
  }
  return Quaterniond(before.orientation) * rotation_by(rate * dt);
}

bool GyroTrack::Stretch::at_rest() const {
  const auto n = static_cast<double>(samples);
  return samples >= kRestSamples && varies_less(rate, rate_squared, n, kRestRate) &&
         varies_less(acceleration, acceleration_squared, n, kRestAcceleration) &&
         ((rate / n).array().abs() < kMaxBias).all();
}

void GyroTrack::look_for_rest(const ImuData& imu) {
  Stretch& s = stretch_;
  if (s.samples > 0 && imu.at - s.begin > kRest + kMaxGap) s = {};  // samples are missing
  if (s.samples == 0) s.begin = imu.at;
  ++s.samples;
  s.rate += imu.angular_velocity;
  s.rate_squared += imu.angular_velocity.cwiseAbs2();
  s.acceleration += imu.linear_acceleration;
  s.acceleration_squared += imu.linear_acceleration.cwiseAbs2();
  if (imu.at - s.begin < kRest) return;
  if (s.at_rest()) {
    bias_ = s.rate / static_cast<double>(s.samples);
    ++stats_.rests;
  }
  s = {};
}

}  // namespace collation
