// The cases are those of Cartographer's sensor/internal/voxel_filter_test.cc and of its rule.
#include "collation/filters_voxel.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <random>
#include <tuple>
#include <vector>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using collation::TimedPoint;
using collation::VoxelFilter;

TEST_GROUP(VoxelFilter) {
  std::vector<TimedPoint> points;

  void point(float x, float y, float z, float time = 0) { points.push_back({{x, y, z}, time, z}); }
  // Indices of the points that stay.
  std::vector<std::size_t> kept(VoxelFilter & filter) const {
    std::vector<std::uint8_t> drop(points.size());
    filter.mark(points, drop);
    std::vector<std::size_t> left;
    for (std::size_t i = 0; i < drop.size(); ++i) {
      if (!drop[i]) left.push_back(i);
    }
    return left;
  }
  std::vector<std::size_t> kept(float resolution) const {
    VoxelFilter filter(resolution, points.size());
    return kept(filter);
  }
};

TEST(VoxelFilter, ReturnsOnePointInEachVoxel) {
  point(0, 0, 0), point(0.1F, -0.1F, 0.1F), point(0.3F, -0.1F, 0), point(0, 0, 0.1F);
  const auto left = kept(0.3F);
  LONGS_EQUAL(2, left.size());
  CHECK_TRUE(left[0] == 2 || left[1] == 2);
}

TEST(VoxelFilter, CorrectIntensities) {
  for (int i = 0; i < 100; ++i) point(-100, 0.3F, 0.1F * static_cast<float>(i));
  const auto left = kept(0.3F);
  LONGS_EQUAL(34, left.size());
  for (const std::size_t i : left) DOUBLES_EQUAL(points[i].position.z(), points[i].intensity, 1e-6);
}

TEST(VoxelFilter, HandlesLargeCoordinates) {
  point(1e5F, 0, 0), point(1e5F + 0.001F, 0, 0), point(1e5F + 0.003F, 0, 0), point(-2e5F, 0, 0);
  const auto left = kept(0.01F);
  LONGS_EQUAL(2, left.size());
  LONGS_EQUAL(3, left[1]);
}

TEST(VoxelFilter, IgnoresTime) {
  for (int i = 0; i < 100; ++i) point(-100, 0.3F, 0.4F, -0.1F * static_cast<float>(100 - i));
  LONGS_EQUAL(1, kept(0.3F).size());
}

TEST(VoxelFilter, HalvesAreRoundedAwayFromZero) {
  point(0.5F, 0, 0), point(1.4F, 0, 0);    // both in voxel 1
  point(-0.5F, 0, 0), point(-1.4F, 0, 0);  // both in voxel -1
  point(0.49F, 0, 0), point(-0.49F, 0, 0);
  LONGS_EQUAL(3, kept(1).size());
}

TEST(VoxelFilter, EveryCallChoosesAnew) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> place(-1, 1);
  for (int i = 0; i < 300; ++i) point(place(random), place(random), 0);
  VoxelFilter filter(0.3F, points.size());
  const auto first = kept(filter);
  for (int call = 0; call < 3; ++call) CHECK_TRUE(kept(filter) == first);
}

// Against the rule written out: reservoir sampling over a map, generator by default seed.
TEST(VoxelFilter, KeepsTheVeryPointsOfTheRule) {
  const unsigned seed = std::random_device{}();
  std::printf("\nVoxelFilter rule seed %u ", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> place(-5, 5);
  VoxelFilter filter(0.25F, 2000);
  for (int round = 0; round < 20; ++round) {
    points.clear();
    for (int i = 0; i < 100 * round; ++i) point(place(random), place(random), place(random) / 5);
    std::minstd_rand0 generator;
    std::map<std::tuple<long, long, long>, std::pair<int, std::size_t>> voxels;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const Eigen::Vector3f& p = points[i].position;
      auto& [count, chosen] = voxels[{std::lround(p.x() / 0.25F), std::lround(p.y() / 0.25F),
                                      std::lround(p.z() / 0.25F)}];
      ++count;
      if (count == 1 || std::uniform_int_distribution<>(1, count)(generator) == count) chosen = i;
    }
    std::vector<std::size_t> expected;
    for (const auto& [key, voxel] : voxels) expected.push_back(voxel.second);
    std::ranges::sort(expected);
    CHECK_TRUE(kept(filter) == expected);
  }
}

TEST(VoxelFilter, AllocatesNothingWhenItFilters) {
  for (int i = 0; i < 500; ++i) point(static_cast<float>(i % 50), static_cast<float>(i % 7), 0);
  VoxelFilter filter(0.5F, points.size());
  std::vector<std::uint8_t> drop(points.size());
  test::AllocationCounter allocations;
  filter.mark(points, drop);
  LONGS_EQUAL(0, allocations.count());
}
