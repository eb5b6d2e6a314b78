#include "drivers/rotation.h"

#include "test/support/harness.h"

using namespace drivers;
using namespace std::chrono_literals;

// A lidar of one beam per degree that turns in 360 ms: a degree a millisecond.
TEST_GROUP(Rotation) {
  static constexpr double kRpm = 1000.0 / 6;
  Rotation rotation{kRpm};
  std::array<Beam, 10> beams{};
  hal::Time now{1000s};
  Decoded out;

  const Decoded::Item& add(double first, hal::Duration later = 10ms, double rpm = kRpm,
                           std::size_t n = 10) {
    now += later;
    out.clear();
    rotation.add({.bytes = {}, .first_at = now, .last_at = now}, {first, 1, rpm},
                 std::span(beams).first(n), out);
    LONGS_EQUAL(1, out.items().size());
    return out.items()[0];
  }
  std::int64_t ns(double first, hal::Duration later = 10ms, double rpm = kRpm) {
    return add(first, later, rpm).timing.raw_ns;
  }
  bool starts(double first, hal::Duration later = 10ms) {
    return std::get<ScanSlice>(add(first, later).packet).starts_turn;
  }
};

TEST(Rotation, TimeIsTheAngleThatWasTurnedThrough) {
  LONGS_EQUAL(9'000'000, ns(100));
  LONGS_EQUAL(19'000'000, ns(110));
  LONGS_EQUAL(29'000'000, ns(120));
}

TEST(Rotation, BeamsAreAStepOfTheirOwnSpeedApart) {
  const Decoded::Item& item = add(100);
  CHECK_TRUE(std::get<ScanSlice>(item.packet).step == 1ms);
  CHECK_TRUE(item.timing.to_first == -9ms);
  CHECK_TRUE(std::get<ScanSlice>(add(110, 5ms, 2 * kRpm).packet).step == 500us);
}

TEST(Rotation, TimeFollowsTheSpeed) {
  ns(100);
  LONGS_EQUAL(9'000'000 + 5'000'000, ns(110, 5ms, 2 * kRpm));
}

TEST(Rotation, ASpeedAtWhichNothingTurnsIsNotBelieved) {
  ns(100);
  for (const double rpm : {0.0, 9.0, 4000.0}) {
    Rotation old = rotation;
    LONGS_EQUAL(19'000'000, ns(110, 10ms, rpm));
    rotation = old;
  }
}

TEST(Rotation, WhatIsMissingAdvancesTheTime) {
  ns(100);
  LONGS_EQUAL(9'000'000 + 190'000'000, ns(290, 190ms));
  LONGS_EQUAL(9'000'000 + 190'000'000 + 350'000'000, ns(280, 350ms));
}

TEST(Rotation, ATurnStartsOnceAtItsBoundary) {
  CHECK_FALSE(starts(340));
  CHECK_FALSE(starts(350));
  CHECK_TRUE(starts(0));
  CHECK_FALSE(starts(10));
}

TEST(Rotation, APacketMayStraddleTheBoundary) {
  CHECK_FALSE(starts(345));
  CHECK_TRUE(starts(355));
  CHECK_FALSE(starts(5));
}

TEST(Rotation, TheFirstPacketStartsATurnWhereTheBoundaryIsJustBeforeIt) {
  CHECK_TRUE(starts(0));
  rotation.restart();
  CHECK_TRUE(starts(0.9));
  rotation.restart();
  CHECK_FALSE(starts(1));
}

TEST(Rotation, AnAngleThatJittersOverTheBoundaryStartsNoSecondTurn) {
  starts(340);
  CHECK_TRUE(starts(351.5));   // to 0.5
  CHECK_FALSE(starts(359.5));  // to 8.5
  CHECK_FALSE(starts(8));
  LONGS_EQUAL(9'000'000 + 11'500'000 + 8'000'000 + 8'500'000 + 10'000'000, ns(18));
}

TEST(Rotation, ALostBoundaryIsSeen) {
  starts(200);
  CHECK_TRUE(starts(190, 350ms));
  CHECK_TRUE(starts(100, 270ms));
}

TEST(Rotation, APacketThatComesAgainIsStale) {
  LONGS_EQUAL(9'000'000, ns(100));
  LONGS_EQUAL(9'000'000, ns(100, 0ms));
  LONGS_EQUAL(9'000'000, ns(100, 100ms));
  LONGS_EQUAL(19'000'000, ns(110));
  CHECK_FALSE(starts(110, 0ms));
}

TEST(Rotation, APacketThatIsOvertakenIsStale) {
  ns(340);
  CHECK_TRUE(starts(0, 20ms));
  CHECK_FALSE(starts(350, 0ms));
  CHECK_FALSE(starts(10));
  LONGS_EQUAL(9'000'000 + 20'000'000 + 10'000'000 + 10'000'000, ns(20));
}

TEST(Rotation, NearlyAWholeTurnThatIsLostTookItsTime) {
  ns(100);
  LONGS_EQUAL(9'000'000 + 360'000'000, ns(100, 360ms));
  CHECK_TRUE(starts(100, 360ms));
}

TEST(Rotation, WholeTurnsAreTheClocksToMissAndItsPeriod) {
  CHECK_TRUE(rotation.clock_model().period == 360ms);
  CHECK_TRUE(rotation.clock_model().max_skew == kCountedSkew);
}
