#include "collation/budget.h"

#include "test/support/harness.h"

using namespace std::chrono_literals;
using collation::Channel;
using collation::Role;

TEST_GROUP(Budget) {
  const Channel imu{.name = "imu", .rate_hz = 200, .delays = {.wire = 1ms}};
  const Channel rear{.name = "rear lidar", .rate_hz = 10, .delays = {.adapter = 16ms}};
  const Channel gps{.name = "gps", .role = Role::passthrough, .max_wait = 2s};
};

TEST(Budget, MaxWaitIsAllDelaysPlusTenMilliseconds) {
  CHECK_TRUE(collation::default_max_wait({}) == 10ms);
  CHECK_TRUE(collation::default_max_wait({25ms, 1500us, 16ms, 5ms}) == 57500us);
  CHECK_TRUE(collation::max_wait(imu) == 11ms);
  CHECK_TRUE(collation::max_wait(gps) == 2s);
}

TEST(Budget, TheLargestMaxWaitLeavesPassthroughOut) {
  const Channel channels[] = {imu, rear, gps};
  CHECK_TRUE(collation::largest_max_wait(channels) == 26ms);
  CHECK_TRUE(collation::largest_max_wait({}) == 0ms);
}

TEST(Budget, CapacityIsTwiceRateTimesWaitingAndAtLeastEight) {
  LONGS_EQUAL(8, collation::default_capacity({.name = "a", .rate_hz = 1}, 26ms));
  LONGS_EQUAL(4000, collation::default_capacity({.name = "a", .rate_hz = 1000}, 2s));
}

TEST(Budget, CapacityHasRoomForWhatArrivesWhileTheProcessIsHeldUp) {
  LONGS_EQUAL(11, collation::default_capacity({.name = "a", .rate_hz = 10}, 26ms));
  LONGS_EQUAL(206, collation::default_capacity({.name = "a", .rate_hz = 200}, 26ms));
  LONGS_EQUAL(206, collation::capacity(imu, 26ms));
}

TEST(Budget, ThatRoomIsNoLargerThanItsBytesAllow) {
  LONGS_EQUAL(
      16, collation::default_capacity({.name = "a", .rate_hz = 25, .datum_bytes = 16 << 10}, 26ms));
  LONGS_EQUAL(
      8, collation::default_capacity({.name = "a", .rate_hz = 25, .datum_bytes = 128 << 10}, 26ms));
  LONGS_EQUAL(
      50, collation::default_capacity({.name = "a", .rate_hz = 25, .datum_bytes = 128 << 10}, 1s));
}

TEST(Budget, RefusesACapacityBelowOnceAndNamesTheLeast) {
  Channel channel = imu;
  channel.capacity = 6;
  CHECK_TRUE(bool(collation::check_capacity(channel, 26ms)));
  channel.capacity = 5;
  const auto refused = collation::check_capacity(channel, 26ms);
  CHECK_FALSE(bool(refused));
  STRCMP_EQUAL("imu: capacity 5 is less than 200 Hz x 26 ms of waiting: at least 6, better 206",
               refused.error().detail.c_str());
  channel.capacity = 0;
  CHECK_FALSE(bool(collation::check_capacity(channel, 0ms)));
}

TEST(Budget, TheWorstAgeIsThatOfTheSlowestOfTheOrder) {
  const Channel channels[] = {imu, rear, gps};
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_TRUE(collation::worst_age(channels, i).age == 26ms);
    LONGS_EQUAL(1, collation::worst_age(channels, i).because);
  }
  CHECK_TRUE(collation::worst_age(channels, 2).age == 2s);
  LONGS_EQUAL(2, collation::worst_age(channels, 2).because);
}

TEST(Budget, SaysWhy) {
  const Channel channels[] = {imu, rear, gps};
  STRCMP_EQUAL("imu 26 ms: rear lidar, adapter timer 16 + 10",
               collation::describe(channels, 0).c_str());
  STRCMP_EQUAL("gps 2000 ms: gps, max_wait 2000 as configured",
               collation::describe(channels, 2).c_str());
  const Channel alone[] = {{.name = "s", .delays = {25ms, 1500us, 0ms, 5ms}}};
  STRCMP_EQUAL("s 41.5 ms: s, delivery 25 + wire 1.5 + batch 5 + 10",
               collation::describe(alone, 0).c_str());
}
