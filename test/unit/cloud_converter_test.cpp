// Beams to points, seen through the builder that uses the converter. The cases of Cartographer's
// conversion (cartographer_ros msg_conversion.cc and sensor_bridge.cc) are among them.
#include "collation/cloud_converter.h"

#include <cmath>
#include <cstdio>
#include <limits>
#include <random>
#include <vector>

#include "collation/cloud_builder.h"
#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;
using collation::CloudBuilder;
using collation::CloudOptions;
using collation::CloudPool;
using collation::EchoChoice;
using collation::Emit;
using drivers::Beam;
using drivers::Echo;
using drivers::ScanSlice;
using hal::Duration;
using hal::Time;

namespace {

constexpr Duration kStep = 1ms;
constexpr float kPi = std::numbers::pi_v<float>, kDegree = kPi / 180;
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr float kInfinite = std::numeric_limits<float>::infinity();

}  // namespace

TEST_GROUP(CloudConverter) {
  CloudPool pool = collation::make_cloud_pool(16, 100, true);
  std::vector<CloudPool::Lease> clouds;
  Time now{1000s};  // of the next beam

  static CloudOptions options(Emit emit = Emit::chunk) {
    CloudOptions o;
    o.max_range = 50;
    o.emit = emit;
    return o;
  }
  void add(CloudBuilder & builder, const ScanSlice& slice) {
    builder.add(slice, true, [&](CloudPool::Lease cloud) { clouds.push_back(std::move(cloud)); });
    now = slice.last() + kStep;
  }
  void add_beams(CloudBuilder & builder, const std::vector<Beam>& beams, bool starts_turn = false) {
    add(builder, ScanSlice{.first = now,
                           .step = kStep,
                           .starts_turn = starts_turn,
                           .has_intensity = true,
                           .beams = beams});
  }
  void add(CloudBuilder & builder, const std::vector<float>& degrees, bool starts_turn = false,
           float range = 2) {
    std::vector<Beam> beams;
    for (const float d : degrees) beams.push_back({d * kDegree, range, 7});
    add(builder,
        ScanSlice{.first = now, .step = kStep, .starts_turn = starts_turn, .beams = beams});
  }
  void check_position(double x, double y, double z, std::size_t point, std::size_t cloud = 0) {
    const Eigen::Vector3f& p = clouds[cloud]->points[point].position;
    DOUBLES_EQUAL(x, p.x(), 1e-6);
    DOUBLES_EQUAL(y, p.y(), 1e-6);
    DOUBLES_EQUAL(z, p.z(), 1e-6);
  }
};

TEST(CloudConverter, KeepsTheWindowBothEndsIncluded) {
  CloudOptions o = options(Emit::chunk);
  o.min_range = 1;
  o.max_range = 3;
  o.windows = {{-45 * kDegree, 90 * kDegree}};
  CloudBuilder builder(o, pool);
  add(builder, {-45, 0, 45, 315, 405, 675, 46, -46, 180});
  LONGS_EQUAL(6, clouds[0]->points.size());
  LONGS_EQUAL(3, builder.stats().out_of_angle);
  for (const float range : {1.F, 3.F, 0.99F, 3.01F}) add(builder, {0}, false, range);
  LONGS_EQUAL(2, builder.stats().out_of_range);
}

TEST(CloudConverter, DropsWeakReturnsOnlyWhereThereAreIntensities) {
  CloudOptions o = options(Emit::chunk);
  o.min_intensity = 8;
  CloudBuilder builder(o, pool);
  const Beam beams[] = {{0, 1, 7}, {0, 1, 8}};
  add(builder, ScanSlice{.first = now, .step = kStep, .has_intensity = true, .beams = beams});
  add(builder, ScanSlice{.first = now + 1s, .step = kStep, .beams = beams});
  LONGS_EQUAL(1, builder.stats().weak);
  LONGS_EQUAL(1, clouds[0]->points.size());
  CHECK_EQUAL(8.F, clouds[0]->points[0].intensity);
  CHECK_TRUE(clouds[0]->has_intensity);
  CHECK_FALSE(clouds[1]->has_intensity);
  LONGS_EQUAL(2, clouds[1]->points.size());
}

