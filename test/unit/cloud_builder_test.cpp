#include "collation/cloud_builder.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"

using namespace std::chrono_literals;
using collation::CloudBuilder;
using collation::CloudOptions;
using collation::CloudPool;
using collation::CloudStats;
using collation::Emit;
using drivers::Beam;
using drivers::ScanSlice;
using hal::Duration;
using hal::Time;

namespace {

constexpr Duration kStep = 1ms;
constexpr float kDegree = std::numbers::pi_v<float> / 180;

std::uint64_t sum(const CloudStats& s) {
  return s.points + s.no_return + s.out_of_range + s.out_of_angle + s.weak + s.invalid + s.overlap +
         s.without_pool + s.sampled_out + s.in_box + s.shadow + s.speckle + s.decimated + s.voxel +
         s.discarded + s.held;
}

}  // namespace

TEST_GROUP(CloudBuilder) {
  CloudPool pool = collation::make_cloud_pool(8, 50, true);
  std::vector<CloudPool::Lease> clouds;
  Time now{1000s};  // of the next beam
  bool keep = true;

  static CloudOptions options(Emit emit = Emit::turn) {
    CloudOptions o;
    o.max_range = 50;
    o.emit = emit;
    return o;
  }
  void add(CloudBuilder & builder, const ScanSlice& slice) {
    builder.add(slice, keep, [&](CloudPool::Lease cloud) { clouds.push_back(std::move(cloud)); });
    LONGS_EQUAL(builder.stats().beams, sum(builder.stats()));
  }
  // Consecutive beams at `degrees`, range 2 m.
  void add(CloudBuilder & builder, const std::vector<float>& degrees, bool starts_turn = false,
           float range = 2) {
    std::vector<Beam> beams;
    for (const float d : degrees) beams.push_back({d * kDegree, range, 7});
    ScanSlice slice{.first = now, .step = kStep, .starts_turn = starts_turn, .beams = beams};
    add(builder, slice);
    now += kStep * static_cast<std::int64_t>(beams.size());
  }
  void check_cloud(std::size_t i, std::size_t beams, Time first) {
    CHECK_TRUE(i < clouds.size());
    LONGS_EQUAL(beams, clouds[i]->beam_count);
    CHECK_TRUE(clouds[i]->first == first);
    CHECK_TRUE(clouds[i]->at == first + kStep * (static_cast<std::int64_t>(beams) - 1));
  }
};

TEST(CloudBuilder, CutsATurnAlsoWhenTheAnglesCountOn) {
  CloudBuilder builder(options(), pool);
  add(builder, {-300, -320, -340});
  add(builder, {-350, -365, -385}, true);  // clockwise, unwrapped within the slice
  LONGS_EQUAL(1, clouds.size());
  LONGS_EQUAL(4, clouds[0]->beam_count);
}

TEST(CloudBuilder, ATurnMayBeAnnouncedOneSliceEarly) {
  CloudBuilder builder(options(), pool);
  add(builder, {300, 320, 340});
  add(builder, {350, 355, 358}, true);
  LONGS_EQUAL(0, clouds.size());
  add(builder, {359, 1, 3});
  LONGS_EQUAL(1, clouds.size());
  LONGS_EQUAL(7, clouds[0]->beam_count);
}

TEST(CloudBuilder, SlicesThatAreNotKeptStillTurn) {
  CloudBuilder builder(options(), pool);
  add(builder, {0, 90}, true);
  keep = false;
  add(builder, {180, 270});
  add(builder, {0, 90}, true);
  keep = true;
  add(builder, {180, 270});
  add(builder, {0, 90}, true);
  LONGS_EQUAL(2, clouds.size());
  LONGS_EQUAL(2, clouds[0]->points.size());
  LONGS_EQUAL(4, clouds[0]->beam_count);
  LONGS_EQUAL(4, builder.stats().sampled_out);
}

