// Times are written in the reference's ticks of 100 ns; clouds as its tests make them: points
// evenly from..to, both included, stamped at `to`.
#include "collation/range_data_collator.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <random>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using collation::MergedCloud;
using collation::MergedLidar;
using collation::MergeStats;
using collation::RangeDataCollator;
using collation::TimedPointCloud;

namespace {

hal::Time tick(double ticks) { return hal::from_ns(std::llround(ticks * 100)); }
double ticks(hal::Time at) { return static_cast<double>(hal::to_ns(at)) / 100; }

TimedPointCloud cloud_of(double from, double to, std::size_t points = 10) {
  TimedPointCloud cloud(points, false);
  cloud.at = tick(to);
  cloud.first = tick(from);
  cloud.has_intensity = true;
  for (std::size_t i = 0; i < points; ++i) {
    const double part = points > 1 ? static_cast<double>(i) / static_cast<double>(points - 1) : 1;
    const double at = from + (to - from) * part;
    const float z = static_cast<float>(i) / 10;
    cloud.points.push_back({{1, 2, z}, static_cast<float>((at - to) * 1e-7), z});
  }
  return cloud;
}

// What one call emitted, in the reference's terms.
struct Result {
  std::size_t clouds = 0, points = 0, origins = 0;
  double stamp = 0;  // ticks, of the last one
  double first = 0;  // ticks, of the first point
  double last = 0;   // ticks relative to the stamp, of the last point
};

}  // namespace

TEST_GROUP(RangeDataCollator) {
  std::unique_ptr<RangeDataCollator> merge;
  std::size_t total = 0;

  void make(std::size_t lidars, std::size_t clouds = 1, std::size_t max_points = 1000) {
    const std::vector<MergedLidar> list(lidars, {.clouds = clouds, .points = 20});
    merge = std::make_unique<RangeDataCollator>(list, max_points);
  }
  void check(const MergedCloud& cloud) {
    float previous = -std::numeric_limits<float>::infinity();
    for (const collation::MergedPoint& point : cloud.points) {
      CHECK_TRUE(point.time >= previous);
      CHECK_TRUE(point.time <= 0);
      DOUBLES_EQUAL(point.position.z(), point.intensity, 1e-6);
      CHECK_TRUE((cloud.contributors >> point.origin & 1) == 1);
      previous = point.time;
    }
  }
  template <class Call>
  Result result_of(Call && call) {
    Result result;
    call([&](const MergedCloud& cloud) {
      check(cloud);
      ++result.clouds;
      result.points += cloud.points.size();
      result.origins = static_cast<std::size_t>(std::popcount(cloud.contributors));
      result.stamp = ticks(cloud.at);
      if (cloud.points.empty()) return;
      result.first = result.stamp + static_cast<double>(cloud.points[0].time) * 1e7;
      result.last = static_cast<double>(cloud.points.back().time) * 1e7;
    });
    total += result.points;
    return result;
  }
  Result add(std::size_t lidar, const TimedPointCloud& cloud) {
    return result_of([&](auto&& emit) { merge->add(lidar, cloud, emit); });
  }
  Result add(std::size_t lidar, double from, double to, std::size_t points = 10) {
    return add(lidar, cloud_of(from, to, points));
  }
  void check_books() {
    const MergeStats s = merge->stats();
    CHECK_EQUAL(s.clouds, s.merged + s.backward + s.late_clouds + s.held_clouds);
    CHECK_EQUAL(s.points, s.out + s.late + s.backward_points + s.bad_time + s.full + s.held);
    CHECK_EQUAL(total, s.out);
  }
  void teardown() {
    if (merge) check_books();
  }
};

TEST(RangeDataCollator, PassesASingleLidarOnWithoutWhatItRepeats) {
  make(1);
  const Result one = add(0, 200, 300);
  DOUBLES_EQUAL(300, one.stamp, 0);
  LONGS_EQUAL(1, one.origins);
  LONGS_EQUAL(10, one.points);
  const Result two = add(0, 300, 500);
  DOUBLES_EQUAL(500, two.stamp, 0);
  LONGS_EQUAL(10, two.points);
  DOUBLES_EQUAL(300, two.first, 2);
  const Result three = add(0, -1000, 510);
  DOUBLES_EQUAL(510, three.stamp, 0);
  LONGS_EQUAL(1, three.points);
  DOUBLES_EQUAL(0, three.last, 0);
  LONGS_EQUAL(9, merge->stats().late);
}