TEST(CloudConverter, CountsBeamsThatAreNoMeasurement) {
  CloudBuilder builder(options(Emit::chunk), pool);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinite = std::numeric_limits<float>::infinity();
  const Beam beams[] = {{0, nan, 0}, {nan, 1, 0}, {0, infinite, 0}, {0, -1, 0}, {0, 1, 0}};
  add(builder, ScanSlice{.first = now, .step = kStep, .beams = beams});
  LONGS_EQUAL(4, builder.stats().invalid);
  add(builder, ScanSlice{.first = now + 1s, .step = -kStep, .beams = beams});
  LONGS_EQUAL(9, builder.stats().invalid);
  add(builder, ScanSlice{.first = now + 1s, .step = kStep, .beams = {}});
  LONGS_EQUAL(1, clouds.size());
}

TEST(CloudConverter, PutsPointsIntoTheTrackingFrame) {
  CloudOptions o = options(Emit::chunk);
  o.tracking_from_sensor = Eigen::Translation3f(0.5F, -0.25F, 0.1F) *
                           Eigen::AngleAxisf(90 * kDegree, Eigen::Vector3f::UnitZ());
  CloudBuilder builder(o, pool);
  add(builder, {0, 90});
  const Eigen::Vector3f ahead(0.5F, 1.75F, 0.1F), left(-1.5F, -0.25F, 0.1F);
  CHECK_TRUE(clouds[0]->points[0].position.isApprox(ahead, 1e-6F));
  CHECK_TRUE(clouds[0]->points[1].position.isApprox(left, 1e-6F));
  CHECK_TRUE(clouds[0]->origin == Eigen::Vector3f(0.5F, -0.25F, 0.1F));
}

TEST(CloudConverter, IsExactWithinTenMicrometresAtThirtyMetres) {
  const unsigned seed = std::random_device{}();
  std::printf("\nCloudConverter exactness seed %u ", seed);
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> turn(-20, 20), unit(-1, 1);
  for (int round = 0; round < 200; ++round) {
    clouds.clear();
    CloudOptions o = options(Emit::chunk);
    o.tracking_from_sensor =
        Eigen::Translation3f(unit(random), unit(random), unit(random)) *
        Eigen::AngleAxisf(3 * unit(random),
                          Eigen::Vector3f(unit(random), unit(random), 1).normalized());
    CloudBuilder builder(o, pool);
    std::vector<Beam> beams;
    for (int i = 0; i < 50; ++i) beams.push_back({turn(random), 30, 0});
    add(builder, ScanSlice{.first = now, .step = kStep, .beams = beams});
    const Eigen::Isometry3d exact = o.tracking_from_sensor.cast<double>();
    for (std::size_t i = 0; i < beams.size(); ++i) {
      const double angle = static_cast<double>(beams[i].angle);
      const Eigen::Vector3d expected =
          exact * Eigen::Vector3d(30 * std::cos(angle), 30 * std::sin(angle), 0);
      const Eigen::Vector3d actual = clouds[0]->points[i].position.cast<double>();
      CHECK_TRUE((actual - expected).norm() < 10e-6);
    }
  }
}

TEST(CloudConverter, OfRaysOutsideTheWindowsTheScanKnowsNothing) {
  CloudOptions o = options(Emit::chunk);
  o.windows = {{.from = -kPi / 2, .width = kPi}};
  CloudBuilder builder(o, pool);
  constexpr float kBehind = kPi;
  add_beams(builder, {{0, 0, 7}, {0, 60, 7}, {kBehind, 0, 7}, {kBehind, 60, 7}, {kBehind, 2, 7}});
  const auto& beams = clouds.at(0)->beams;
  DOUBLES_EQUAL(0, beams[0].range, 0);   // no return
  DOUBLES_EQUAL(60, beams[1].range, 0);  // out of range
  for (std::size_t i = 2; i < 5; ++i) CHECK_TRUE(std::isnan(beams[i].range));
}

