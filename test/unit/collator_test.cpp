// The reference's named cases of both collators, and what the application needs beside them.
#include "collation/collator.h"

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/recording_sink.h"

using namespace std::chrono_literals;
using collation::CollatedSensor;
using collation::Collator;
using collation::Policy;
using collation::Role;
using collation::TrajectoryCollator;
using drivers::State;
using test::datum;
using Ids = std::initializer_list<drivers::SensorId>;

TEST_GROUP(Collator) {
  test::RecordingSink sink;

  void add_sensors(Collator & collator, int trajectory, drivers::SensorId first,
                   std::initializer_list<const char*> names) {
    std::vector<CollatedSensor> sensors;
    for (const char* name : names) sensors.push_back({first++, name, {.capacity = 64}});
    CHECK_TRUE(bool(collator.add_trajectory(trajectory, sensors)));
  }
  void add(Collator & collator, drivers::SensorId sensor, std::int64_t at) {
    collator.add(datum(sensor, at), hal::Time{});
  }
};

TEST(Collator, Ordering) {
  Collator collator(Policy::strict, sink);
  add_sensors(collator, 0, 0,
              {"horizontal_rangefinder", "vertical_rangefinder", "imu", "odometry"});
  for (const drivers::SensorId sensor : Ids{0, 1, 2, 3}) add(collator, sensor, 0);
  add(collator, 0, 100);
  add(collator, 3, 600);
  add(collator, 0, 400);
  add(collator, 1, 200);
  add(collator, 1, 500);
  add(collator, 2, 300);
  LONGS_EQUAL(7, sink.left.size());
  STRCMP_EQUAL("0@100 1@200 2@300 ", sink.text(4).c_str());
  CHECK_TRUE(collator.blocking_of(0).has_value());
  collator.finish_trajectory(0);
  collator.flush();
  STRCMP_EQUAL("0@100 1@200 2@300 0@400 1@500 3@600 ", sink.text(4).c_str());
}

TEST(Collator, OrderingMultipleTrajectories) {
  Collator collator(Policy::strict, sink);
  add_sensors(collator, 8, 0, {"my_points", "some_imu"});  // 0, 1
  add_sensors(collator, 5, 2, {"my_points", "some_imu"});  // 2, 3
  const auto blocker = [&] { return collator.blocking()->sensor < 2 ? 8 : 5; };
  for (const drivers::SensorId sensor : Ids{0, 1, 2, 3}) add(collator, sensor, 0);
  add(collator, 0, 100);
  add(collator, 1, 300);
  LONGS_EQUAL(5, blocker());
  add(collator, 2, 400);
  add(collator, 2, 400);
  LONGS_EQUAL(5, blocker());
  add(collator, 3, 200);
  LONGS_EQUAL(8, blocker());
  add(collator, 3, 600);
  add(collator, 2, 500);
  LONGS_EQUAL(8, blocker());
  LONGS_EQUAL(5, sink.left.size());
  STRCMP_EQUAL("0@100 ", sink.text(4).c_str());
  collator.finish_trajectory(8);
  collator.finish_trajectory(5);
  collator.flush();
  STRCMP_EQUAL("0@100 3@200 1@300 2@400 2@400 2@500 3@600 ", sink.text(4).c_str());
}

TEST(Collator, OneOrderPerTrajectoryNeverWaitsForAnother) {
  TrajectoryCollator collator(Policy::strict, sink);
  add_sensors(collator, 4, 0, {"my_points", "some_imu"});  // 0, 1
  add_sensors(collator, 7, 2, {"my_points", "some_imu"});  // 2, 3
  add(collator, 0, 0);
  add(collator, 2, 0);
  LONGS_EQUAL(0, sink.left.size());
  add(collator, 3, 0);
  add(collator, 1, 0);
  STRCMP_EQUAL("2@0 0@0 ", sink.text().c_str());
  add(collator, 2, 100);
  STRCMP_EQUAL("3@0 ", sink.text(2).c_str());
  add(collator, 0, 50);
  STRCMP_EQUAL("1@0 ", sink.text(3).c_str());
  add(collator, 1, 60);
  STRCMP_EQUAL("0@50 ", sink.text(4).c_str());
  add(collator, 2, 150);
  LONGS_EQUAL(5, sink.left.size());
  add(collator, 3, 120);
  STRCMP_EQUAL("2@100 3@120 ", sink.text(5).c_str());
  collator.finish_trajectory(4);
  collator.finish_trajectory(7);
  collator.flush();
  LONGS_EQUAL(9, sink.left.size());
}

