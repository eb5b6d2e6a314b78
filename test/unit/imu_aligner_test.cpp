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
  ImuAligner aligner{moved(0.5), {true, true, true}};
  ImuSample s = sample({0, 0, 9.8}, {0, 0, 1});
  s.mag = {1e-5, 0, 0};
  s.orientation = {0, 0, 0, 1};
  test::AllocationCounter counter;
  for (int i = 0; i < 10; ++i) CHECK_TRUE(aligner.align(s).has_value());
  LONGS_EQUAL(0, counter.count());
}

TEST(ImuAligner, ReadingsGoAlongWhenTheyAreWanted) {
  ImuSample s = sample({0, 0, 9.8}, {0, 0, 0});
  s.mag = {20e-6, 0, -40e-6};
  s.pressure = 101'325;
  s.temperature = 31.5;
  ImuAligner plain{turned_left()}, wanting{turned_left(), {.mag = true, .temperature = true}};
  CHECK_TRUE(plain.align(s)->readings.empty());
  LONGS_EQUAL(0, plain.stats().mag);
  const auto data = wanting.align(s);
  CHECK_TRUE(data->readings.mag->isApprox(Vector3d(0, 20e-6, -40e-6)));
  CHECK_FALSE(data->readings.pressure.has_value());
  DOUBLES_EQUAL(31.5, *data->readings.temperature, 0);
  CHECK_FALSE(data->readings_only);
  LONGS_EQUAL(1, wanting.stats().mag);
  LONGS_EQUAL(0, wanting.stats().pressure);
  LONGS_EQUAL(1, wanting.stats().temperature);
}

TEST(ImuAligner, ReadingsThatComeAloneAreNoMotion) {
  const ImuSample s{.at = hal::Time(5s), .pressure = 101'325.0};
  ImuAligner wanting{moved(1), {.pressure = true}};
  const auto data = wanting.align(s);
  CHECK_TRUE(data->readings_only);
  DOUBLES_EQUAL(101'325, *data->readings.pressure, 0);
  LONGS_EQUAL(1, wanting.stats().readings_only);
  LONGS_EQUAL(1, wanting.stats().out);
  check_dropped(&ImuStats::incomplete, s);
}

TEST(ImuAligner, AReadingThatIsNoNumberIsLeftOut) {
  ImuAligner aligner{Isometry3d::Identity(), {true, true, true}};
  const double nan = std::numeric_limits<double>::quiet_NaN();
  ImuSample s = sample({0, 0, 9.8}, {0, 0, 0});
  s.mag = {0, nan, 0};
  s.pressure = nan;
  s.temperature = nan;
  CHECK_TRUE(aligner.align(s)->readings.empty());
  LONGS_EQUAL(3, aligner.stats().bad_reading);
  LONGS_EQUAL(1, aligner.stats().out);
}

TEST(ImuAligner, ChangesOverAKnownTimeAreRates) {
  ImuAligner aligner{turned_left()};
  ImuSample s{.at = hal::Time(5s),
              .delta_velocity = ImuSample::Vector{0.01, 0, 0.098},
              .delta_angle = ImuSample::Vector{0, 0.005, 0}};
  CHECK_FALSE(aligner.align(s).has_value());
  LONGS_EQUAL(1, aligner.stats().incomplete);
  s.interval = 10ms;
  const auto data = aligner.align(s);
  CHECK_TRUE(data->linear_acceleration.isApprox(Vector3d(0, 1, 9.8)));
  CHECK_TRUE(data->angular_velocity.isApprox(Vector3d(-0.5, 0, 0)));
  s.accel = {0, 0, 9.5};  // what was measured at the instant counts
  CHECK_TRUE(aligner.align(s)->linear_acceleration.isApprox(Vector3d(0, 0, 9.5)));
}

// A sensor that turns on and on about z, and gives each attitude with w >= 0.
TEST(ImuAligner, OrientationsKeepTheirSign) {
  ImuAligner aligner{turned_left()};
  const auto at = [](double yaw) {
    ImuSample s = sample({0, 0, 9.8}, {0, 0, 1});
    const double sign = std::copysign(1, std::cos(yaw / 2));
    s.orientation = {0, 0, sign * std::sin(yaw / 2), sign * std::cos(yaw / 2)};
    return s;
  };
  Eigen::Quaterniond before(*aligner.align(at(1.7))->orientation);
  CHECK_TRUE(before.w() > 0);
  bool was_negative = false;
  for (double yaw = 1.8; yaw < 13; yaw += 0.1) {
    const Eigen::Quaterniond q(*aligner.align(at(yaw))->orientation);
    CHECK_TRUE(before.dot(q) > 0.99);
    was_negative |= q.w() < 0;
    before = q;
  }
  CHECK_TRUE(was_negative);
}

TEST(ImuAligner, ASensorThatStartsAnewHasNoSignBefore) {
  ImuAligner aligner{Isometry3d::Identity()};
  ImuSample s = sample({0, 0, 9.8}, {0, 0, 0});
  s.orientation = {0, 0, 1, 0};
  CHECK_TRUE(aligner.align(s)->orientation->z() > 0.5);
  s.orientation = {0, 0, -1, 0.001};
  CHECK_TRUE(aligner.align(s)->orientation->z() > 0.5);
  aligner.restart();
  CHECK_TRUE(aligner.align(s)->orientation->z() < -0.5);
}

TEST(ImuAligner, AnOrientationMakesUpForARateThatIsNotSent) {
  ImuAligner aligner{moved(1)};
  ImuSample s{.at = hal::Time(5s),
              .accel = ImuSample::Vector{0, 0, 9.8},
              .orientation = std::array<double, 4>{0, 0, 0, 1}};
  const auto data = aligner.align(s);
  CHECK_TRUE(data->without_rate);
  CHECK_TRUE(data->linear_acceleration.isApprox(Vector3d(0, 0, 9.8)));
  CHECK_TRUE(data->orientation.has_value());
  s.gyro = {0, 0, 1};
  CHECK_FALSE(aligner.align(s)->without_rate);
}