// Whatever was remembered of other turns: a point is where its own angle and range put it.
TEST(CloudConverter, AGridOfAnglesChangesNothingInThePoints) {
  for (const Emit emit : {Emit::turn, Emit::subdivisions, Emit::chunk}) {
    CloudOptions o = options(emit);
    o.subdivisions = emit == Emit::subdivisions ? 3 : 1;
    CloudBuilder builder(o, pool);
    for (const float shift : {0.F, 0.F, 1.F, 0.F}) {
      clouds.clear();
      add(builder, {shift, 20 + shift, 40 + shift}, true, 3);
      add(builder, {180 + shift, 200 + shift}, false, 4);
      for (const auto& cloud : clouds) {
        LONGS_EQUAL(cloud->beams.size(), cloud->points.size());
        for (std::size_t i = 0; i < cloud->points.size(); ++i) {
          const Beam& beam = cloud->beams[i];
          DOUBLES_EQUAL(beam.range * std::cos(beam.angle), cloud->points[i].position.x(), 1e-6);
          DOUBLES_EQUAL(beam.range * std::sin(beam.angle), cloud->points[i].position.y(), 1e-6);
        }
      }
    }
    CHECK_FALSE(clouds.empty());
  }
}

// Case LaserScanToPointCloud.
TEST(CloudConverter, EightBeamsOfOneMetreLieOnTheUnitCircle) {
  CloudBuilder builder(options(), pool);
  std::vector<Beam> beams;
  for (int i = 0; i < 8; ++i) beams.push_back({static_cast<float>(i) * kPi / 4, 1, 0});
  add(builder, ScanSlice{.first = now, .beams = beams});
  LONGS_EQUAL(8, clouds[0]->points.size());
  for (std::size_t i = 0; i < 8; ++i) {
    const double angle = static_cast<double>(i) * std::numbers::pi / 4;
    check_position(std::cos(angle), std::sin(angle), 0, i);
    CHECK_EQUAL(0.F, clouds[0]->points[i].time);
  }
}

// Case LaserScanToPointCloudWithInfinityAndNaN.
TEST(CloudConverter, InfiniteAndNotANumberGiveNoPoints) {
  CloudOptions o = options();
  o.min_range = 2;
  o.max_range = 10;
  CloudBuilder builder(o, pool);
  const std::vector<Beam> beams{
      {0, 1, 0}, {kPi / 4, kInfinite, 0}, {kPi / 2, 2, 0}, {3 * kPi / 4, kNan, 0}, {kPi, 3, 0}};
  add_beams(builder, beams);
  LONGS_EQUAL(2, clouds[0]->points.size());
  check_position(0, 2, 0, 0);
  check_position(-3, 0, 0, 1);
  LONGS_EQUAL(1, builder.stats().out_of_range);
  LONGS_EQUAL(2, builder.stats().invalid);
}

TEST(CloudConverter, AnInfiniteLimitLetsNoInfiniteRangeIn) {
  CloudOptions o = options();
  o.max_range = kInfinite;
  CloudBuilder builder(o, pool);
  add_beams(builder, {{0, kInfinite, 0}, {0, 1e6F, 0}});
  LONGS_EQUAL(1, clouds[0]->points.size());
  LONGS_EQUAL(1, builder.stats().invalid);
}

TEST(CloudConverter, ZeroIsNoReturnAlsoWithoutALeastRange) {
  CloudBuilder builder(options(), pool);
  add_beams(builder, {{0, 0, 0}, {0, -0.F, 0}, {0, 1e-6F, 0}});
  LONGS_EQUAL(1, clouds[0]->points.size());
  LONGS_EQUAL(2, builder.stats().no_return);
}

// Ten beams 10 ms apart, the last two without return: 90 ms, not 70.
TEST(CloudConverter, TheStampIsTheLastBeamsWhateverReturned) {
  CloudBuilder builder(options(), pool);
  std::vector<Beam> beams(10, Beam{0, 1, 0});
  beams[8].range = beams[9].range = 0;
  const Time first = now;
  add(builder, ScanSlice{.first = first, .step = 10ms, .beams = beams});
  CHECK_TRUE(clouds[0]->at == first + 90ms);
  DOUBLES_EQUAL(-0.02, clouds[0]->points[7].time, 1e-9);
}

