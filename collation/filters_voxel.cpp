#include "collation/filters_voxel.h"

#include <bit>
#include <cassert>
#include <cmath>
#include <random>

namespace collation {

std::size_t VoxelFilter::places(std::size_t max_points) {
  return std::bit_ceil(2 * max_points + 1);
}

std::size_t VoxelFilter::bytes(std::size_t max_points) {
  return places(max_points) * sizeof(Voxel);
}

VoxelFilter::VoxelFilter(float resolution, std::size_t max_points)
    : resolution_(resolution),
      mask_(places(max_points) - 1),
      voxels_(std::make_unique<Voxel[]>(mask_ + 1)) {
  assert(resolution > 0);
}

// 21 bits for each coordinate; negative ones borrow from the next, which keeps keys apart as long
// as a coordinate is within 2^20 voxels.
std::uint64_t VoxelFilter::key_of(const Eigen::Vector3f& position) const {
  const auto index = [&](float coordinate) {
    return static_cast<std::uint64_t>(std::llround(coordinate / resolution_));
  };
  return (index(position.x()) << 42) + (index(position.y()) << 21) + index(position.z());
}

VoxelFilter::Voxel& VoxelFilter::find(std::uint64_t key) {
  constexpr std::uint64_t kGolden = 0x9E3779B97F4A7C15;  // 2^64 / golden ratio: spreads keys
  std::size_t at = (key * kGolden) >> 32 & mask_;
  while (voxels_[at].call == call_ && voxels_[at].key != key) at = (at + 1) & mask_;
  return voxels_[at];
}

void VoxelFilter::mark(std::span<const TimedPoint> points, Marks drop) {
  assert(points.size() <= mask_ / 2);
  if (++call_ == 0) {  // all marks of 2^32 calls are used up
    for (std::size_t i = 0; i <= mask_; ++i) voxels_[i].call = 0;
    call_ = 1;
  }
  std::minstd_rand0 generator;
  for (std::uint32_t i = 0; i < points.size(); ++i) {
    const std::uint64_t key = key_of(points[i].position);
    Voxel& voxel = find(key);
    if (voxel.call != call_) {
      voxel = {key, call_, 1, i};
      continue;
    }
    const auto count = static_cast<int>(++voxel.count);
    const bool replaces = std::uniform_int_distribution<int>(1, count)(generator) == count;
    drop[replaces ? voxel.kept : i] = 1;
    if (replaces) voxel.kept = i;
  }
}

}  // namespace collation
