// What is told when data come but do not leave as they should: the sensor, since when, and why.
#include "test/support/harness.h"
#include "test/support/station_bench.h"

using namespace std::chrono_literals;
using app::Level;
using drivers::State;
using test::StationBench;

namespace {

constexpr const char* kChunks = "    emit: chunk\n";
constexpr const char* kEachTick = "    options: {rate_hz: 50}\n";  // a sample

}  // namespace

TEST_GROUP(OrderEvents) {
  StationBench bench{"", kChunks, kEachTick};

  void begin(StationBench & b) {
    b.pass();
    b.pass([&b] {
      b.lidar_driver->become(State::streaming, b.clock.now());
      b.imu_driver->become(State::streaming, b.clock.now());
    });
    (void)b.said(), (void)b.events();
  }
  // The lidar in time, the samples stamped `behind` their arrival.
  void stream(hal::Duration length, hal::Duration behind) {
    for (const hal::Time end = bench.clock.now() + length; bench.clock.now() < end;) {
      bench.pass([&] {
        const hal::Time now = bench.clock.now();
        bench.lidar_driver->slice(now - 1ms, now);
        bench.imu_driver->sample(now - behind, now);
      });
    }
  }
};

TEST(OrderEvents, DataInTimeAreNoEvent) {
  begin(bench);
  stream(5s, 1ms);
  STRCMP_EQUAL("", bench.events().c_str());
  CHECK_TRUE(bench.state()["body"].level == Level::ok);
  STRCMP_EQUAL("none", bench.state()["body"].values["order"].c_str());
}

TEST(OrderEvents, ASensorWhoseDataAreAllLateIsStalledAndTheMaxWaitIsNamed) {
  begin(bench);
  stream(2s, 1ms);
  stream(100ms, 50ms);  // until the order is past them
  (void)bench.events();
  stream(3s, 50ms);
  const std::string events = bench.events();
  STRCMP_CONTAINS("body stall: ", events.c_str());
  STRCMP_CONTAINS(" of 50 dropped as late: max_wait_ms 50 would have sufficed", events.c_str());
  auto& event = bench.newest_event;
  CHECK_TRUE(event.level == Level::error);
  STRCMP_EQUAL("late", event.values["cause"].c_str());
  STRCMP_EQUAL("50", event.values["would_have_sufficed_ms"].c_str());
  CHECK_TRUE(std::stoi(event.values["last_datum_age_ms"]) >= 1000);
  auto state = bench.state();
  CHECK_TRUE(state["body"].level == Level::error);
  STRCMP_EQUAL("late", state["body"].values["order"].c_str());
  STRCMP_CONTAINS("max_wait_ms 50 would have sufficed", state["body"].message.c_str());
  CHECK_TRUE(state["front"].level == Level::ok);
  CHECK_TRUE(state["lidard"].level == Level::warn);
  STRCMP_EQUAL("2 of 2 sensors stream, the data of 1 not in order",
               state["lidard"].message.c_str());
  STRCMP_CONTAINS("body: ", bench.said().c_str());
}

TEST(OrderEvents, ItRecoversOnceAllIsInTimeForAWhile) {
  begin(bench);
  stream(2s, 1ms);
  stream(3s, 50ms);
  (void)bench.events();
  stream(13s, 1ms);
  STRCMP_CONTAINS("body recover: its data leave ", bench.events().c_str());
  CHECK_TRUE(bench.state()["body"].level == Level::ok);
}

TEST(OrderEvents, DropsThatComeAndGoAreOneEvent) {
  begin(bench);
  stream(2s, 1ms);
  for (int i = 0; i < 8; ++i) {
    bench.pass([&] { bench.imu_driver->sample(bench.clock.now() - 300ms, bench.clock.now()); });
    stream(1s, 1ms);
  }
  const std::string events = bench.events();
  STRCMP_CONTAINS("body drops: 1 of ", events.c_str());
  CHECK_EQUAL(events.find("body drops"), events.rfind("body drops"));
  CHECK_TRUE(bench.state()["body"].level == Level::warn);
  stream(12s, 1ms);
  STRCMP_CONTAINS("body recover: its data leave in time again; ", bench.events().c_str());
}

TEST(OrderEvents, StampsOfAnotherEpochAreNamed) {
  begin(bench);
  stream(2s, 1ms);
  StationBench behind("", kChunks, kEachTick);  // a device that counts from its start
  begin(behind);
  for (int i = 0; i < 200; ++i) {
    behind.pass([&] {
      const hal::Time now = behind.clock.now();
      behind.lidar_driver->slice(now - 1ms, now);
      behind.imu_driver->sample(now - 60s, now);
    });
  }
  STRCMP_CONTAINS(
      "dropped: stamped 60.000 s before their arrival, in another epoch than the others'",
      behind.events().c_str());
  STRCMP_EQUAL("another_epoch", behind.newest_event.values["cause"].c_str());
  STRCMP_EQUAL("another_epoch", behind.state()["body"].values["order"].c_str());
}

TEST(OrderEvents, StampsInTheFutureAreNamed) {
  begin(bench);
  stream(2s, -2s);
  STRCMP_CONTAINS("body stall: ", bench.events().c_str());
  STRCMP_CONTAINS("stamped 2.000 s after their arrival", bench.newest_event.message.c_str());
  STRCMP_EQUAL("future", bench.newest_event.values["cause"].c_str());
  CHECK_TRUE(bench.state()["front"].level == Level::ok);
}

TEST(OrderEvents, AFullQueueIsNamedTogetherWithWhomTheOrderWaitsFor) {
  StationBench strict("collation: {policy: strict}\n", kChunks);
  begin(strict);
  for (int i = 0; i < 200; ++i) {
    strict.pass([&] { strict.imu_driver->sample(strict.clock.now()); });
  }
  const std::string events = strict.events();
  STRCMP_CONTAINS("body queue_full: its queue of ", events.c_str());
  STRCMP_CONTAINS(": the order waits for front; ", events.c_str());
  CHECK_EQUAL(events.find("body queue_full"), events.rfind("body queue_full"));
  STRCMP_EQUAL("front", strict.newest_event.values["blocker"].c_str());
  CHECK_TRUE(strict.state()["body"].level == Level::warn);
}

TEST(OrderEvents, AStallTellsTheAgeOfTheLastDatumAndTheReturnHowLongNoneCame) {
  begin(bench);
  stream(1s, 1ms);
  bench.run_for(400ms);
  bench.imu_driver->become(State::silent, bench.clock.now(), "no bytes", drivers::Cause::no_bytes);
  STRCMP_EQUAL("body stall: no bytes; ", bench.events().c_str());
  STRCMP_EQUAL("400", bench.newest_event.values["last_datum_age_ms"].c_str());
  STRCMP_EQUAL("no_bytes", bench.newest_event.values["cause"].c_str());
  bench.run_for(600ms);
  bench.imu_driver->become(State::streaming, bench.clock.now());
  (void)bench.events();
  STRCMP_EQUAL("1000", bench.newest_event.values["last_datum_age_ms"].c_str());
}
