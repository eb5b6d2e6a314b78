#include "collation/imu_aligner.h"

#include <limits>
#include <numbers>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;
using collation::ImuAligner;
using collation::ImuData;
using collation::ImuStats;
using drivers::ImuSample;
using Eigen::Isometry3d;
using Eigen::Vector3d;

TEST_GROUP(ImuAligner){static Isometry3d turned_left(){
    return Isometry3d(Eigen::AngleAxisd(std::numbers::pi / 2, Vector3d::UnitZ()));
}
static Isometry3d moved(double x) { return Isometry3d(Eigen::Translation3d(x, 0, 0)); }
static ImuSample sample(ImuSample::Vector accel, ImuSample::Vector gyro) {
  return {.at = hal::Time(5s), .device_ns = 17, .accel = accel, .gyro = gyro};
}
void check_dropped(std::uint64_t ImuStats::*reason, const ImuSample& bad) {
  ImuAligner aligner{Isometry3d::Identity()};
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
  ImuAligner aligner{Isometry3d::Identity()};
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

// What is dropped here made the next stage abort (cartographer_ros #1276).
TEST(ImuAligner, DropsAnAccelerationOfZeroWhateverTheGyroSays) {
  check_dropped(&ImuStats::all_zero, sample({0, 0, 0}, {0, 0, 0.1}));
}

TEST(ImuAligner, KeepsFreeFallAndRest) {
  ImuAligner aligner{Isometry3d::Identity()};
  CHECK_TRUE(aligner.align(sample({0, 0, 0.001}, {0, 0, 0})).has_value());
  CHECK_TRUE(aligner.align(sample({0, 0, 9.8}, {0, 0, 0})).has_value());
}

// Turning at 2 rad/s, 0.5 m ahead of the origin: 2 m/s^2 towards it.
TEST(ImuAligner, TakesTheCentripetalAccelerationOff) {
  ImuAligner aligner{moved(0.5)};
  const auto data = aligner.align(sample({-2, 0, 9.8}, {0, 0, 2}));
  CHECK_TRUE(data->linear_acceleration.isApprox(Vector3d(0, 0, 9.8)));
}

// The same with the sensor turned on its lever arm, about an axis that is not its own.
TEST(ImuAligner, TheLeverArmIsOneOfTheTrackingFrame) {
  Isometry3d pose = Isometry3d(Eigen::Translation3d(0.1, -0.4, 0.2)) * turned_left();
  ImuAligner aligner{pose};
  const Vector3d rate(0.3, -1, 2), gravity(0.5, 1, 9.6);
  const Vector3d centripetal = rate.cross(rate.cross(pose.translation()));
  const Vector3d accel = pose.linear().transpose() * (gravity + centripetal);
  const Vector3d gyro = pose.linear().transpose() * rate;
  const auto data =
      aligner.align(sample({accel.x(), accel.y(), accel.z()}, {gyro.x(), gyro.y(), gyro.z()}));
  CHECK_TRUE(data->linear_acceleration.isApprox(gravity));
  CHECK_TRUE(data->angular_velocity.isApprox(rate));
}

TEST(ImuAligner, AllocatesNothing) {
  ImuAligner aligner{moved(0.5)};
  test::AllocationCounter counter;
  for (int i = 0; i < 10; ++i)
    CHECK_TRUE(aligner.align(sample({0, 0, 9.8}, {0, 0, 1})).has_value());
  LONGS_EQUAL(0, counter.count());
}
