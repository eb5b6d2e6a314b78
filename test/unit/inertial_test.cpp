#include "drivers/inertial.h"

#include <cmath>
#include <limits>
#include <random>

#include "test/support/harness.h"

using namespace drivers;
using namespace drivers::inertial;

namespace {

constexpr double kS = 0.70710678118654752;

Quaternion product(const Quaternion& a, const Quaternion& b) {
  return {
      a.w * b.w - a.x * b.x - a.y * b.y - a.z * b.z, a.w * b.x + a.x * b.w + a.y * b.z - a.z * b.y,
      a.w * b.y - a.x * b.z + a.y * b.w + a.z * b.x, a.w * b.z + a.x * b.y - a.y * b.x + a.z * b.w};
}
Quaternion reversed(const Quaternion& q) { return {q.w, -q.x, -q.y, -q.z}; }

Vector turned(const Quaternion& q, const Vector& v) {
  const Quaternion r = product(product(q, {0, v[0], v[1], v[2]}), reversed(q));
  return {r.x, r.y, r.z};
}
Vector turned(const Orientation& o, const Vector& v) {
  return turned(Quaternion{o[3], o[0], o[1], o[2]}, v);
}

void vectors_equal(const Vector& expected, const Vector& actual) {
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], actual[i], 1e-12);
}
void orientations_equal(const Orientation& expected, const Orientation& actual, double by) {
  for (std::size_t i = 0; i < 4; ++i) DOUBLES_EQUAL(expected[i], actual[i], by);
}

Vector enu_of_ned(const Vector& v) { return {v[1], v[0], -v[2]}; }
Vector enu_of_nwu(const Vector& v) { return {-v[1], v[0], v[2]}; }
Vector same(const Vector& v) { return v; }

// Whichever way a vector goes from the device's body to the world, it arrives at the same place.
void check_frames(std::optional<Orientation> (*convert)(const Quaternion&),
                  Vector (*body)(const Vector&), Vector (*world)(const Vector&)) {
  const unsigned seed = std::random_device{}();
  UT_PRINT(StringFromFormat("seed %u", seed).asCharString());
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  for (int i = 0; i < 1000; ++i) {
    Quaternion q{normal(random), normal(random), normal(random), normal(random)};
    const double norm = std::sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    q = {q.w / norm, q.x / norm, q.y / norm, q.z / norm};
    const Vector v{normal(random), normal(random), normal(random)};
    const auto converted = convert(q);
    CHECK_TRUE(converted.has_value());
    CHECK_TRUE((*converted)[3] >= 0);
    vectors_equal(world(turned(q, v)), turned(*converted, body(v)));
  }
}

ImuSample at_rest() { return {.accel = Vector{0, 0, 9.81}, .gyro = Vector{0, 0, 0}}; }

}  // namespace

TEST_GROUP(Inertial){};

TEST(Inertial, VectorsOfEveryBodyBecomeForwardLeftUp) {
  vectors_equal({1, -2, -3}, from_frd({1, 2, 3}));
  vectors_equal({2, -1, 3}, from_rfu({1, 2, 3}));
}

TEST(Inertial, AttitudesOfEveryFamilyTurnVectorsToTheSamePlaceInEastNorthUp) {
  check_frames(from_ned_frd, from_frd, enu_of_ned);
  check_frames(from_enu_rfu, from_rfu, same);
  check_frames(from_nwu_flu, same, enu_of_nwu);
  check_frames(from_enu_flu, same, same);
}

TEST(Inertial, ANoseToTheNorthIsAQuarterTurnFromTheEast) {
  orientations_equal({0, 0, kS, kS}, *from_ned_frd({1, 0, 0, 0}), 1e-15);
  orientations_equal({0, 0, kS, kS}, *from_nwu_flu({1, 0, 0, 0}), 1e-15);
  orientations_equal({0, 0, 0, 1}, *from_enu_flu({1, 0, 0, 0}), 1e-15);
  // Right-forward-up without a turn has its right to the east, so it looks north.
  orientations_equal({0, 0, kS, kS}, *from_enu_rfu({1, 0, 0, 0}), 1e-15);
}