TEST(Collator, CountsMisuseInsteadOfAborting) {
  Collator collator(Policy::strict, sink);
  add_sensors(collator, 0, 0, {"a"});
  const CollatedSensor again[] = {{5, "b", {}}};
  CHECK_FALSE(bool(collator.add_trajectory(0, again)));
  LONGS_EQUAL(1, collator.misuse());
  collator.finish_trajectory(3);
  collator.finish_trajectory(0);
  collator.finish_trajectory(0);
  LONGS_EQUAL(3, collator.misuse());
  collator.add(datum(0, 1), {});
  collator.add(datum(99, 1), {});
  LONGS_EQUAL(2, collator.unknown_sensor());
}

TEST(Collator, ATrajectoryMayStartAnew) {
  Collator collator(Policy::strict, sink);
  add_sensors(collator, 0, 0, {"a"});
  add(collator, 0, 1);
  collator.finish_trajectory(0);
  add_sensors(collator, 0, 0, {"a"});
  add(collator, 0, 2);
  STRCMP_EQUAL("0@1 0@2 ", sink.text().c_str());
}

TEST(Collator, ASensorMayJoinAndLeaveARunningTrajectory) {
  test::ManualClock clock;
  Collator collator(Policy::live, sink);
  add_sensors(collator, 0, 0, {"a"});
  CHECK_TRUE(bool(collator.add_sensor(0, {1, "b", {.max_wait = 20ms}})));
  CHECK_FALSE(bool(collator.add_sensor(0, {2, "b", {}})));
  CHECK_FALSE(bool(collator.add_sensor(9, {2, "c", {}})));
  collator.on_state(1, State::streaming, clock.now());
  collator.add(datum(0, clock.now() + 1ms), clock.advance(1ms));
  collator.release(clock.now());
  LONGS_EQUAL(0, sink.left.size());
  collator.finish_sensor(1);
  collator.release(clock.now());
  LONGS_EQUAL(1, sink.left.size());
  collator.finish_trajectory(0);
  LONGS_EQUAL(2, collator.misuse());  // what was refused
}

TEST(Collator, WaitsByRoleAndState) {
  const auto is = [](Role role, State state) { return collation::is_waited_for(role, state); };
  for (const State state : {State::starting, State::silent, State::streaming}) {
    CHECK_TRUE(is(Role::required, state));
    CHECK_FALSE(is(Role::passthrough, state));
    CHECK_EQUAL(state == State::streaming, is(Role::optional, state));
  }
  for (const State state : {State::idle, State::backoff, State::stopping}) {
    CHECK_FALSE(is(Role::required, state));
    CHECK_FALSE(is(Role::optional, state));
  }
}

TEST(Collator, NamesTheBlockingSensorOfEachTrajectory) {
  test::ManualClock clock;
  TrajectoryCollator collator(Policy::live, sink);
  add_sensors(collator, 4, 0, {"points", "imu"});
  add_sensors(collator, 7, 2, {"points", "imu"});
  for (const drivers::SensorId sensor : Ids{0, 1, 2, 3})
    collator.set_waiting(sensor, true, clock.now());
  const hal::Time at = clock.now() + 1ms;
  collator.add(datum(2, at), clock.advance(1ms));
  collator.release(clock.now());
  CHECK_FALSE(collator.blocking_of(4).has_value());
  CHECK_FALSE(collator.blocking_of(1).has_value());
  LONGS_EQUAL(3, collator.blocking_of(7)->sensor);
  LONGS_EQUAL(3, collator.blocking()->sensor);
  CHECK_TRUE(collator.blocking()->head == at);
  CHECK_TRUE(collator.blocking()->since == clock.now());
  // The other order blocks, too, but not for as long.
  const hal::Time later = clock.advance(5ms);
  collator.add(datum(0, later), later);
  collator.release(later);
  LONGS_EQUAL(1, collator.blocking_of(4)->sensor);
  LONGS_EQUAL(3, collator.blocking()->sensor);
}

TEST(Collator, WhatBroughtAnOptionalSensorBackWasMeasuredBeforeItArrived) {
  test::ManualClock clock;
  Collator collator(Policy::live, sink);
  const CollatedSensor sensors[] = {
      {0, "lidar", {.capacity = 8, .max_wait = 50ms, .role = Role::optional}},
      {1, "imu", {.capacity = 8, .max_wait = 10ms}}};
  CHECK_TRUE(bool(collator.add_trajectory(0, sensors)));
  collator.on_state(1, State::streaming, clock.now());
  const hal::Time now = clock.advance(100ms);
  collator.on_state(0, State::streaming, now);
  collator.add(datum(1, now - 30ms), now);
  collator.release(now);
  LONGS_EQUAL(0, sink.left.size());
  collator.add(datum(0, now - 40ms), now);
  collator.release(now);
  LONGS_EQUAL(0, collator.stats(0).late);
  LONGS_EQUAL(1, sink.left.size());  // the imu's waits for what the lidar may still bring
}