TEST(CloudBuilder, ACloudOfNothingKeptIsNotEmitted) {
  CloudBuilder builder(options(Emit::chunk), pool);
  keep = false;
  add(builder, {0, 90});
  LONGS_EQUAL(0, clouds.size());
  keep = true;
  add(builder, {180, 270});
  LONGS_EQUAL(1, clouds.size());
}

TEST(CloudBuilder, CutsATurnAtTheBeamThatPassesTheBoundary) {
  CloudBuilder builder(options(), pool);
  const Time start = now;
  add(builder, {300, 320, 340});
  add(builder, {355, 5, 25}, true);
  LONGS_EQUAL(1, clouds.size());
  check_cloud(0, 4, start);
  add(builder, {180, 200});
  add(builder, {350, 358}, false);
  add(builder, {1}, true);
  LONGS_EQUAL(2, clouds.size());
  check_cloud(1, 6, start + 4 * kStep);
}

TEST(CloudBuilder, ATurnBeginsAtTheBeamThatItsDeviceNamesWhereverTheAnglesJump) {
  CloudBuilder builder(options(), pool);
  add(builder, {300, 320, 340});
  std::vector<Beam> beams;
  for (const float d : {352.F, 354.F, 356.F, 1.F, 359.F}) beams.push_back({d * kDegree, 2, 7});
  add(builder,
      ScanSlice{.first = now, .step = kStep, .starts_turn = true, .turn_at = 1, .beams = beams});
  LONGS_EQUAL(1, clouds.size());
  check_cloud(0, 4, Time{1000s});
  now += 5 * kStep;
  add(builder, {2, 6, 10});
  LONGS_EQUAL(1, clouds.size());
}

TEST(CloudBuilder, SeesTheJumpBetweenTwoSlices) {
  CloudBuilder builder(options(), pool);
  const Time start = now;
  add(builder, {300, 320, 340});
  add(builder, {2, 5, 25}, true);
  check_cloud(0, 3, start);
}

TEST(CloudBuilder, CutsClockwiseDevicesAndKeepsTheirOrder) {
  CloudBuilder builder(options(), pool);
  const Time start = now;
  add(builder, {60, 40, 20});
  add(builder, {5, 359, 340}, true);
  check_cloud(0, 4, start);
  for (std::size_t i = 1; i < 4; ++i) {
    CHECK_TRUE(clouds[0]->beams[i].angle < clouds[0]->beams[i - 1].angle);
    CHECK_TRUE(clouds[0]->points[i].time > clouds[0]->points[i - 1].time);
  }
}

TEST(CloudBuilder, CutsAtTheFirstBeamWhenNoAngleJumps) {
  CloudBuilder builder(options(), pool);
  const Time start = now;
  add(builder, {-20, -10});
  add(builder, {0, 10, 20}, true);
  check_cloud(0, 2, start);
}

TEST(CloudBuilder, IgnoresAJumpWithoutATurn) {
  CloudBuilder builder(options(), pool);
  add(builder, {179, -179, 0});
  add(builder, {355, 5, 25});
  LONGS_EQUAL(0, clouds.size());
}

TEST(CloudBuilder, TheStampDoesNotDependOnReturns) {
  CloudBuilder builder(options(), pool);
  const Time start = now;
  add(builder, {0}, false, 0);
  add(builder, {10, 20});
  add(builder, {30, 40}, false, 0);
  add(builder, {359}, false, 60);
  add(builder, {1}, true);
  check_cloud(0, 6, start);
  LONGS_EQUAL(2, clouds[0]->points.size());
  DOUBLES_EQUAL(-0.004, clouds[0]->points[0].time, 1e-9);
  DOUBLES_EQUAL(-0.003, clouds[0]->points[1].time, 1e-9);
  LONGS_EQUAL(3, builder.stats().no_return);
  LONGS_EQUAL(1, builder.stats().out_of_range);
}