TEST(Inertial, AnAttitudeInAnglesAgreesWithTheDocumentedExample) {
  const double d = kRadPerDeg;
  orientations_equal({0.0536805, 0.0811681, 0.4943309, 0.8638096},
                     *from_ned_frd(from_euler(10 * d, -5 * d, 30 * d)), 1e-7);
}

TEST(Inertial, TheFirstFrameOfARealUnitStandsUpright) {
  const double d = kRadPerDeg;
  const auto q = from_ned_frd(from_euler(0.9959 * d, 1.2541 * d, 148.9518 * d));
  orientations_equal({0.002181, -0.013803, -0.491927, 0.870524}, *q, 2e-6);
  const Vector up = turned(*q, from_frd({0.2154, -0.1742, -9.8160}));
  DOUBLES_EQUAL(0, up[0], 0.01);
  DOUBLES_EQUAL(0, up[1], 0.01);
  DOUBLES_EQUAL(9.820, up[2], 0.001);
}

TEST(Inertial, WhatIsNoRotationIsNoAttitude) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const Quaternion& q : {Quaternion{0, 0, 0, 0}, {2, 0, 0, 0}, {nan, 0, 0, 0}}) {
    CHECK_FALSE(from_ned_frd(q).has_value());
    CHECK_FALSE(from_enu_rfu(q).has_value());
    CHECK_FALSE(from_nwu_flu(q).has_value());
    CHECK_FALSE(from_enu_flu(q).has_value());
  }
}

TEST(Inertial, ASampleAtRestIsSensible) { CHECK_TRUE(is_sensible(at_rest(), {160, 35})); }

TEST(Inertial, FullScaleIsSensibleWhatIsBeyondIsNot) {
  ImuSample s = at_rest();
  s.accel = Vector{-160.05, 0, 9.81};
  CHECK_TRUE(is_sensible(s, {160, 35}));
  s.accel = Vector{-164, 0, 9.81};
  CHECK_FALSE(is_sensible(s, {160, 35}));
  s = at_rest();
  s.gyro = Vector{0, -36, 0};
  CHECK_FALSE(is_sensible(s, {160, 35}));
}

TEST(Inertial, NoAccelerationAtAllIsNoMeasurement) {
  ImuSample s = at_rest();
  s.accel = Vector{};
  CHECK_FALSE(is_sensible(s, {}));
}

TEST(Inertial, WhatIsNotANumberIsNoMeasurement) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinite = std::numeric_limits<double>::infinity();
  for (const double bad : {nan, infinite}) {
    for (auto part : {&ImuSample::accel, &ImuSample::gyro, &ImuSample::mag,
                      &ImuSample::delta_velocity, &ImuSample::delta_angle}) {
      ImuSample s = at_rest();
      s.*part = Vector{1, bad, 1};
      CHECK_FALSE(is_sensible(s, {}));
    }
    for (auto part : {&ImuSample::pressure, &ImuSample::temperature}) {
      ImuSample s = at_rest();
      s.*part = bad;
      CHECK_FALSE(is_sensible(s, {}));
    }
  }
}

// Whatever its largest component is.
TEST(Inertial, AMatrixIsTheQuaternionThatItCameFrom) {
  const std::array<double, 4> cases[] = {
      {1, 0, 0, 0},          {0, 1, 0, 0},          {0, 0, 1, 0},          {0, 0, 0, 1},
      {0.5, -0.5, 0.5, 0.5}, {0.1, 0.7, -0.1, 0.7}, {-0.2, 0.1, 0.9, 0.3}, {0.8, 0.2, -0.4, -0.4}};
  for (auto [w, x, y, z] : cases) {
    const double n = std::sqrt(w * w + x * x + y * y + z * z);
    w /= n, x /= n, y /= n, z /= n;
    // Rows of the transposed: from the world to the body.
    const auto q =
        inertial::from_matrix({1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y),
                               2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x),
                               2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)});
    const double same = std::abs(q.w * w + q.x * x + q.y * y + q.z * z);
    DOUBLES_EQUAL(1, same, 1e-12);
  }
}
