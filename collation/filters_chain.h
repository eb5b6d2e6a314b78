// The filters of one lidar, one after the other, over finished clouds.
#pragma once

#include "collation/cloud_options.h"
#include "collation/filters_voxel.h"

namespace collation {

class FilterChain {
 public:
  // For clouds of at most `max_points`. All its memory is taken here, none without filters.
  FilterChain(const FilterOptions& options, std::size_t max_points);

  // In the order of FilterOptions. `returns` stand beside the cloud's points, at most `max_points`.
  // Points that go are counted in `stats` by the filter that took them; `points` is not counted.
  void apply(TimedPointCloud& cloud, hal::BoundedVector<Return>& returns, CloudStats& stats);

  static std::size_t bytes(const FilterOptions& options, std::size_t max_points);

 private:
  using Counter = std::uint64_t CloudStats::*;

  static bool any(const FilterOptions& options);
  // Takes out what is marked; with `from_beams` the cloud's beams show it.
  void remove(TimedPointCloud&, hal::BoundedVector<Return>&, bool from_beams, std::uint64_t& count);
  void thin_out_beams(TimedPointCloud&) const;

  const FilterOptions options_;
  std::vector<std::uint8_t> marks_;
  std::vector<float> ranges_;
  std::unique_ptr<VoxelFilter> voxels_;
};

}  // namespace collation