TEST(CloudBuilder, ALidarThatSeesNothingStillGivesClouds) {
  CloudBuilder builder(options(), pool);
  add(builder, {0, 120, 240}, false, 0);
  add(builder, {0, 120, 240}, true, 0);
  LONGS_EQUAL(1, clouds.size());
  LONGS_EQUAL(0, clouds[0]->points.size());
  LONGS_EQUAL(3, clouds[0]->beams.size());
}

TEST(CloudBuilder, TheLastPointOfACloudHasTimeZero) {
  CloudBuilder builder(options(Emit::chunk), pool);
  add(builder, {0, 1, 2});
  CHECK_EQUAL(0.0F, clouds[0]->points[2].time);
  DOUBLES_EQUAL(-0.002, clouds[0]->points[0].time, 1e-10);
  CHECK_TRUE(clouds[0]->step == kStep);
}

TEST(CloudBuilder, ChunksAreTheSlices) {
  CloudBuilder builder(options(Emit::chunk), pool);
  const Time start = now;
  add(builder, {340, 350, 10}, true);
  add(builder, {20});
  LONGS_EQUAL(2, clouds.size());
  check_cloud(0, 3, start);
  check_cloud(1, 1, start + 3 * kStep);
  CHECK_TRUE(clouds[1]->step == kStep);
}

TEST(CloudBuilder, AWholeScanIsATurnAtOnce) {
  CloudOptions o = options();
  o.slice_is_turn = true;
  CloudBuilder builder(o, pool);
  const Time start = now;
  add(builder, {-135, 0, 135}, true);
  LONGS_EQUAL(1, clouds.size());
  check_cloud(0, 3, start);
}

TEST(CloudBuilder, DividesAWholeScanByTime) {
  CloudOptions o = options(Emit::subdivisions);
  o.subdivisions = 3;
  o.slice_is_turn = true;
  CloudBuilder builder(o, pool);
  const Time start = now;
  add(builder, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}, true);
  LONGS_EQUAL(3, clouds.size());
  check_cloud(0, 4, start);
  check_cloud(1, 3, start + 4 * kStep);
  check_cloud(2, 3, start + 7 * kStep);
}

TEST(CloudBuilder, DividesATurnByTheTimeOfTheTurnBefore) {
  CloudOptions o = options(Emit::subdivisions);
  o.subdivisions = 2;
  o.turn = 100ms;  // nominal; the turns here take 11 ms
  CloudBuilder builder(o, pool);
  const Time start = now;
  for (int turn = 0; turn < 4; ++turn) {
    add(builder, {0, 30, 60, 90}, true);
    add(builder, {120, 150, 180, 210});
    add(builder, {240, 270, 300});
  }
  LONGS_EQUAL(6, clouds.size());
  check_cloud(0, 11, start);  // the length of a turn was not known yet
  check_cloud(1, 6, start + 11 * kStep);
  check_cloud(2, 5, start + 17 * kStep);
  check_cloud(3, 6, start + 22 * kStep);
  check_cloud(4, 5, start + 28 * kStep);
  check_cloud(5, 6, start + 33 * kStep);
}

TEST(CloudBuilder, TheLastPartLastsUntilTheTurnEnds) {
  CloudOptions o = options(Emit::subdivisions);
  o.subdivisions = 2;
  o.turn = 4ms;
  CloudBuilder builder(o, pool);
  add(builder, {0}, true);
  add(builder, {60, 120, 180, 240, 300});  // slower than nominal
  add(builder, {0}, true);
  LONGS_EQUAL(2, clouds.size());
  LONGS_EQUAL(2, clouds[0]->beam_count);
  LONGS_EQUAL(4, clouds[1]->beam_count);
}