TEST(RangeDataCollator, PassesAnEmptyCloudOnWithItsStamp) {
  make(1);
  const Result empty = add(0, 300, 300, 0);
  LONGS_EQUAL(1, empty.clouds);
  DOUBLES_EQUAL(300, empty.stamp, 0);
  LONGS_EQUAL(0, empty.points);
  LONGS_EQUAL(10, add(0, 300, 500).points);
  LONGS_EQUAL(1, add(0, -1000, 510).points);
}

TEST(RangeDataCollator, MergesTwoLidarsUpToTheLesserStamp) {
  make(2);
  LONGS_EQUAL(0, add(0, 200, 300).clouds);
  const Result one = add(1, -1000, 310);
  DOUBLES_EQUAL(300, one.stamp, 0);
  LONGS_EQUAL(2, one.origins);
  LONGS_EQUAL(19, one.points);
  DOUBLES_EQUAL(-1000, one.first, 2);
  DOUBLES_EQUAL(0, one.last, 0);
  const Result two = add(0, 300, 500);
  DOUBLES_EQUAL(310, two.stamp, 0);
  LONGS_EQUAL(2, two.origins);
  LONGS_EQUAL(2, two.points);
  DOUBLES_EQUAL(300, two.first, 2);
  const Result three = add(0, 600, 700);
  DOUBLES_EQUAL(500, three.stamp, 0);
  DOUBLES_EQUAL(0, three.last, 0);
  LONGS_EQUAL(30, total);
  LONGS_EQUAL(1, merge->stats().forced);
}

TEST(RangeDataCollator, MergesThreeLidarsAndKeepsEachIntensity) {
  make(3);
  LONGS_EQUAL(0, add(0, 100, 200).clouds);
  LONGS_EQUAL(0, add(1, 199, 250).clouds);
  const Result one = add(2, 210, 300);
  DOUBLES_EQUAL(200, one.stamp, 0);
  LONGS_EQUAL(11, one.points);
  LONGS_EQUAL(2, one.origins);
  const Result two = add(2, 400, 500);
  DOUBLES_EQUAL(300, two.stamp, 0);
  LONGS_EQUAL(30, total);
}

// The reference cuts times to whole ticks towards zero, which puts points of 500 and 900 one tick
// later and makes its figures 16, 9 and 2.
TEST(RangeDataCollator, TakesPointsThatLieExactlyAtTheEnd) {
  make(2);
  LONGS_EQUAL(0, add(0, 0, 1000, 11).clouds);
  const Result one = add(1, 0, 500, 11);
  DOUBLES_EQUAL(500, one.stamp, 0);
  LONGS_EQUAL(17, one.points);
  const Result two = add(1, 500, 900, 5);
  DOUBLES_EQUAL(900, two.stamp, 0);
  LONGS_EQUAL(9, two.points);
  const Result three = add(0, 1000, 2000, 11);
  DOUBLES_EQUAL(1000, three.stamp, 0);
  LONGS_EQUAL(1, three.points);
}

TEST(RangeDataCollator, ALidarThatNeverComesDelaysTheOthersByOneCloud) {
  make(2);
  LONGS_EQUAL(0, add(0, 800, 900).clouds);
  for (int i = 1; i < 4; ++i) {
    const Result result = add(0, 800 + 1000 * i, 900 + 1000 * i);
    DOUBLES_EQUAL(1000 * i - 100, result.stamp, 0);
    LONGS_EQUAL(10, result.points);
  }
  LONGS_EQUAL(3, merge->stats().forced);
}

TEST(RangeDataCollator, ALidarThatIsKnownToBeGoneDelaysNobody) {
  make(2, 3);
  LONGS_EQUAL(0, add(0, 0, 100).clouds);
  LONGS_EQUAL(20, add(1, 0, 100).points);
  LONGS_EQUAL(0, add(0, 101, 200).clouds);
  const Result gone = result_of([&](auto&& emit) { merge->set_waiting(1, false, emit); });
  DOUBLES_EQUAL(200, gone.stamp, 0);
  LONGS_EQUAL(10, gone.points);
  LONGS_EQUAL(10, add(0, 201, 300).points);
  result_of([&](auto&& emit) { merge->set_waiting(1, true, emit); });
  LONGS_EQUAL(0, add(0, 301, 400).clouds);
  LONGS_EQUAL(20, add(1, 301, 400).points);
  LONGS_EQUAL(0, merge->stats().forced);
}

