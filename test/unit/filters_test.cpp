#include "collation/filters.h"

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "collation/cloud_builder.h"
#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;
using collation::CloudBuilder;
using collation::CloudOptions;
using collation::CloudPool;
using collation::Return;
using collation::TimedPoint;
using drivers::Beam;

namespace {

constexpr float kDegree = std::numbers::pi_v<float> / 180;

}  // namespace

TEST_GROUP(Filters) {
  const Eigen::Vector3f origin{0.5F, 0, 0};
  std::vector<TimedPoint> points;
  std::vector<Return> returns;
  std::vector<std::uint8_t> drop;

  // One beam per degree from 0 on; range 0: no return.
  void scan(const std::vector<float>& ranges, float step = kDegree) {
    points.clear();
    returns.clear();
    for (std::uint32_t i = 0; i < ranges.size(); ++i) {
      if (ranges[i] == 0) continue;
      const float angle = static_cast<float>(i) * step;
      points.push_back(
          {origin + ranges[i] * Eigen::Vector3f(std::cos(angle), std::sin(angle), 0), 0, 0});
      returns.push_back({1ms * i, i, ranges[i]});
    }
    drop.assign(points.size(), 0);
  }
  // Beams whose points were marked.
  std::vector<std::uint32_t> dropped() const {
    std::vector<std::uint32_t> beams;
    for (std::size_t i = 0; i < drop.size(); ++i) {
      if (drop[i]) beams.push_back(returns[i].beam);
    }
    return beams;
  }
  using Beams = std::vector<std::uint32_t>;
};

TEST(Filters, TheBoxHoldsItsFacesAndNoMore) {
  const collation::BoxFilter box{.min = {-1, -2, 0}, .max = {1, 2, 3}};
  for (const auto& [x, y, z] : std::vector<std::array<float, 3>>{
           {0, 0, 1}, {-1, -2, 0}, {1, 2, 3}, {1.001F, 0, 1}, {0, -2.001F, 1}, {0, 0, 3.001F}}) {
    points.push_back({{x, y, z}, 0, 0});
  }
  drop.assign(points.size(), 0);
  mark_box(box, points, drop);
  CHECK_TRUE((drop == std::vector<std::uint8_t>{1, 1, 1, 0, 0, 0}));
}

TEST(Filters, ABoxWithoutVolumeIsOff) {
  CHECK_FALSE(collation::BoxFilter{}.on());
  CHECK_FALSE((collation::BoxFilter{.min = {-1, -1, 0}, .max = {1, 1, 0}}.on()));
  CHECK_TRUE((collation::BoxFilter{.min = {-1, -1, -1}, .max = {1, 1, 0}}.on()));
}

// An edge at 2 m before a wall at 4 m, and a mixed range between them.
TEST(Filters, AVeilingPointIsTakenAndTheNearEdgeStays) {
  scan({2, 2, 2, 3, 4, 4, 4});
  mark_shadow({.min_angle = 10 * kDegree}, origin, points, returns, drop);
  CHECK_TRUE((dropped() == Beams{3, 4}));  // the wall's first point lies behind the veil
  scan({4, 4, 4, 3, 2, 2, 2});
  mark_shadow({.min_angle = 10 * kDegree}, origin, points, returns, drop);
  CHECK_TRUE((dropped() == Beams{2, 3}));
}

// The angle at the farther point, computed from the sides of the triangle.
TEST(Filters, TheShadowAnglesLimitIsExact) {
  scan({2, 2.1F});
  const double beside = 2 * std::sin(1.0 * static_cast<double>(kDegree));
  const double along = 2.1 - 2 * std::cos(1.0 * static_cast<double>(kDegree));
  const auto angle = static_cast<float>(std::atan2(beside, along));
  mark_shadow({.min_angle = angle * 0.999F}, origin, points, returns, drop);
  CHECK_TRUE(dropped().empty());
  mark_shadow({.min_angle = angle * 1.001F}, origin, points, returns, drop);
  CHECK_TRUE((dropped() == Beams{1}));
}