TEST(CloudBuilder, ATurnBeyondItsCapacityIsCutWithoutLoss) {
  CloudPool small = collation::make_cloud_pool(8, 4, false);
  {
    CloudBuilder builder(options(), small);
    add(builder, {0, 1, 2, 3, 4, 5}, true);
    add(builder, {10, 11, 12, 13, 300});
    add(builder, {0}, true);
    LONGS_EQUAL(3, clouds.size());
    LONGS_EQUAL(4, clouds[0]->points.size());
    LONGS_EQUAL(4, clouds[1]->points.size());
    LONGS_EQUAL(3, clouds[2]->points.size());
    LONGS_EQUAL(2, builder.stats().points_full);
    LONGS_EQUAL(11, builder.stats().points);
    LONGS_EQUAL(1, builder.stats().held);
    CHECK_TRUE(clouds[1]->first == clouds[0]->at + kStep);
  }
  clouds.clear();
}

TEST(CloudBuilder, ATurnThatFitsExactlyIsNotCounted) {
  CloudPool small = collation::make_cloud_pool(8, 4, false);
  {
    CloudBuilder builder(options(), small);
    add(builder, {0, 90, 180, 270}, true);
    add(builder, {0, 90, 180, 270}, true);
    LONGS_EQUAL(1, clouds.size());
    LONGS_EQUAL(0, builder.stats().points_full);
  }
  clouds.clear();
}

TEST(CloudBuilder, BeamsAreKeptOnlyWhenAskedFor) {
  CloudPool bare = collation::make_cloud_pool(1, 4, false);
  {
    CloudBuilder builder(options(Emit::chunk), bare);
    add(builder, {0, 1});
    LONGS_EQUAL(0, clouds[0]->beams.size());
    LONGS_EQUAL(2, clouds[0]->beam_count);
  }
  clouds.clear();
  CHECK_TRUE(collation::cloud_pool_bytes(1, 4, true) > collation::cloud_pool_bytes(1, 4, false));
}

TEST(CloudBuilder, CountsCloudsAndBeamsWithoutAPool) {
  CloudPool one = collation::make_cloud_pool(1, 10, false);
  {
    CloudBuilder builder(options(Emit::chunk), one);
    add(builder, {0, 1});
    add(builder, {2, 3, 4});
    LONGS_EQUAL(1, clouds.size());
    LONGS_EQUAL(1, builder.stats().clouds_without_pool);
    LONGS_EQUAL(3, builder.stats().without_pool);
    clouds.clear();
    add(builder, {5});
    LONGS_EQUAL(1, clouds.size());
  }
  clouds.clear();
}

// A clock that is being learnt, or scans whose nominal length exceeds the real gap.
TEST(CloudBuilder, ASliceThatBeginsTooEarlyIsSqueezedBehindTheLastBeam) {
  CloudBuilder builder(options(Emit::chunk), pool);
  const Time start = now;
  add(builder, {0, 1, 2, 3});
  now -= kStep + 200us;  // the first beam would be 200 us before the last one
  add(builder, {4, 5, 6, 7});
  LONGS_EQUAL(0, builder.stats().overlap);
  LONGS_EQUAL(1, builder.stats().squeezed);
  LONGS_EQUAL(4, clouds[1]->points.size());
  CHECK_TRUE(clouds[1]->step == 700us);
  CHECK_TRUE(clouds[1]->first == start + 3 * kStep + 700us);
  CHECK_TRUE(clouds[1]->at == start + 3 * kStep + 2800us);
}

TEST(CloudBuilder, ABeamAtTheLastStampIsMovedBehindIt) {
  CloudBuilder builder(options(Emit::chunk), pool);
  add(builder, {0, 1, 2});
  now -= kStep;
  add(builder, {3, 4});
  LONGS_EQUAL(0, builder.stats().overlap);
  CHECK_TRUE(clouds[1]->first == clouds[0]->at + kStep / 2);
  CHECK_TRUE(clouds[1]->at == clouds[0]->at + kStep);
}