TEST(RangeDataCollator, WhatALidarGaveBeforeItWentIsMerged) {
  make(2, 3);
  add(1, 0, 150);
  result_of([&](auto&& emit) { merge->set_waiting(1, false, emit); });
  const Result result = add(0, 100, 200);
  DOUBLES_EQUAL(200, result.stamp, 0);
  LONGS_EQUAL(20, total);
}

TEST(RangeDataCollator, WhenAllAreGoneWhatIsHeldLeaves) {
  make(2, 3);
  add(0, 0, 100);
  add(0, 101, 200);
  result_of([&](auto&& emit) { merge->set_waiting(0, false, emit); });
  LONGS_EQUAL(0, total);
  const Result result = result_of([&](auto&& emit) { merge->set_waiting(1, false, emit); });
  DOUBLES_EQUAL(200, result.stamp, 0);
  LONGS_EQUAL(20, result.points);
}

// With the one pending cloud of the reference the slow lidar loses what it saw before `end`.
TEST(RangeDataCollator, AFasterLidarCostsASlowerOneNothingWhereCloudsEnoughAreKept) {
  make(2, 6);
  for (int turn = 0; turn < 10; ++turn) {
    const int begin = 5000 * turn;
    for (int part = 0; part < 5; ++part) {
      add(0, begin + 1000 * part + 100, begin + 1000 * part + 1000);
    }
    const Result result = add(1, begin + 50, begin + 5000);
    DOUBLES_EQUAL(begin + 5000, result.stamp, 0);
    LONGS_EQUAL(60, result.points);
  }
  LONGS_EQUAL(0, merge->stats().forced);
  LONGS_EQUAL(0, merge->stats().late);
}

TEST(RangeDataCollator, PointsAfterTheirStampAreDroppedAndNothingIsSwallowedThereafter) {
  make(1);
  TimedPointCloud cloud = cloud_of(0, 100, 5);
  cloud.points[4].time = 3e-6F;
  LONGS_EQUAL(4, add(0, cloud).points);
  LONGS_EQUAL(5, add(0, 110, 200, 5).points);
  LONGS_EQUAL(5, add(0, 210, 300, 5).points);
  LONGS_EQUAL(1, merge->stats().bad_time);
}

TEST(RangeDataCollator, PointsOutOfTheirOrderAndWithoutATimeAreDropped) {
  make(1);
  TimedPointCloud cloud = cloud_of(0, 100, 5);
  cloud.points[1].time = std::numeric_limits<float>::quiet_NaN();
  cloud.points[3].time = -1;
  LONGS_EQUAL(3, add(0, cloud).points);
  LONGS_EQUAL(2, merge->stats().bad_time);
}

TEST(RangeDataCollator, StampsNeverGoBackWithTheirInput) {
  make(1);
  DOUBLES_EQUAL(1000, add(0, 900, 1000).stamp, 0);
  LONGS_EQUAL(0, add(0, 500, 600).clouds);
  LONGS_EQUAL(0, add(0, 900, 1000).clouds);
  DOUBLES_EQUAL(1600, add(0, 1500, 1600).stamp, 0);
  LONGS_EQUAL(2, merge->stats().backward);
  LONGS_EQUAL(20, merge->stats().backward_points);
}

TEST(RangeDataCollator, ACloudStampedBeforeWhatLeftIsLate) {
  make(2);
  add(0, 0, 100);
  add(0, 101, 200);
  add(0, 201, 300);
  LONGS_EQUAL(0, add(1, 100, 190).clouds);
  LONGS_EQUAL(1, merge->stats().late_clouds);
  LONGS_EQUAL(10, merge->stats().late);
}

TEST(RangeDataCollator, AFullCloudEndsEarlyAndTheRestFollows) {
  make(2, 1, 7);
  add(0, 0, 90);
  const Result result = add(1, 5, 95);
  LONGS_EQUAL(3, result.clouds);
  LONGS_EQUAL(19, result.points);
  DOUBLES_EQUAL(90, result.stamp, 0);
  LONGS_EQUAL(2, merge->stats().cut);
}

TEST(RangeDataCollator, PointsOfOneTimeDoNotHoldAFullCloudUp) {
  make(1, 1, 3);
  LONGS_EQUAL(10, add(0, 100, 100).points);
  LONGS_EQUAL(10, add(0, 200, 200).points);
  LONGS_EQUAL(6, merge->stats().cut);
}

TEST(RangeDataCollator, APointMoreThanALidarWasSaidToHaveIsCounted) {
  make(1);
  LONGS_EQUAL(20, add(0, 0, 100, 45).points);
  LONGS_EQUAL(25, merge->stats().full);
}