TEST(CloudConverter, AScanOfOneBeamIsACloud) {
  CloudOptions o = options(Emit::turn);
  o.slice_is_turn = true;
  CloudBuilder builder(o, pool);
  add(builder, {90}, true);
  LONGS_EQUAL(1, clouds.size());
  check_position(0, 2, 0, 0);
  CHECK_TRUE(clouds[0]->at == clouds[0]->first);
  CHECK_EQUAL(0.F, clouds[0]->points[0].time);
}

TEST(CloudConverter, DecreasingAnglesKeepTheirOrderInTime) {
  CloudBuilder builder(options(), pool);
  add(builder, {90, 0, -90});
  check_position(0, 2, 0, 0);
  check_position(0, -2, 0, 2);
  DOUBLES_EQUAL(-0.002, clouds[0]->points[0].time, 1e-9);
  CHECK_EQUAL(0.F, clouds[0]->points[2].time);
}

TEST(CloudConverter, AScanWithoutAnyValidBeamIsAnEmptyCloudWithItsStamp) {
  CloudOptions o = options(Emit::turn);
  o.slice_is_turn = true;
  CloudBuilder builder(o, pool);
  const Time first = now;
  add_beams(builder, {{0, 0, 0}, {0, kNan, 0}, {kNan, 1, 0}, {0, 60, 0}}, true);
  LONGS_EQUAL(1, clouds.size());
  LONGS_EQUAL(0, clouds[0]->points.size());
  CHECK_TRUE(clouds[0]->at == first + 3 * kStep);
}

// Beams without times: a subdivision would lose all but its first part there.
TEST(CloudConverter, WithoutTimesSubdivisionsLoseNothing) {
  CloudOptions o = options(Emit::subdivisions);
  o.subdivisions = 10;
  o.slice_is_turn = true;
  CloudBuilder builder(o, pool);
  const std::vector<Beam> beams(100, Beam{0, 1, 0});
  add(builder, ScanSlice{.first = now, .beams = beams});
  std::size_t points = 0;
  for (const auto& cloud : clouds) points += cloud->points.size();
  LONGS_EQUAL(100, points);
}

TEST(CloudConverter, SubdivisionsAreCutByTimeAlsoWhereBeamsDidNotReturn) {
  CloudOptions o = options(Emit::subdivisions);
  o.subdivisions = 5;
  o.slice_is_turn = true;
  CloudBuilder builder(o, pool);
  std::vector<Beam> beams(25, Beam{0, 1, 0});
  for (std::size_t i = 0; i < 10; ++i) beams[i].range = 0;
  add(builder, ScanSlice{.first = now, .step = kStep, .beams = beams});
  LONGS_EQUAL(5, clouds.size());
  for (std::size_t i = 0; i < 5; ++i) {
    LONGS_EQUAL(5, clouds[i]->beam_count);
    LONGS_EQUAL(i < 2 ? 0 : 5, clouds[i]->points.size());
    if (i >= 2) CHECK_EQUAL(0.F, clouds[i]->points[4].time);
  }
}

TEST(CloudConverter, IntensitiesReachThePoints) {
  CloudBuilder builder(options(), pool);
  add_beams(builder, {{0, 1, 10}, {0, 0, 20}, {0, 1, 30}});
  CHECK_TRUE(clouds[0]->has_intensity);
  CHECK_EQUAL(10.F, clouds[0]->points[0].intensity);
  CHECK_EQUAL(30.F, clouds[0]->points[1].intensity);
}

TEST(CloudConverter, WithoutIntensitiesWhatStandsThereIsNotLookedAt) {
  CloudOptions o = options();
  o.min_intensity = 5;
  CloudBuilder builder(o, pool);
  const Beam beams[] = {{0, 1, kNan}, {0, 1, 0}};
  add(builder, ScanSlice{.first = now, .step = kStep, .beams = beams});
  LONGS_EQUAL(2, clouds[0]->points.size());
  CHECK_EQUAL(0.F, clouds[0]->points[0].intensity);
}