TEST(CloudBuilder, OverlapsOfMoreThanHalfASliceAreDropped) {
  CloudBuilder builder(options(Emit::chunk), pool);
  const Time start = now;
  add(builder, {0, 1, 2, 3});
  now = start + kStep + 500us;
  add(builder, {3, 4, 5});  // two of them in the past
  LONGS_EQUAL(2, builder.stats().overlap);
  LONGS_EQUAL(0, builder.stats().squeezed);
  check_cloud(1, 1, start + 3 * kStep + 500us);
  now = start;
  add(builder, {6, 7});
  LONGS_EQUAL(2, clouds.size());
  LONGS_EQUAL(4, builder.stats().overlap);
}

TEST(CloudBuilder, ScansWhoseNominalLengthExceedsTheRealGapNeverOverlap) {
  CloudOptions o = options();
  o.slice_is_turn = true;
  CloudBuilder builder(o, pool);
  for (int scan = 0; scan < 8; ++scan) {
    now = Time{1000s} + 9ms * scan;  // of nominally 10 ms
    add(builder, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, true);
  }
  LONGS_EQUAL(0, builder.stats().overlap);
  LONGS_EQUAL(7, builder.stats().squeezed);
  for (std::size_t i = 1; i < clouds.size(); ++i) {
    CHECK_TRUE(clouds[i]->first > clouds[i - 1]->at);
    CHECK_TRUE(clouds[i]->at == Time{1000s} + 9ms * static_cast<std::int64_t>(i) + 10 * kStep);
    LONGS_EQUAL(11, clouds[i]->points.size());
  }
}

TEST(CloudBuilder, APauseOfMoreThanATurnEndsTheCloud) {
  CloudBuilder builder(options(), pool);
  const Time start = now;
  add(builder, {0, 1, 2});
  now += 100ms;
  add(builder, {3, 4, 5});
  LONGS_EQUAL(1, clouds.size());
  check_cloud(0, 3, start);
  LONGS_EQUAL(1, builder.stats().gaps);
}

TEST(CloudBuilder, AShortPauseDoesNot) {
  CloudBuilder builder(options(), pool);
  add(builder, {0, 1, 2});
  now += 90ms;
  add(builder, {3, 4, 5});
  LONGS_EQUAL(0, clouds.size());
}

TEST(CloudBuilder, RecoversFromOneStampFarInTheFuture) {
  CloudBuilder builder(options(Emit::chunk), pool);
  add(builder, {0, 1});
  const Time good = now;
  now += 1h;
  add(builder, {2, 3});
  now = good;
  add(builder, {4, 5});
  add(builder, {6, 7});
  LONGS_EQUAL(4, clouds.size());
  LONGS_EQUAL(0, builder.stats().overlap);
}

TEST(CloudBuilder, OpenFloorIsTheEarliestStampThatMayStillCome) {
  CloudBuilder builder(options(), pool);
  CHECK_TRUE(builder.open_floor() == Time::min());
  add(builder, {0, 1, 2});
  CHECK_TRUE(builder.open_floor() == now - kStep);
  add(builder, {200}, true);
  CHECK_TRUE(clouds[0]->at == now - 2 * kStep);
  CloudBuilder chunks(options(Emit::chunk), pool);
  add(chunks, {0, 1, 2});
  CHECK_TRUE(chunks.open_floor() == now - kStep + 1ns);
}

TEST(CloudBuilder, ResetForgetsTheOpenCloudAndFlushEmitsIt) {
  CloudBuilder builder(options(), pool);
  const Time start = now;
  add(builder, {0, 1, 2});
  LONGS_EQUAL(3, builder.stats().held);
  builder.reset();
  LONGS_EQUAL(3, builder.stats().discarded);
  LONGS_EQUAL(0, builder.stats().held);
  add(builder, {3, 4});
  const auto emit = [&](CloudPool::Lease cloud) { clouds.push_back(std::move(cloud)); };
  builder.flush(emit);
  builder.flush(emit);
  LONGS_EQUAL(1, clouds.size());
  check_cloud(0, 2, start + 3 * kStep);
}

