#include "collation/imu_aligner.h"

#include <limits>
#include <numbers>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;
using collation::ImuAligner;
using collation::ImuData;
using collation::ImuOptions;
using collation::ImuStats;
using drivers::ImuSample;
using Eigen::Vector3d;

TEST_GROUP(ImuAligner){static ImuOptions turned_left(){ImuOptions options;
options.tracking_from_sensor = Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitZ());
return options;
}
static ImuOptions moved(double x, bool compensate = false) {
  ImuOptions options;
  options.tracking_from_sensor = Eigen::Translation3d(x, 0, 0);
  options.compensate_lever_arm = compensate;
  return options;
}
static ImuSample sample(ImuSample::Vector accel, ImuSample::Vector gyro) {
  return {.at = hal::Time(5s), .device_ns = 17, .accel = accel, .gyro = gyro};
}
void check_dropped(std::uint64_t ImuStats::*reason, const ImuSample& bad) {
  ImuAligner aligner{ImuOptions{}};
  CHECK_FALSE(aligner.align(bad).has_value());
  LONGS_EQUAL(1, aligner.stats().*reason);
  LONGS_EQUAL(1, aligner.stats().in);
  LONGS_EQUAL(0, aligner.stats().out);
}
}
;

TEST(ImuAligner, RotatesIntoTheTrackingFrame) {
  ImuAligner aligner{turned_left()};
  const auto data = aligner.align(sample({1, 0, 9.8}, {0, 0.5, 0}));
  CHECK_TRUE(data->linear_acceleration.isApprox(Vector3d(0, 1, 9.8)));
  CHECK_TRUE(data->angular_velocity.isApprox(Vector3d(-0.5, 0, 0)));
  CHECK_TRUE(data->at == hal::Time(5s));
  LONGS_EQUAL(17, *data->device_ns);
  CHECK_FALSE(data->orientation.has_value());
  LONGS_EQUAL(1, aligner.stats().out);
}

// A sensor that is turned left in the tracking frame and says "I look north" (90 degrees from
// east): the tracking frame looks east.
TEST(ImuAligner, TurnsTheOrientationIntoThatOfTheTrackingFrame) {
  ImuAligner aligner{turned_left()};
  ImuSample s = sample({0, 0, 9.8}, {0, 0, 0});
  const double half = std::numbers::sqrt2 / 2;
  s.orientation = {0, 0, half, half};
  const auto data = aligner.align(s);
  const Eigen::Quaterniond q(*data->orientation);
  CHECK_TRUE(q.angularDistance(Eigen::Quaterniond::Identity()) < 1e-9);
}

TEST(ImuAligner, GoesOnWithoutABadOrientation) {
  ImuAligner aligner{ImuOptions{}};
  ImuSample s = sample({0, 0, 9.8}, {0, 0, 0});
  for (const double w : {0.0, 2.0, std::numeric_limits<double>::quiet_NaN()}) {
    s.orientation = {0, 0, 0, w};
    const auto data = aligner.align(s);
    CHECK_TRUE(data.has_value());
    CHECK_FALSE(data->orientation.has_value());
  }
  LONGS_EQUAL(3, aligner.stats().bad_orientation);
  LONGS_EQUAL(3, aligner.stats().out);
}

TEST(ImuAligner, DropsAndCountsWhatIsNoMeasurement) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  check_dropped(&ImuStats::incomplete, {.accel = ImuSample::Vector{0, 0, 9.8}});
  check_dropped(&ImuStats::incomplete, {.gyro = ImuSample::Vector{0, 0, 1}});
  check_dropped(&ImuStats::non_finite, sample({nan, 0, 9.8}, {0, 0, 0}));
  check_dropped(&ImuStats::non_finite, sample({0, 0, 9.8}, {0, infinite, 0}));
  check_dropped(&ImuStats::all_zero, sample({0, 0, 0}, {0, 0, 0}));
  check_dropped(&ImuStats::implausible, sample({0, 0, 2001}, {0, 0, 0}));
  check_dropped(&ImuStats::implausible, sample({0, 0, 9.8}, {0, -201, 0}));
}

TEST(ImuAligner, KeepsFreeFallAndRest) {
  ImuAligner aligner{ImuOptions{}};
  CHECK_TRUE(aligner.align(sample({0, 0, 0}, {0, 0, 1e-9})).has_value());
  CHECK_TRUE(aligner.align(sample({0, 0, 9.8}, {0, 0, 0})).has_value());
}

TEST(ImuAligner, RefusesAnUncompensatedLeverArmAndNamesTheFix) {
  CHECK_TRUE(bool(collation::check_imu(moved(9e-6))));
  CHECK_FALSE(bool(collation::check_imu(moved(1e-5))));
  const auto refused = collation::check_imu(moved(0.12));
  CHECK_FALSE(bool(refused));
  STRCMP_CONTAINS("0.12 m", refused.error().detail.c_str());
  STRCMP_CONTAINS("compensate", refused.error().detail.c_str());
  CHECK_TRUE(bool(collation::check_imu(moved(0.12, true))));
}

TEST(ImuAligner, RefusesAPoseThatIsNotRigid) {
  ImuOptions options;
  options.tracking_from_sensor.linear() *= 2;
  CHECK_FALSE(bool(collation::check_imu(options)));
  options.tracking_from_sensor.linear() = -Eigen::Matrix3d::Identity();
  CHECK_FALSE(bool(collation::check_imu(options)));
  CHECK_FALSE(bool(collation::check_imu(moved(std::numeric_limits<double>::quiet_NaN(), true))));
}

// Turning at 2 rad/s, 0.5 m ahead of the origin: 2 m/s^2 towards it.
TEST(ImuAligner, TakesTheCentripetalAccelerationOff) {
  ImuAligner aligner{moved(0.5, true)};
  const auto data = aligner.align(sample({-2, 0, 9.8}, {0, 0, 2}));
  CHECK_TRUE(data->linear_acceleration.isApprox(Vector3d(0, 0, 9.8)));
}

TEST(ImuAligner, AllocatesNothing) {
  ImuAligner aligner{moved(0.5, true)};
  test::AllocationCounter counter;
  for (int i = 0; i < 10; ++i)
    CHECK_TRUE(aligner.align(sample({0, 0, 9.8}, {0, 0, 1})).has_value());
  LONGS_EQUAL(0, counter.count());
}