TEST(Filters, ShadowsLookNoFartherThanTheirWindow) {
  scan({2, 0, 4});
  mark_shadow({.min_angle = 10 * kDegree, .window = 1}, origin, points, returns, drop);
  CHECK_TRUE(dropped().empty());
  mark_shadow({.min_angle = 10 * kDegree, .window = 2}, origin, points, returns, drop);
  CHECK_TRUE((dropped() == Beams{2}));
}

TEST(Filters, AWallSeenAtASlantIsNoShadow) {
  std::vector<float> ranges;
  for (int i = 0; i < 60; ++i) ranges.push_back(1 / std::cos(static_cast<float>(i) * kDegree));
  scan(ranges);  // to 60 degrees: met at 30
  mark_shadow({.min_angle = 10 * kDegree, .window = 3}, origin, points, returns, drop);
  CHECK_TRUE(dropped().empty());
}

TEST(Filters, AReturnThatStandsAloneIsASpeckle) {
  scan({2, 2, 2, 1, 2, 2, 0, 0, 0, 2, 2});
  mark_speckle({.distance = 0.1F, .window = 2, .neighbours = 1}, points, returns, drop);
  CHECK_TRUE((dropped() == Beams{3}));
}

TEST(Filters, ASpeckleMayHaveFewerNeighboursThanAsked) {
  scan({2, 2, 2, 2, 1, 1, 2, 2, 2, 2});
  mark_speckle({.distance = 0.1F, .window = 3, .neighbours = 1}, points, returns, drop);
  CHECK_TRUE(dropped().empty());
  mark_speckle({.distance = 0.1F, .window = 3, .neighbours = 2}, points, returns, drop);
  CHECK_TRUE((dropped() == Beams{4, 5}));
}

TEST(Filters, NeighboursOfASpeckleAreCountedByBeamsNotByReturns) {
  scan({2, 0, 0, 2, 2, 2, 2});
  mark_speckle({.distance = 1, .window = 2, .neighbours = 1}, points, returns, drop);
  CHECK_TRUE((dropped() == Beams{0}));
}

TEST(Filters, TheMedianReplacesAnOutlierAndMovesItsPoint) {
  scan({2, 2.1F, 9, 2.2F, 2});
  std::vector<float> scratch(points.size());
  smooth({.window = 3}, origin, points, returns, scratch);
  const float expected[] = {2, 2.1F, 2.2F, 2.2F, 2};
  for (std::size_t i = 0; i < 5; ++i) {
    CHECK_EQUAL(expected[i], returns[i].range);
    const float angle = static_cast<float>(i) * kDegree;
    const Eigen::Vector3f place =
        origin + expected[i] * Eigen::Vector3f(std::cos(angle), std::sin(angle), 0);
    CHECK_TRUE(points[i].position.isApprox(place, 1e-6F));
  }
}

TEST(Filters, TheMedianIsOfTheReturnsOnlyAndOfTwoTheNearer) {
  scan({0, 2, 0, 3, 1, 0});
  std::vector<float> scratch(points.size());
  smooth({.window = 5}, origin, points, returns, scratch);
  CHECK_EQUAL(2.F, returns[0].range);  // of 2 and 3
  CHECK_EQUAL(2.F, returns[1].range);  // of 2, 3 and 1
  CHECK_EQUAL(1.F, returns[2].range);  // of 3 and 1
}

TEST(Filters, DecimationKeepsTheFirstAndEveryNthBeam) {
  scan({1, 1, 1, 0, 1, 1, 0, 1});
  mark_decimated({.every = 3}, returns, drop);
  CHECK_TRUE((dropped() == Beams{1, 2, 4, 5, 7}));
}

// All of them in a builder: order, books, what the scan shows.
TEST_GROUP(FilterChain) {
  CloudPool pool = collation::make_cloud_pool(4, 100, true);
  std::vector<CloudPool::Lease> clouds;

  void run(const CloudOptions& options, const std::vector<float>& ranges) {
    CloudBuilder builder(options, pool);
    std::vector<Beam> beams;
    for (std::size_t i = 0; i < ranges.size(); ++i) {
      beams.push_back({static_cast<float>(i) * kDegree, ranges[i], 1});
    }
    clouds.reserve(1);
    test::AllocationCounter allocations;
    builder.add({.first = hal::Time{1000s}, .step = 1ms, .beams = beams}, true,
                [&](CloudPool::Lease cloud) { clouds.push_back(std::move(cloud)); });
    LONGS_EQUAL(0, allocations.count());
    LONGS_EQUAL(1, clouds.size());
    stats = builder.stats();
    LONGS_EQUAL(stats.beams, stats.points + stats.no_return + stats.out_of_range + stats.in_box +
                                 stats.shadow + stats.speckle + stats.decimated + stats.voxel);
    LONGS_EQUAL(stats.points, clouds[0]->points.size());
  }
  static CloudOptions options() {
    CloudOptions o;
    o.emit = collation::Emit::chunk;
    return o;
  }
  collation::CloudStats stats;
};

