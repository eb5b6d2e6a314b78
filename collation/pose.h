// Poses as they are configured, as Eigen has them.
#pragma once

#include <Eigen/Geometry>
#include <array>

namespace collation {

// Rotations about the fixed axes: roll about x, then pitch about y, then yaw about z; rad.
inline Eigen::Quaterniond rotation_of(const std::array<double, 3>& rpy) {
  using Eigen::AngleAxisd, Eigen::Vector3d;
  return AngleAxisd(rpy[2], Vector3d::UnitZ()) * AngleAxisd(rpy[1], Vector3d::UnitY()) *
         AngleAxisd(rpy[0], Vector3d::UnitX());
}

// From the sensor's frame to the tracking frame; `xyz` in m.
inline Eigen::Isometry3d pose_of(const std::array<double, 3>& xyz,
                                 const std::array<double, 3>& rpy) {
  Eigen::Isometry3d pose = Eigen::Isometry3d::Identity();
  pose.linear() = rotation_of(rpy).toRotationMatrix();
  pose.translation() = Eigen::Vector3d(xyz[0], xyz[1], xyz[2]);
  return pose;
}

}  // namespace collation
