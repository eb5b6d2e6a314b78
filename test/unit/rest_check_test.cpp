#include "app/rest_check.h"

#include <numbers>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;
using app::RestCheck;
using Eigen::Vector3d;
using Verdict = app::RestCheck::Verdict;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

using Attitude = collation::ImuData::Quaternion;

Attitude turned(double deg, const Vector3d& axis) {
  return Attitude(Eigen::Quaterniond(Eigen::AngleAxisd(deg * kDeg, axis)));
}

}  // namespace

TEST_GROUP(RestCheck) {
  RestCheck check;
  hal::Time at{5s};

  void take(const Vector3d& accel, const Vector3d& gyro, std::optional<Attitude> attitude = {}) {
    collation::ImuData imu;
    imu.at = at += 10ms;
    imu.linear_acceleration = accel;
    imu.angular_velocity = gyro;
    imu.orientation = attitude;
    check.take(imu);
  }
  void rest(const Vector3d& accel, std::optional<Attitude> attitude = {}, int samples = 101) {
    for (int i = 0; i < samples; ++i) take(accel, {0.01, -0.02, 0.003}, attitude);
  }
};

TEST(RestCheck, GravityThatIsRightIsFineAfterASecond) {
  rest({0.2, 0.1, 9.79}, {}, 100);
  CHECK_TRUE(check.verdict() == Verdict::open);
  STRCMP_EQUAL("", check.words().c_str());
  rest({0.2, 0.1, 9.79}, {}, 1);
  CHECK_TRUE(check.verdict() == Verdict::fine);
  STRCMP_EQUAL("9.79 m/s^2 along +z", check.words().c_str());
}

TEST(RestCheck, WhatMovesIsNotJudged) {
  for (int i = 0; i < 500; ++i) take({0, 0, 1}, {0, 0, 0.2});
  CHECK_TRUE(check.verdict() == Verdict::open);
  for (int i = 0; i < 500; ++i) take({0, i % 2 ? 1.0 : -1.0, 1}, {0, 0, 0});
  CHECK_TRUE(check.verdict() == Verdict::open);
}

TEST(RestCheck, WrongUnitsAreNamed) {
  const std::pair<double, const char*> cases[] = {
      {1.0, "|a| = 1.00 at rest, expected 9.3 to 10.3 m/s^2: that looks like g instead of m/s^2"},
      {1000, "that looks like mg"},
      {980.7, "that looks like cm/s^2"},
      {0.05, "gravity is missing"},
      {9.25, "check the device's units, range and calibration"},
      {10.35, "check the device's units, range and calibration"}};
  for (const auto& [length, words] : cases) {
    check.restart();
    rest({0, 0, length});
    CHECK_TRUE(check.is_wrong());
    STRCMP_CONTAINS(words, check.words().c_str());
  }
}

// The turn that is named makes it upright.
TEST(RestCheck, AWrongDirectionIsNamedWithTheTurnThatIsMissing) {
  struct Case {
    Vector3d accel;
    const char *axis, *turn;
    Vector3d about;
    double deg;
  };
  const Case cases[] = {{{9.8, 0.1, 0}, "along +x", "-90 deg about y", Vector3d::UnitY(), -90},
                        {{-9.8, 0, 0}, "along -x", " 90 deg about y", Vector3d::UnitY(), 90},
                        {{0, 9.8, 0.2}, "along +y", " 90 deg about x", Vector3d::UnitX(), 90},
                        {{0, -9.8, 0}, "along -y", "-90 deg about x", Vector3d::UnitX(), -90},
                        {{0, 0, -9.8}, "along -z", "180 deg about x", Vector3d::UnitX(), 180}};
  for (const Case& c : cases) {
    check.restart();
    rest(c.accel);
    CHECK_TRUE(check.verdict() == Verdict::direction);
    STRCMP_CONTAINS(c.axis, check.words().c_str());
    STRCMP_CONTAINS(c.turn, check.words().c_str());
    CHECK_TRUE((turned(c.deg, c.about) * c.accel).z() > 9.7);
  }
  STRCMP_CONTAINS("hangs upside down", check.words().c_str());
}

TEST(RestCheck, ASlopeIsNoWrongDirection) {
  rest(Eigen::AngleAxisd(40 * kDeg, Vector3d::UnitY()) * Vector3d(0, 0, 9.8));
  CHECK_TRUE(check.verdict() == Verdict::fine);
}

TEST(RestCheck, AnAttitudeMustAgreeWithGravity) {
  const Attitude tilt = turned(20, Vector3d::UnitY());
  rest(tilt.conjugate() * Vector3d(0, 0, 9.8), tilt);
  CHECK_TRUE(check.verdict() == Verdict::fine);
  check.restart();
  rest(tilt * Vector3d(0, 0, 9.8), tilt);  // its inverse, as some families send it
  CHECK_TRUE(check.verdict() == Verdict::attitude);
  STRCMP_CONTAINS("gravity at rest is (6.3 0.0 7.5) m/s^2 in the world", check.words().c_str());
  check.restart();
  rest({0, 0, 9.8}, turned(180, Vector3d::UnitX()));
  CHECK_TRUE(check.verdict() == Verdict::attitude);
  STRCMP_CONTAINS("(0.0 -0.0 -9.8)", check.words().c_str());
}

TEST(RestCheck, IsOverOnceItWasRightAndOpenUntilThen) {
  rest({0, 0, 9.8}, turned(30, Vector3d::UnitX()));
  CHECK_TRUE(check.verdict() == Verdict::attitude);
  rest({0, 0, 9.8}, Attitude::Identity());  // its filter has settled
  CHECK_TRUE(check.verdict() == Verdict::fine);
  rest({0, 0, -9.8});  // the robot fell over
  CHECK_TRUE(check.verdict() == Verdict::fine);
  check.restart();
  CHECK_TRUE(check.verdict() == Verdict::open);
}

TEST(RestCheck, WhatWasBeforeAGapDoesNotCount) {
  rest({0, 0, 9.8}, turned(90, Vector3d::UnitX()), 60);
  at += 2s;
  rest({0, 0, 9.8}, Attitude::Identity());
  CHECK_TRUE(check.verdict() == Verdict::fine);
}

TEST(RestCheck, AllocatesNothing) {
  const test::AllocationCounter counter;
  rest({0, 0, -9.8}, Attitude::Identity(), 300);
  CHECK_TRUE(check.is_wrong());
  LONGS_EQUAL(0, counter.count());
}
