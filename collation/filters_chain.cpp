#include "collation/filters_chain.h"

#include <algorithm>
#include <limits>

namespace collation {

bool FilterChain::any(const FilterOptions& o) {
  return o.box.on() || o.shadow.on() || o.speckle.on() || o.median.on() || o.decimation.on() ||
         o.voxel > 0;
}

std::size_t FilterChain::bytes(const FilterOptions& options, std::size_t max_points) {
  return (any(options) ? max_points : 0) + (options.median.on() ? max_points * sizeof(float) : 0) +
         (options.voxel > 0 ? VoxelFilter::bytes(max_points) : 0);
}

FilterChain::FilterChain(const FilterOptions& options, std::size_t max_points)
    : options_(options),
      marks_(any(options) ? max_points : 0),
      ranges_(options.median.on() ? max_points : 0) {
  if (options.voxel > 0) voxels_ = std::make_unique<VoxelFilter>(options.voxel, max_points);
}

void FilterChain::apply(TimedPointCloud& cloud, hal::BoundedVector<Return>& returns,
                        CloudStats& stats) {
  if (marks_.empty()) return;
  const auto points = [&] { return std::span(cloud.points.begin(), cloud.points.size()); };
  const auto marks = [&] { return Marks(marks_).first(cloud.points.size()); };
  if (options_.box.on()) {
    mark_box(options_.box, points(), marks());
    remove(cloud, returns, true, stats.in_box);
  }
  if (options_.shadow.on()) {
    mark_shadow(options_.shadow, cloud.origin, points(), returns.view(), marks());
    remove(cloud, returns, true, stats.shadow);
  }
  if (options_.speckle.on()) {
    mark_speckle(options_.speckle, points(), returns.view(), marks());
    remove(cloud, returns, true, stats.speckle);
  }
  if (options_.median.on()) {
    smooth(options_.median, cloud.origin, points(), std::span(returns.begin(), returns.size()),
           ranges_);
    if (!cloud.beams.empty()) {
      for (const Return& r : returns) cloud.beams[r.beam].range = r.range;
    }
  }
  if (options_.decimation.on()) {
    mark_decimated(options_.decimation, returns.view(), marks());
    remove(cloud, returns, false, stats.decimated);
    thin_out_beams(cloud);
  }
  if (voxels_) {
    voxels_->mark(points(), marks());
    remove(cloud, returns, false, stats.voxel);
  }
}

void FilterChain::remove(TimedPointCloud& cloud, hal::BoundedVector<Return>& returns,
                         bool from_beams, std::uint64_t& count) {
  constexpr float kTaken = std::numeric_limits<float>::quiet_NaN();
  const std::size_t size = cloud.points.size();
  std::size_t left = 0;
  for (std::size_t i = 0; i < size; ++i) {
    if (marks_[i]) {
      if (from_beams && !cloud.beams.empty()) cloud.beams[returns[i].beam].range = kTaken;
      marks_[i] = 0;
      continue;
    }
    cloud.points[left] = cloud.points[i];
    returns[left++] = returns[i];
  }
  cloud.points.resize(left);
  returns.resize(left);
  count += size - left;
}

void FilterChain::thin_out_beams(TimedPointCloud& cloud) const {
  const auto every = static_cast<std::size_t>(options_.decimation.every);
  cloud.step *= options_.decimation.every;
  std::size_t left = 0;
  for (std::size_t i = 0; i < cloud.beams.size(); i += every) {
    cloud.beams[left++] = cloud.beams[i];
  }
  cloud.beams.resize(left);
}

}  // namespace collation
