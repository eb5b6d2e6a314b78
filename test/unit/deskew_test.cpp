// A lidar that turns with its robot among walls of which the truth is known.
#include "collation/deskew.h"

#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include "collation/cloud.h"
#include "collation/range_data_collator.h"
#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;
using collation::Deskewer;
using collation::GyroTrack;
using collation::ImuData;
using collation::TimedPoint;
using Eigen::Vector3d;

namespace {

constexpr double kPi = std::numbers::pi;

// A robot that stands for 3 s, then begins to turn about its axis: the rate swings about a mean.
struct Robot {
  double rate = kPi;  // rad/s
  double swing = 0;   // rad/s, at 1 Hz
  Vector3d axis = Vector3d::UnitZ();

  static double moving(hal::Time at) {
    return std::max(0.0, hal::to_seconds(at.time_since_epoch()) - 3);
  }
  double turned(hal::Time at) const {
    const double t = moving(at);
    return rate * t + swing * (1 - std::cos(2 * kPi * t)) / (2 * kPi);
  }
  double rate_at(hal::Time at) const {
    const double t = moving(at);
    return t > 0 ? rate + swing * std::sin(2 * kPi * t) : 0;
  }
  Eigen::AngleAxisd world_from_robot(hal::Time at) const { return {turned(at), axis}; }
};

}  // namespace

TEST_GROUP(Deskew) {
  Robot robot;
  GyroTrack track{512};
  Deskewer deskewer{track};
  std::mt19937 random{1};
  Vector3d bias = Vector3d::Zero();
  double noise = 0;
  std::vector<TimedPoint> raw, points;

  ImuData sample(hal::Time at) {
    std::normal_distribution<double> normal;
    const auto vector = [&] { return Vector3d(normal(random), normal(random), normal(random)); };
    ImuData imu;
    imu.at = at;
    imu.linear_acceleration = Vector3d(0, 0, 9.8) + 0.02 * vector();
    imu.angular_velocity = robot.rate_at(at) * robot.axis + bias + noise * vector();
    return imu;
  }
  void run(hal::Time from, hal::Time to, hal::Duration period = 10ms) {
    for (hal::Time at = from; at < to; at += period) track.add(sample(at));
  }
  // What a lidar of 1000 beams sees of a circle of posts that stand 5 m away, in a turn of 100 ms.
  void see(hal::Time at) {
    raw.clear();
    for (int i = 0; i < 1000; ++i) {
      const double before = 0.1 * (999 - i) / 1000;
      const Vector3d post(5 * std::cos(i * kPi / 500), 5 * std::sin(i * kPi / 500), 0.5);
      const Vector3d own = robot.world_from_robot(at - hal::from_seconds(before)).inverse() * post;
      raw.push_back({own.cast<float>(), static_cast<float>(-before), 7});
    }
    points = raw;
  }
  // The greatest distance from where the posts stand, seen from the robot at the stamp.
  double smear(hal::Time at) const {
    double worst = 0;
    for (int i = 0; i < 1000; ++i) {
      const Vector3d post(5 * std::cos(i * kPi / 500), 5 * std::sin(i * kPi / 500), 0.5);
      const Vector3d own = robot.world_from_robot(at).inverse() * post;
      worst = std::max(worst,
                       (points[static_cast<std::size_t>(i)].position.cast<double>() - own).norm());
    }
    return worst;
  }
  // What is left of the smear, as part of it, at the worst of 20 turns.
  double residual(hal::Duration imu_period = 10ms) {
    double worst = 0;
    run(hal::Time(1us), hal::Time(3500ms), imu_period);
    for (hal::Time at{3501ms}; at < hal::Time(5500ms); at += 100ms) {
      see(at);
      const double before = smear(at);
      CHECK_TRUE(before > 0.5);
      CHECK_TRUE(deskewer.deskew(std::span(points), at));
      worst = std::max(worst, smear(at) / before);
      run(at, at + 100ms, imu_period);
    }
    return worst;
  }
};

TEST(Deskew, TakesTheSmearOfATurningLidarAway) {
  const double left = residual();
  UT_PRINT(("residual of the smear at 180 deg/s: " + std::to_string(100 * left) + " %").c_str());
  CHECK_TRUE(left < 0.002);
}

TEST(Deskew, WithNoiseAndBiasLessThanFiftiethOfTheSmearIsLeft) {
  UT_PRINT("seeds 1 to 20");
  double worst = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    random.seed(seed);
    track = GyroTrack(512);
    noise = 0.005;
    bias = Vector3d(0.01, -0.02, seed % 2 == 0 ? 0.03 : -0.03);
    worst = std::max(worst, residual());
    CHECK_TRUE((track.bias() - bias).norm() < 0.003);
  }
  UT_PRINT(("worst residual at 180 deg/s: " + std::to_string(100 * worst) + " %").c_str());
  CHECK_TRUE(worst < 0.005);  // the bias alone, left in, would be 0.01
}

TEST(Deskew, FollowsARateThatSwings) {
  robot.swing = 1.5;
  CHECK_TRUE(residual() < 0.02);
  CHECK_TRUE(track.stats().gaps == 0);
}

TEST(Deskew, TurnsAboutAnyAxis) {
  robot.axis = Vector3d(1, -2, 2) / 3;
  CHECK_TRUE(residual() < 0.002);
}

TEST(Deskew, WorksWithAFastGyro) {
  track = GyroTrack(4000);
  CHECK_TRUE(residual(1ms) < 0.002);
}

TEST(Deskew, LeavesStampTimeAndIntensityOfEachPoint) {
  residual();
  for (std::size_t i = 0; i < points.size(); ++i) {
    DOUBLES_EQUAL(raw[i].time, points[i].time, 0);
    DOUBLES_EQUAL(7, points[i].intensity, 0);
  }
}

