// De-skew: the points of a cloud as they would stand had all been measured at its stamp, as far as
// the robot turned in between. It is rotation only, about the tracking frame's origin; how far the
// robot moved is for odometry to say.
#pragma once

#include <cmath>
#include <cstring>
#include <span>

#include "collation/gyro_track.h"

namespace collation {

// Counters only grow: clouds = turned + without_gyro.
struct DeskewStats {
  std::uint64_t clouds = 0;        // given in
  std::uint64_t turned = 0;        // of these
  std::uint64_t without_gyro = 0;  // left as measured: samples of their time are missing
};

// A point in the tracking frame, m, followed by its time relative to the stamp, s, ascending.
template <class T>
concept DeskewPoint = requires(T p) {
  { p.position } -> std::convertible_to<Eigen::Vector3f>;
  { p.time } -> std::convertible_to<float>;
}
&&offsetof(T, position) == 0 && offsetof(T, time) == 3 * sizeof(float);

// A cloud is turned as a whole or not at all. The rotation is computed at the ends of sub-intervals
// and changes linearly in between, element by element: at 10 rad/s that is off by 1.3 mm at 1 m.
class Deskewer {
 public:
  static constexpr hal::Duration kSubInterval = std::chrono::milliseconds(10);

  // The track outlives it; it has seen what was measured before the clouds' stamps.
  explicit Deskewer(const GyroTrack& track) : track_(track) {}

  // False when the points are left as they are. Stamp and times never change.
  template <DeskewPoint Point>
  bool deskew(std::span<Point> points, hal::Time at) {
    ++stats_.clouds;
    if (points.empty() || track_.covers(time_of(points.front(), at), at)) {
      ++stats_.turned;
      turn(points, at);
      return true;
    }
    ++stats_.without_gyro;
    return false;
  }

  const DeskewStats& stats() const { return stats_; }

 private:
  // Four rows are as quick as three: the last one is zero, and carries a point's time.
  using Rotation = Eigen::Array<float, 4, 3>;
  // Sub-interval k begins k + 1 lengths before the stamp. Its rotation is `from` and, times the
  // part that is over, `change`.
  struct SubInterval {
    Rotation from, change;
  };
  // The end of the sub-interval before is the beginning of the next.
  struct Ends {
    hal::Time at;           // the stamp
    Eigen::Quaterniond to;  // from the frame that does not turn to that of the stamp
    std::int64_t k = 0;     // of `rotation`
    Rotation rotation;
  };

  template <class Point>
  static hal::Time time_of(const Point& point, hal::Time at) {
    return at + hal::from_seconds(static_cast<double>(point.time));
  }

  template <class Point>
  void turn(std::span<Point> points, hal::Time at) {
    constexpr float kLength = static_cast<float>(kSubInterval.count()) * 1e-9F;
    Ends ends = ends_of(at);
    for (std::size_t i = 0; i < points.size();) {
      const float k = std::floor(-points[i].time / kLength);
      const float begin = -(k + 1) * kLength, end = -k * kLength;
      const SubInterval sub = sub_interval(static_cast<std::int64_t>(k), ends);
      Eigen::Array4f lanes;  // x y z time
      do {
        const float part = (points[i].time - begin) * (1 / kLength);
        const Eigen::Vector3f& p = points[i].position;
        lanes = (sub.from.col(0) + part * sub.change.col(0)) * p.x() +
                (sub.from.col(1) + part * sub.change.col(1)) * p.y() +
                (sub.from.col(2) + part * sub.change.col(2)) * p.z() +
                points[i].time * Eigen::Array4f(0, 0, 0, 1);
        std::memcpy(static_cast<void*>(&points[i]), &lanes, sizeof lanes);
      } while (++i < points.size() && points[i].time <= end);
    }
  }

  Ends ends_of(hal::Time at) const;
  Rotation rotation(std::int64_t k, const Ends& ends) const;
  SubInterval sub_interval(std::int64_t k, Ends& ends) const;

  const GyroTrack& track_;
  DeskewStats stats_;
};

}  // namespace collation