TEST(FilterChain, WhatAFilterTookIsNoRangeInTheScan) {
  CloudOptions o = options();
  o.filters.speckle.distance = 0.2F;
  run(o, {2, 2, 5, 2, 0});
  LONGS_EQUAL(1, stats.speckle);
  CHECK_TRUE(std::isnan(clouds[0]->beams[2].range));
  CHECK_EQUAL(2.F, clouds[0]->beams[3].range);
  CHECK_EQUAL(0.F, clouds[0]->beams[4].range);
  DOUBLES_EQUAL(-0.001, clouds[0]->points[2].time, 1e-9);
}

TEST(FilterChain, WhatIsInTheBoxCastsNoShadow) {
  CloudOptions o = options();
  o.filters.shadow.min_angle = 10 * kDegree;
  run(o, {0.3F, 4, 4});
  LONGS_EQUAL(1, stats.shadow);
  clouds.clear();
  o.filters.box = {.min = {-0.5F, -0.5F, -0.5F}, .max = {0.5F, 0.5F, 0.5F}};
  run(o, {0.3F, 4, 4});
  LONGS_EQUAL(1, stats.in_box);
  LONGS_EQUAL(0, stats.shadow);
}

TEST(FilterChain, TheBoxIsInTheTrackingFrameWhereverThePointsAre) {
  CloudOptions o = options();
  o.filters.box = {.min = {4, -1, -1}, .max = {8, 1, 1}};
  o.filters.box.tracking_from_points = Eigen::Translation3f(3, 0, 0);
  run(o, {2, 0.5F});
  LONGS_EQUAL(1, stats.in_box);
  DOUBLES_EQUAL(0.5, clouds[0]->points[0].position.norm(), 1e-6);
}

TEST(FilterChain, TheScanHasTheSmoothedRanges) {
  CloudOptions o = options();
  o.filters.median.window = 3;
  run(o, {2, 2, 5, 2, 0});
  CHECK_EQUAL(2.F, clouds[0]->beams[2].range);
  CHECK_EQUAL(0.F, clouds[0]->beams[4].range);
}

TEST(FilterChain, ADecimatedScanHasFewerBeamsAndALongerStep) {
  CloudOptions o = options();
  o.filters.decimation.every = 4;
  run(o, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10});
  LONGS_EQUAL(3, clouds[0]->beams.size());
  CHECK_EQUAL(5.F, clouds[0]->beams[1].range);
  CHECK_TRUE(clouds[0]->step == 4ms);
  LONGS_EQUAL(10, clouds[0]->beam_count);
  LONGS_EQUAL(7, stats.decimated);
  DOUBLES_EQUAL(-0.001, clouds[0]->points[2].time, 1e-9);  // of 10 beams it is the 9th
}

TEST(FilterChain, TheVoxelFilterLeavesTheScanAlone) {
  CloudOptions o = options();
  o.filters.voxel = 1;
  run(o, {2, 2, 2, 2});
  LONGS_EQUAL(1, clouds[0]->points.size());
  LONGS_EQUAL(3, stats.voxel);
  for (const Beam& beam : clouds[0]->beams) CHECK_EQUAL(2.F, beam.range);
}

TEST(FilterChain, FiltersThatAreOffTakeNoMemory) {
  LONGS_EQUAL(0, collation::FilterChain::bytes({}, 1000));
  collation::FilterOptions all;
  all.median.window = 3;
  all.voxel = 0.1F;
  LONGS_EQUAL(1000 + 1000 * sizeof(float) + collation::VoxelFilter::bytes(1000),
              collation::FilterChain::bytes(all, 1000));
}
