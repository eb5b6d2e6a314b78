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

void GyroTrack::look_for_rest(const ImuData& imu) {
  if (!stretch_.add(imu.at, imu.angular_velocity, imu.linear_acceleration)) return;
  if (!stretch_.at_rest()) return;
  bias_ = stretch_.mean_rate();
  ++stats_.rests;
}

}  // namespace collation
