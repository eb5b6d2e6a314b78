#include "hal/wall_offset.h"

#include "test/support/harness.h"
#include "test/support/manual_clock.h"

using namespace std::chrono_literals;
using hal::WallClock;
using hal::WallOffset;

TEST_GROUP(WallOffset) {
  test::ManualClock clock;
  std::int64_t start = clock.both().unix_ns - hal::to_ns(clock.now());
};

TEST(WallOffset, IsTheDifferenceOfTheClocksAtTheStart) {
  const WallOffset offset(WallClock::follow, clock.both());
  CHECK_EQUAL(start, offset.offset_ns());
}

TEST(WallOffset, SlewsASmallDifferenceAtNoMoreThan500Ppm) {
  WallOffset offset(WallClock::follow, clock.both());
  clock.step_wall(100ms);
  clock.advance(1s);
  CHECK_FALSE(offset.update(clock.both()).has_value());
  CHECK_EQUAL(start + 500'000, offset.offset_ns());
  clock.advance(100s);
  CHECK_FALSE(offset.update(clock.both()).has_value());
  CHECK_EQUAL(start + 50'500'000, offset.offset_ns());
  clock.advance(1000s);
  CHECK_FALSE(offset.update(clock.both()).has_value());
  CHECK_EQUAL(start + 100'000'000, offset.offset_ns());
}

TEST(WallOffset, SlewsBackwardsToo) {
  WallOffset offset(WallClock::follow, clock.both());
  clock.step_wall(-10ms);
  clock.advance(2s);
  CHECK_FALSE(offset.update(clock.both()).has_value());
  CHECK_EQUAL(start - 1'000'000, offset.offset_ns());
}

TEST(WallOffset, SlewsAsMuchWhenAskedEveryMicrosecond) {
  WallOffset offset(WallClock::follow, clock.both());
  clock.step_wall(50ms);
  for (int i = 0; i < 1'000'000; ++i) {
    clock.advance(1us);
    CHECK_FALSE(offset.update(clock.both()).has_value());
  }
  CHECK_EQUAL(start + 500'000, offset.offset_ns());
}

TEST(WallOffset, ReportsALargerDifferenceAsAStepAtOnce) {
  WallOffset offset(WallClock::follow, clock.both());
  for (const hal::Duration size : {hal::Duration(100ms + 1ns), hal::Duration(-100ms - 1ns),
                                   hal::Duration(100'000'000s), hal::Duration(-100'000'000s)}) {
    clock.step_wall(size);
    const auto step = offset.update(clock.both());
    CHECK_TRUE(step.has_value());
    CHECK_TRUE(step->size == size);
    CHECK_EQUAL(clock.both().unix_ns - hal::to_ns(clock.now()), offset.offset_ns());
  }
}

TEST(WallOffset, HeldKeepsTheOffsetOfTheStart) {
  WallOffset offset(WallClock::hold, clock.both());
  clock.step_wall(3600s);
  clock.advance(10s);
  CHECK_FALSE(offset.update(clock.both()).has_value());
  CHECK_EQUAL(start, offset.offset_ns());
}