TEST(RangeDataCollator, LongerCloudsThanWereToldOverflowNothing) {
  make(4);
  for (int i = 0; i < 3; ++i) add(static_cast<std::size_t>(i), 0, 100, 45);
  LONGS_EQUAL(80, add(3, 0, 100, 45).points);
  LONGS_EQUAL(100, merge->stats().full);
}

TEST(RangeDataCollator, ACloudStampedAsWhatLeftLastTakesNoPlaceForEver) {
  make(2, 1);
  add(0, 0, 100);
  add(0, 110, 200);  // what is there up to 100 leaves without the other
  add(1, 50, 100);
  add(1, 110, 150);
  const auto stats = merge->stats();
  LONGS_EQUAL(stats.clouds, stats.merged + stats.backward + stats.late_clouds + stats.held_clouds);
}

TEST(RangeDataCollator, TheEndGivesAllThatIsHeld) {
  make(3, 2);
  add(0, 0, 100);
  add(2, 0, 170);
  const Result result = result_of([&](auto&& emit) { merge->flush(emit); });
  DOUBLES_EQUAL(170, result.stamp, 0);
  LONGS_EQUAL(20, result.points);
  LONGS_EQUAL(0, merge->stats().held);
  LONGS_EQUAL(0, result_of([&](auto&& emit) { merge->flush(emit); }).clouds);
}

TEST(RangeDataCollator, IntensitiesThatACloudLacksAreZero) {
  make(1);
  TimedPointCloud cloud = cloud_of(0, 100, 2);
  cloud.has_intensity = false;
  merge->add(0, cloud, [&](const MergedCloud& merged) {
    DOUBLES_EQUAL(0, merged.points[1].intensity, 0);
    total += merged.points.size();
  });
}

// Lidars of random rates, phases, gaps and deaths, as the collator hands them on: every point
// leaves once, in order, at its own time, or is counted.
TEST(RangeDataCollator, WhateverComesNothingIsLostUncountedOrOutOfOrder) {
  UT_PRINT("seeds 1 to 50");
  for (unsigned seed = 1; seed <= 50; ++seed) {
    std::mt19937 random(seed);
    const std::size_t lidars = 1 + random() % 5;
    make(lidars, 1 + random() % 4, 5 + random() % 100);
    total = 0;
    std::vector<double> newest(lidars, 0), period(lidars), next(lidars);
    for (std::size_t i = 0; i < lidars; ++i) {
      period[i] = 300 + static_cast<double>(random() % 3000);
      next[i] = static_cast<double>(random() % 2000);
    }
    hal::Time last = hal::Time::min();
    const auto emit = [&](const MergedCloud& cloud) {
      check(cloud);
      CHECK_TRUE(cloud.at >= last);
      const hal::Time first =
          cloud.at +
          hal::from_seconds(cloud.points.empty() ? 0 : static_cast<double>(cloud.points[0].time));
      CHECK_TRUE(last == hal::Time::min() || first >= last - hal::Duration(10));
      last = cloud.at;
      total += cloud.points.size();
    };
    for (int step = 0; step < 300; ++step) {
      const auto i = static_cast<std::size_t>(std::ranges::min_element(next) - next.begin());
      const double to = next[i];
      next[i] += period[i] * (1 + static_cast<double>(random() % 100) / 1000);
      if (random() % 50 == 0) next[i] += 5 * period[i];
      merge->set_waiting(i, true, emit);
      merge->add(i, cloud_of(newest[i] + 1, to, random() % 21), emit);
      if (random() % 30 == 0) merge->set_waiting(random() % lidars, false, emit);
      newest[i] = to;
    }
    merge->flush(emit);
    check_books();
    LONGS_EQUAL(0, merge->stats().held);
    LONGS_EQUAL(0, merge->stats().backward);
  }
}

TEST(RangeDataCollator, AllocatesNothing) {
  make(3, 2);
  const TimedPointCloud a = cloud_of(0, 100), b = cloud_of(50, 150), c = cloud_of(60, 160);
  test::AllocationCounter counter;
  const auto emit = [&](const MergedCloud& cloud) { total += cloud.points.size(); };
  merge->add(0, a, emit);
  merge->add(1, b, emit);
  merge->add(2, c, emit);
  merge->flush(emit);
  LONGS_EQUAL(0, counter.count());
  LONGS_EQUAL(30, total);
}
