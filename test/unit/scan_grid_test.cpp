#include "app/scan_grid.h"

#include <cmath>
#include <numbers>
#include <vector>

#include "test/support/harness.h"

using app::ScanGrid;

namespace {

constexpr float kPi = std::numbers::pi_v<float>;

float rad(double degrees) { return static_cast<float>(degrees * std::numbers::pi / 180); }

}  // namespace

TEST_GROUP(ScanGrid) {
  std::vector<drivers::Beam> beams;
  std::vector<float> ranges, intensities;

  void beam(double degrees, float range) { beams.push_back({rad(degrees), range, range * 10}); }
  ScanGrid grid() {
    ranges.assign(beams.size(), -1.0F);
    intensities.assign(beams.size(), -1.0F);
    return app::to_grid(beams, ranges, intensities);
  }
};

TEST(ScanGrid, EvenBeamsKeepTheirPlaces) {
  for (int i = 0; i < 4; ++i) beam(10 * i, static_cast<float>(i + 1));
  const ScanGrid g = grid();
  DOUBLES_EQUAL(0, g.angle_min, 1e-6);
  DOUBLES_EQUAL(rad(30), g.angle_max, 1e-6);
  DOUBLES_EQUAL(rad(10), g.angle_increment, 1e-6);
  for (std::size_t i = 0; i < 4; ++i) {
    DOUBLES_EQUAL(static_cast<double>(i + 1), ranges[i], 0);
    DOUBLES_EQUAL(10.0 * static_cast<double>(i + 1), intensities[i], 1e-6);
  }
}

TEST(ScanGrid, AClockwiseDeviceHasANegativeIncrement) {
  for (int i = 0; i < 4; ++i) beam(-10 * i, static_cast<float>(i + 1));
  const ScanGrid g = grid();
  DOUBLES_EQUAL(rad(-10), g.angle_increment, 1e-6);
  DOUBLES_EQUAL(rad(-30), g.angle_max, 1e-6);
  DOUBLES_EQUAL(4, ranges[3], 0);
}

TEST(ScanGrid, AFullTurnAcrossTheWrapIsOneSweep) {
  for (int i = 0; i < 360; ++i) beam(std::remainder(90.0 + i, 360.0), 1);
  const ScanGrid g = grid();
  DOUBLES_EQUAL(rad(90), g.angle_min, 1e-5);
  DOUBLES_EQUAL(rad(90 + 359), g.angle_max, 1e-4);
  DOUBLES_EQUAL(rad(1), g.angle_increment, 1e-6);
  for (const float range : ranges) DOUBLES_EQUAL(1, range, 0);
}

TEST(ScanGrid, AnglesOfAnyTurnBeginWithinHalfATurn) {
  beam(720 + 350, 1), beam(720 + 351, 2);
  DOUBLES_EQUAL(rad(-10), grid().angle_min, 1e-5);
}

TEST(ScanGrid, ARayWithoutReturnIsInfinite) {
  beam(0, 1), beam(1, 0), beam(2, 2);
  grid();
  CHECK_TRUE(std::isinf(ranges[1]) && ranges[1] > 0);
  DOUBLES_EQUAL(0, intensities[1], 0);
}

TEST(ScanGrid, ARayThatAFilterTookIsUnknown) {
  beam(0, 1), beam(1, std::nanf("")), beam(2, 2);
  grid();
  CHECK_TRUE(std::isnan(ranges[1]));
  DOUBLES_EQUAL(0, intensities[1], 0);
}

TEST(ScanGrid, ABeamWithoutAnAngleSpoilsNoOther) {
  beam(0, 1), beam(10, 2), beam(20, 3);
  beams[1].angle = std::nanf("");
  const ScanGrid g = grid();
  DOUBLES_EQUAL(rad(10), g.angle_increment, 1e-6);
  DOUBLES_EQUAL(rad(20), g.angle_max, 1e-6);
  DOUBLES_EQUAL(1, ranges[0], 0);
  CHECK_TRUE(std::isnan(ranges[1]));
  DOUBLES_EQUAL(3, ranges[2], 0);
  beams[0].angle = std::nanf("");
  DOUBLES_EQUAL(rad(20), grid().angle_min, 1e-6);
}

TEST(ScanGrid, UnevenBeamsFallOnTheNearestRay) {
  beam(0, 1), beam(1.4, 2), beam(1.8, 3), beam(3, 4);
  grid();
  DOUBLES_EQUAL(2, ranges[1], 0);
  DOUBLES_EQUAL(3, ranges[2], 0);
}

TEST(ScanGrid, OfTwoBeamsOnOneRayTheNearerStays) {
  beam(0, 1), beam(0.9, 5), beam(1.1, 2), beam(3, 4);
  grid();
  DOUBLES_EQUAL(2, ranges[1], 0);
  DOUBLES_EQUAL(20, intensities[1], 0);
  CHECK_TRUE(std::isnan(ranges[2]));
  beams = {};
  beam(0, 1), beam(0.9, 2), beam(1.1, 5), beam(3, 4);
  grid();
  DOUBLES_EQUAL(2, ranges[1], 0);
}

TEST(ScanGrid, ABeamThatFallsBackBeyondTheFirstStaysOnTheGrid) {
  beam(0, 3), beam(-2, 2), beam(1, 4), beam(6, 5);
  grid();
  DOUBLES_EQUAL(2, ranges[0], 0);
}

TEST(ScanGrid, OneBeamOrNoneIsAGridToo) {
  const ScanGrid none = grid();
  DOUBLES_EQUAL(0, none.angle_increment, 0);
  beam(45, 2);
  const ScanGrid one = grid();
  DOUBLES_EQUAL(kPi / 4, one.angle_min, 1e-6);
  DOUBLES_EQUAL(kPi / 4, one.angle_max, 1e-6);
  DOUBLES_EQUAL(2, ranges[0], 0);
}