TEST(Deskew, ThePointAtTheStampStaysWhereItIs) {
  residual();
  CHECK_TRUE(points.back().position.isApprox(raw.back().position, 1e-6F));
}

TEST(Deskew, TurnsMergedPointsAsWell) {
  run(hal::Time(1us), hal::Time(4s));
  see(hal::Time(4s));
  std::vector<collation::MergedPoint> merged;
  for (const TimedPoint& p : raw) merged.push_back({p.position, p.time, p.intensity, 3});
  CHECK_TRUE(deskewer.deskew(std::span(merged), hal::Time(4s)));
  CHECK_TRUE(deskewer.deskew(std::span(points), hal::Time(4s)));
  for (std::size_t i = 0; i < points.size(); ++i) {
    CHECK_TRUE(merged[i].position.isApprox(points[i].position));
    LONGS_EQUAL(3, merged[i].origin);
  }
}

TEST(Deskew, ACloudWithoutGyroDataIsLeftAsMeasuredAndCounted) {
  see(hal::Time(4s));
  CHECK_FALSE(deskewer.deskew(std::span(points), hal::Time(4s)));
  run(hal::Time(3950ms), hal::Time(4s));  // they begin within it
  CHECK_FALSE(deskewer.deskew(std::span(points), hal::Time(4s)));
  CHECK_TRUE(points[0].position == raw[0].position);
  LONGS_EQUAL(2, deskewer.stats().clouds);
  LONGS_EQUAL(2, deskewer.stats().without_gyro);
}

TEST(Deskew, AGapOfTheGyroLeavesTheCloudsThatLieInItAsMeasured) {
  run(hal::Time(1us), hal::Time(4s));
  see(hal::Time(4040ms));  // the last rate is believed so long
  CHECK_TRUE(deskewer.deskew(std::span(points), hal::Time(4040ms)));
  CHECK_FALSE(deskewer.deskew(std::span(points), hal::Time(4041ms)));
  run(hal::Time(4051ms), hal::Time(4200ms));
  LONGS_EQUAL(1, track.stats().gaps);
  see(hal::Time(4140ms));
  CHECK_FALSE(deskewer.deskew(std::span(points), hal::Time(4140ms)));
  see(hal::Time(4160ms));
  CHECK_TRUE(deskewer.deskew(std::span(points), hal::Time(4160ms)));
  LONGS_EQUAL(2, deskewer.stats().turned);
  // It begins just behind the gap: the interval of 10 ms that holds its first points begins in it.
  see(hal::Time(4150950us));
  CHECK_TRUE(deskewer.deskew(std::span(points), hal::Time(4150950us)));
  CHECK_TRUE(smear(hal::Time(4150950us)) < 0.01);
}

TEST(Deskew, AnEmptyCloudIsTurnedAlready) {
  CHECK_TRUE(deskewer.deskew(std::span<TimedPoint>(), hal::Time(4s)));
}

TEST(Deskew, PointsOlderThanTheTrackAreLeftAsMeasured) {
  track = GyroTrack(5);
  run(hal::Time(1us), hal::Time(4s));
  see(hal::Time(4s));
  CHECK_FALSE(deskewer.deskew(std::span(points), hal::Time(4s)));
}

TEST(Deskew, ASampleThatGoesBackIsLeftOut) {
  run(hal::Time(1us), hal::Time(4s));
  track.add(sample(hal::Time(3900ms)));
  LONGS_EQUAL(1, track.stats().backward);
  see(hal::Time(4s));
  CHECK_TRUE(deskewer.deskew(std::span(points), hal::Time(4s)));
  CHECK_TRUE(smear(hal::Time(4s)) < 0.01);
}

TEST(Deskew, ASlowTurnIsNoRestUnlessItCouldBeABias) {
  robot.rate = 0.06;
  run(hal::Time(3001ms), hal::Time(9s));
  LONGS_EQUAL(0, track.stats().rests);
  CHECK_TRUE(track.bias().isZero());
}

TEST(Deskew, ShakingIsNoRest) {
  noise = 0.02;
  run(hal::Time(1us), hal::Time(3s));
  LONGS_EQUAL(0, track.stats().rests);
}

TEST(Deskew, NothingEverBecomesNotANumber) {
  UT_PRINT("seed 5");
  random.seed(5);
  hal::Time at{1s};
  for (int i = 0; i < 20'000; ++i) {
    at += hal::Duration(1 + static_cast<std::int64_t>(random() % 60'000'000));
    ImuData imu = sample(at);
    for (double& w : imu.angular_velocity)
      w = std::ldexp(1.0, static_cast<int>(random() % 60) - 52);
    if (random() % 3 == 0) imu.angular_velocity = Vector3d::Constant(200 / std::sqrt(3));
    track.add(imu);
    raw.assign(3, {{1, 2, 3}, 0, 0});
    raw[0].time = -static_cast<float>(random() % 1000) * 1e-4F;
    raw[1].time = raw[0].time / 2;
    points = raw;
    deskewer.deskew(std::span(points), at);
    for (const TimedPoint& p : points) {
      CHECK_TRUE(p.position.allFinite());
      CHECK_TRUE(p.position.norm() < 3.75F);
    }
  }
  CHECK_TRUE(deskewer.stats().turned > 1000);
}

TEST(Deskew, AllocatesNothing) {
  run(hal::Time(1us), hal::Time(3s));
  see(hal::Time(3100ms));
  test::AllocationCounter counter;
  run(hal::Time(3s), hal::Time(3100ms));
  CHECK_TRUE(deskewer.deskew(std::span(points), hal::Time(3100ms)));
  LONGS_EQUAL(0, counter.count());
}
