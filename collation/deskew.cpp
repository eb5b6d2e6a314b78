#include "collation/deskew.h"

namespace collation {

namespace {

Eigen::Array<float, 4, 3> four_rows(const Eigen::Matrix3d& m) {
  Eigen::Array<float, 4, 3> rows = Eigen::Array<float, 4, 3>::Zero();
  rows.topRows<3>() = m.array().cast<float>();
  return rows;
}

}  // namespace

Deskewer::Ends Deskewer::ends_of(hal::Time at) const {
  return {at, track_.orientation(at).conjugate(), 0, four_rows(Eigen::Matrix3d::Identity())};
}

// From the tracking frame k lengths before the stamp to that of the stamp.
Deskewer::Rotation Deskewer::rotation(std::int64_t k, const Ends& ends) const {
  const Eigen::Quaterniond from = track_.orientation(ends.at - k * kSubInterval);
  return four_rows((ends.to * from).toRotationMatrix());
}

Deskewer::SubInterval Deskewer::sub_interval(std::int64_t k, Ends& ends) const {
  const Rotation from = ends.k == k + 1 ? ends.rotation : rotation(k + 1, ends);
  ends.rotation = k > 0 ? rotation(k, ends) : four_rows(Eigen::Matrix3d::Identity());
  ends.k = k;
  return {from, ends.rotation - from};
}

}  // namespace collation
