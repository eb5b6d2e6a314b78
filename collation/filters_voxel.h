// One point per voxel, as Cartographer's voxel filter keeps them.
#pragma once

#include <memory>

#include "collation/filters.h"

namespace collation {

// A point's voxel is its position / `resolution`, each coordinate rounded to the nearest integer,
// halves away from zero. Of the points of one voxel any one stays with equal probability, by
// reservoir sampling with a generator (minimal standard, default seed) that begins anew with every
// call: the same points give the same choice. Order and times play no part.
class VoxelFilter {
 public:
  // `resolution` > 0, m. Takes memory for `max_points`.
  VoxelFilter(float resolution, std::size_t max_points);

  // At most `max_points` points.
  void mark(std::span<const TimedPoint> points, Marks drop);

  static std::size_t bytes(std::size_t max_points);  // that it allocates

 private:
  struct Voxel {
    std::uint64_t key;
    std::uint32_t call;   // the call that filled it; any other: empty
    std::uint32_t count;  // points seen
    std::uint32_t kept;   // index of one of them
  };

  static std::size_t places(std::size_t max_points);
  std::uint64_t key_of(const Eigen::Vector3f& position) const;
  Voxel& find(std::uint64_t key);

  const float resolution_;
  const std::size_t mask_;           // places are a power of 2, less than half of them in use
  std::unique_ptr<Voxel[]> voxels_;  // open addressing, linear probing
  std::uint32_t call_ = 0;
};

}  // namespace collation