TEST(CloudConverter, ABeamInAnyOfSeveralWindowsStays) {
  CloudOptions o = options();
  o.windows = {{170 * kDegree, 20 * kDegree}, {-10 * kDegree, 20 * kDegree}};
  CloudBuilder builder(o, pool);
  add(builder, {0, 9, 11, 90, 169, 171, 180, -180, -171, -169, 360, 540});
  LONGS_EQUAL(8, clouds[0]->points.size());
  LONGS_EQUAL(4, builder.stats().out_of_angle);
}

TEST(CloudConverter, AWindowOfAWholeTurnHoldsEveryAngle) {
  CloudOptions o = options();
  o.windows = {{-180 * kDegree, 360 * kDegree}};
  CloudBuilder builder(o, pool);
  for (int degree = -720; degree <= 720; ++degree) add(builder, {static_cast<float>(degree)});
  LONGS_EQUAL(0, builder.stats().out_of_angle);
}

// The scan that is given out beside the points.
TEST(CloudConverter, TheBeamsShowWhatTheWindowTook) {
  CloudOptions o = options();
  o.max_range = 5;
  o.min_intensity = 5;
  o.windows = {{-kPi / 2, kPi}};
  CloudBuilder builder(o, pool);
  add_beams(builder, {{0, 1, 9}, {0, 0, 9}, {0, 6, 9}, {kPi, 1, 9}, {0, 1, 1}, {0, -1, 9}});
  const auto& beams = clouds[0]->beams;
  LONGS_EQUAL(6, beams.size());
  CHECK_EQUAL(1.F, beams[0].range);
  CHECK_EQUAL(0.F, beams[1].range);
  CHECK_EQUAL(6.F, beams[2].range);
  for (std::size_t i = 3; i < 6; ++i) CHECK_TRUE(std::isnan(beams[i].range));
}

TEST(CloudConverter, ChoosesAmongTheReturnsOfABeam) {
  const Beam beams[] = {{0, 1, 10}, {0, 2, 50}, {0, 3, 10}};
  const Echo echoes[] = {{4, 30}, {5, 20}, {0, 0}, {0, 0}, {6, 5}, {7, 10}};
  const float expected[3][3] = {{1, 2, 3}, {4, 2, 3}, {5, 2, 7}};
  for (const EchoChoice choice : {EchoChoice::first, EchoChoice::strongest, EchoChoice::last}) {
    CloudOptions o = options();
    o.echo = choice;
    CloudBuilder builder(o, pool);
    clouds.clear();
    add(builder,
        ScanSlice{
            .first = now, .step = kStep, .has_intensity = true, .beams = beams, .echoes = echoes});
    LONGS_EQUAL(3, builder.stats().beams);
    LONGS_EQUAL(3, clouds[0]->points.size());
    for (std::size_t i = 0; i < 3; ++i) {
      const float range = expected[static_cast<std::size_t>(choice)][i];
      check_position(range, 0, 0, i);
      CHECK_EQUAL(range, clouds[0]->beams[i].range);
    }
  }
}

// A return from the window that the device looks through does not hide what is behind it.
TEST(CloudConverter, OnlyReturnsWithinTheRangesAreChosenFrom) {
  CloudOptions o = options();
  o.min_range = 0.5F;
  o.max_range = 10;
  CloudBuilder builder(o, pool);
  const Beam beams[] = {{0, 0.1F, 90}, {0, 0, 0}, {0, 0.2F, 90}, {0, 0, 0}};
  const Echo echoes[] = {{3, 5}, {4, 5}, {20, 5}, {0, 0}};
  add(builder, ScanSlice{.first = now, .step = kStep, .beams = beams, .echoes = echoes});
  LONGS_EQUAL(2, clouds[0]->points.size());
  check_position(3, 0, 0, 0);
  check_position(4, 0, 0, 1);
  LONGS_EQUAL(1, builder.stats().out_of_range);
  LONGS_EQUAL(1, builder.stats().no_return);
}

