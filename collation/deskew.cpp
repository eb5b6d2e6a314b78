#include "collation/deskew.h"

namespace collation {

Deskewer::Ends Deskewer::ends_of(hal::Time at) const {
  return {at, track_.orientation(at).conjugate(), 0, Eigen::Matrix3f::Identity()};
}

// From the tracking frame k lengths before the stamp to that of the stamp.
Eigen::Matrix3f Deskewer::rotation(std::int64_t k, const Ends& ends) const {
  const Eigen::Quaterniond from = track_.orientation(ends.at - k * kSubInterval);
  return (ends.to * from).toRotationMatrix().cast<float>();
}

Deskewer::SubInterval Deskewer::sub_interval(std::int64_t k, Ends& ends) const {
  const Eigen::Matrix3f from = ends.k == k + 1 ? ends.rotation : rotation(k + 1, ends);
  ends.rotation = k > 0 ? rotation(k, ends) : Eigen::Matrix3f::Identity().eval();
  ends.k = k;
  SubInterval sub{Eigen::Array<float, 4, 3>::Zero(), Eigen::Array<float, 4, 3>::Zero()};
  sub.from.topRows<3>() = from.array();
  sub.change.topRows<3>() = (ends.rotation - from).array();
  return sub;
}

}  // namespace collation