TEST(CloudBuilder, AStepOfZeroLosesNothing) {
  CloudBuilder builder(options(Emit::chunk), pool);
  const Beam beams[] = {{0, 1, 0}, {1, 1, 0}, {2, 1, 0}};
  add(builder, ScanSlice{.first = now, .beams = beams});
  add(builder, ScanSlice{.first = now, .beams = beams});
  add(builder, ScanSlice{.first = now + 1ms, .beams = beams});
  LONGS_EQUAL(2, clouds.size());
  LONGS_EQUAL(3, builder.stats().overlap);
  CHECK_EQUAL(0.F, clouds[0]->points[0].time);
}

TEST(CloudBuilder, KeepsTheDeviceStampOfTheFirstBeamsSlice) {
  CloudBuilder builder(options(), pool);
  const Beam beams[] = {{0, 1, 0}};
  add(builder, ScanSlice{.first = now, .step = kStep, .device_ns = 42, .beams = beams});
  add(builder, ScanSlice{.first = now + 1ms, .step = kStep, .device_ns = 43, .beams = beams});
  builder.flush([&](CloudPool::Lease cloud) { clouds.push_back(std::move(cloud)); });
  LONGS_EQUAL(42, *clouds[0]->device_ns);
}

// However slices are lost, doubled or shifted: clouds follow one another, books balance, nothing
// is allocated, and open_floor() holds.
TEST(CloudBuilder, KeepsItsPromisesOverAnySlices) {
  const unsigned seed = std::random_device{}();
  std::printf("\nCloudBuilder promises seed %u ", seed);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return std::uniform_int_distribution<>(0, n - 1)(random); };
  for (int round = 0; round < 100; ++round) {
    CloudOptions o = options(static_cast<Emit>(pick(3)));
    o.subdivisions = 1 + pick(5);
    o.slice_is_turn = pick(4) == 0;
    o.turn = 30ms;
    CloudBuilder builder(o, pool);
    Time last = Time::min(), floor = Time::min();
    std::uint64_t emitted = 0;
    std::vector<Beam> beams(20, Beam{0, 1, 0});
    float angle = 0;
    test::AllocationCounter allocations;
    for (int i = 0; i < 300; ++i) {
      const auto n = static_cast<std::size_t>(1 + pick(20));
      const float before = angle;
      for (std::size_t b = 0; b < n; ++b) {
        angle = std::fmod(angle + 12 * kDegree, 360 * kDegree);
        beams[b] = {angle, static_cast<float>(pick(3)), 0};
      }
      const ScanSlice slice{.first = now + kStep * (pick(10) == 0 ? pick(20) - 12 : 0),
                            .step = kStep,
                            .starts_turn = angle < before,
                            .beams = std::span(beams).first(n)};
      now += kStep * static_cast<std::int64_t>(n);
      if (pick(20) == 0) continue;
      builder.add(slice, true, [&](CloudPool::Lease cloud) {
        CHECK_TRUE(cloud->first > last);
        CHECK_TRUE(cloud->at >= floor);
        CHECK_TRUE(cloud->at >= cloud->first);
        CHECK_TRUE(cloud->beams.size() == cloud->beam_count && cloud->beam_count > 0);
        for (const auto& point : cloud->points.view()) CHECK_TRUE(point.time <= 0);
        last = cloud->at;
        emitted += cloud->points.size();
      });
      CHECK_TRUE(builder.open_floor() >= floor);
      floor = builder.open_floor();
    }
    LONGS_EQUAL(0, allocations.count());
    LONGS_EQUAL(builder.stats().beams, sum(builder.stats()));
    builder.reset();
    LONGS_EQUAL(builder.stats().points, emitted);
    LONGS_EQUAL(0, builder.stats().without_pool);
  }
}