TEST(CloudConverter, WithoutIntensitiesTheStrongestReturnIsTheFirst) {
  CloudOptions o = options();
  o.echo = EchoChoice::strongest;
  CloudBuilder builder(o, pool);
  const Beam beams[] = {{0, 1, 0}};
  const Echo echoes[] = {{3, 5}};
  add(builder, ScanSlice{.first = now, .step = kStep, .beams = beams, .echoes = echoes});
  check_position(1, 0, 0, 0);
}

TEST(CloudConverter, ManyBeamsWithSeveralReturnsKeepTheirPlaces) {
  CloudPool large = collation::make_cloud_pool(1, 200, false);
  {
    CloudBuilder builder(options(), large);
    std::vector<Beam> beams;
    std::vector<Echo> echoes;
    for (int i = 0; i < 200; ++i) {
      beams.push_back({static_cast<float>(i) * kDegree, 0, 0});
      echoes.push_back({static_cast<float>(1 + i % 7), 0});
    }
    test::AllocationCounter allocations;
    add(builder, ScanSlice{.first = now, .step = kStep, .beams = beams, .echoes = echoes});
    LONGS_EQUAL(1, allocations.count());  // the list of clouds here
    LONGS_EQUAL(200, clouds[0]->points.size());
    for (std::size_t i = 0; i < 200; ++i) {
      DOUBLES_EQUAL(echoes[i].range, clouds[0]->points[i].position.norm(), 1e-5);
      DOUBLES_EQUAL(-0.001 * static_cast<double>(199 - i), clouds[0]->points[i].time, 1e-8);
    }
  }
  clouds.clear();
}

// Lost slices, clouds smaller than turns and more beams than were announced.
TEST(CloudConverter, ABeamIsWhereItsOwnAnglePutsItHoweverTurnsDiffer) {
  const unsigned seed = std::random_device{}();
  std::printf("\nCloudConverter turns seed %u ", seed);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return std::uniform_int_distribution<>(0, n - 1)(random); };
  for (int round = 0; round < 30; ++round) {
    CloudOptions o = options(static_cast<Emit>(pick(3)));
    o.subdivisions = 1 + pick(3);
    o.beams_per_turn = static_cast<std::size_t>(30 + pick(60));
    CloudBuilder builder(o, pool);
    for (int slice = 0; slice < 60; ++slice) {
      clouds.clear();
      std::vector<float> degrees;
      for (int i = 0; i < 10; ++i) {
        degrees.push_back(static_cast<float>(slice % 6 * 60 + i * 6) + (pick(50) == 0 ? 0.5F : 0));
      }
      if (pick(20) > 0) add(builder, degrees, slice % 6 == 0);
      for (const auto& cloud : clouds) {
        LONGS_EQUAL(cloud->beams.size(), cloud->points.size());
        for (std::size_t i = 0; i < cloud->points.size(); ++i) {
          const double angle = static_cast<double>(cloud->beams[i].angle);
          DOUBLES_EQUAL(2 * std::cos(angle), cloud->points[i].position.x(), 1e-6);
          DOUBLES_EQUAL(2 * std::sin(angle), cloud->points[i].position.y(), 1e-6);
        }
      }
    }
  }
}

// Cases TransformPointCloud and TransformTimedPointCloud.
TEST(CloudConverter, AQuarterTurnMovesThePoints) {
  CloudOptions o = options();
  o.tracking_from_sensor =
      Eigen::Translation3f(0, 0, 42) * Eigen::AngleAxisf(kPi / 2, Eigen::Vector3f::UnitZ());
  CloudBuilder builder(o, pool);
  add_beams(builder, {{std::atan2(0.5F, 3.5F), std::hypot(0.5F, 3.5F), 0}});
  check_position(-0.5, 3.5, 42, 0);
}

TEST(CloudConverter, AnglesFarBeyondATurnAreExactToo) {
  CloudBuilder builder(options(), pool);
  const std::vector<Beam> beams{{1e5F, 1, 0}, {-3e6F, 1, 0}, {1e9F, 1, 0}};
  add_beams(builder, beams);
  for (std::size_t i = 0; i < beams.size(); ++i) {
    const double angle = static_cast<double>(beams[i].angle);
    check_position(std::cos(angle), std::sin(angle), 0, i);
  }
}
