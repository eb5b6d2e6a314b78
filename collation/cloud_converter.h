// Beams of one lidar to points: the window, polar to Cartesian, the pose of the sensor.
#pragma once

#include <memory>

#include "collation/cloud_options.h"
#include "collation/filters_chain.h"

namespace collation {

// Directions are remembered by a beam's place in the turn and used again when the angle there is
// exactly the same: a device whose angles lie on a grid costs no trigonometry, and for any other
// each direction is computed anew. Positions are those of double precision within 10 um at 30 m.
class CloudConverter {
 public:
  // For clouds of at most `max_points`. All memory is taken here.
  CloudConverter(const CloudOptions& options, std::size_t max_points);

  // `cloud` is a new one; its first beam has the age 0.
  void begin(TimedPointCloud& cloud);

  // Appends beams [from, to) of the slice: the first was measured `age` after the cloud's first
  // beam, is beam `index` of the cloud and beam `place` of the turn. The cloud has room for them.
  void append(const drivers::ScanSlice& slice, std::size_t from, std::size_t to, hal::Duration age,
              std::size_t index, std::size_t place, TimedPointCloud& cloud, CloudStats& stats);

  // Gives the points their times, `span` after the first beam being 0, and applies the filters.
  void finish(hal::Duration span, TimedPointCloud& cloud, CloudStats& stats);

  // Bytes that it allocates, for the memory budget.
  static std::size_t bytes(const CloudOptions& options, std::size_t max_points);

 private:
  struct Ray {              // in one vector register
    Eigen::Vector4f lanes;  // direction in the tracking frame, angle in the sensor's
    float angle() const { return lanes[3]; }
    // Of the angular windows; never when the angle is no number. Without, there is no direction.
    bool is_inside() const { return lanes[0] == lanes[0]; }
  };
  struct Sector {  // an angular window, rad
    double middle, half;
  };
  struct Part {  // consecutive beams whose places do not wrap
    std::span<const drivers::Beam> beams;
    bool has_intensity;
    hal::Duration age, step;
    std::size_t index, place;
  };

  static std::size_t places(const CloudOptions& options, std::size_t max_points);
  void append_chosen(const drivers::ScanSlice& slice, std::size_t from, Part part,
                     TimedPointCloud& cloud, CloudStats& stats);
  void convert(Part part, TimedPointCloud& cloud, CloudStats& stats);
  void learn(std::span<const drivers::Beam> beams, std::size_t place);
  bool holds(float angle) const;
  [[gnu::cold]] void refuse(const drivers::Beam& beam, bool is_inside, drivers::Beam* shown,
                            CloudStats& stats) const;
  drivers::Beam choose(const drivers::Beam& first, std::span<const drivers::Echo> echoes,
                       bool has_intensity) const;
  bool is_in_range(float range) const { return range >= nearest_ && range <= farthest_; }

  const CloudOptions options_;
  const float nearest_, farthest_;                  // m; finite and above 0
  const Eigen::Vector4f x_axis_, y_axis_, origin_;  // of the sensor, in the tracking frame; 4th: 0
  const std::size_t places_;
  std::unique_ptr<Ray[]> rays_;         // by place in the turn
  hal::BoundedVector<Return> returns_;  // of the open cloud, beside its points
  std::vector<Sector> sectors_;
  FilterChain filters_;
};

}  // namespace collation
