#include "app/station.h"

#include "drivers/diagnosis.h"
#include "hal/wall_offset.h"
#include "test/support/harness.h"
#include "test/support/station_bench.h"

using namespace std::chrono_literals;
using drivers::Cause;
using drivers::State;
using test::StationBench;

TEST_GROUP(Station) {
  StationBench bench;

  void begin() {
    bench.pass();
    bench.pass([this] {
      bench.lidar_driver->become(State::streaming, bench.clock.now());
      bench.imu_driver->become(State::streaming, bench.clock.now());
    });
    (void)bench.said(), (void)bench.events();
  }
  static std::size_t lines(const std::string& text, const std::string& part) {
    std::size_t n = 0;
    for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
      ++n;
    return n;
  }
};

TEST(Station, TheFirstTickStartsTheDriversAndSaysWhatIsConfigured) {
  bench.pass();
  CHECK_EQUAL(1, bench.lidar_driver->ticks);
  CHECK_TRUE(bench.lidar_driver->health().state == State::starting);
  CHECK_EQUAL(1, bench.messages.on("/tf_static").size());
  CHECK_EQUAL(1, bench.messages.on("/lidard/configuration").size());
  CHECK_EQUAL(1, bench.messages.on("/diagnostics").size());
  CHECK_EQUAL(0, bench.station->streaming());
}

TEST(Station, StateIsToldOnceASecond) {
  bench.pass();
  bench.run_for(10s);
  CHECK_EQUAL(11, bench.messages.on("/diagnostics").size());
  CHECK_EQUAL(1, bench.messages.on("/tf_static").size());
}

TEST(Station, AChangeIsOneLineAndOneEvent) {
  begin();
  CHECK_EQUAL(2, bench.station->streaming());
  bench.lidar_driver->become(State::silent, bench.clock.now(), "no bytes", Cause::no_bytes);
  STRCMP_EQUAL("front stall: no bytes; ", bench.events().c_str());
  CHECK_TRUE(bench.newest_event.level == app::Level::error);
  STRCMP_EQUAL(drivers::name(Cause::no_bytes), bench.newest_event.values["cause"].c_str());
  STRCMP_EQUAL("front: no bytes\n", bench.said().c_str());
  bench.lidar_driver->become(State::streaming, bench.clock.now());
  STRCMP_EQUAL("front recover: streams; ", bench.events().c_str());
  STRCMP_EQUAL("front: streams\n", bench.said().c_str());
}

TEST(Station, AttemptsThatFailForTheSameReasonAreNotTold) {
  begin();
  for (int i = 0; i < 20; ++i) {
    bench.lidar_driver->become(State::backoff, bench.clock.now(), "no such port", Cause::no_port);
    bench.lidar_driver->become(State::starting, bench.clock.now(), "no such port", Cause::no_port);
  }
  STRCMP_EQUAL("front stall: no such port; ", bench.events().c_str());
  bench.lidar_driver->become(State::backoff, bench.clock.now(), "held by gpsd", Cause::port_busy);
  STRCMP_EQUAL("front stall: held by gpsd; ", bench.events().c_str());
  STRCMP_EQUAL("front: no such port\nfront: held by gpsd\n", bench.said().c_str());
}

TEST(Station, TheSameReasonIsToldAgainAfterItStreamed) {
  begin();
  for (int i = 0; i < 2; ++i) {
    bench.imu_driver->become(State::backoff, bench.clock.now(), "unplugged", Cause::hang_up);
    STRCMP_EQUAL("body stall: unplugged; ", bench.events().c_str());
    bench.imu_driver->become(State::streaming, bench.clock.now());
    STRCMP_EQUAL("body recover: streams; ", bench.events().c_str());
  }
}

TEST(Station, ASensorThatMayBeAbsentOnlyWarns) {
  StationBench optional("", "    role: optional\n");
  optional.pass();
  optional.lidar_driver->become(State::backoff, optional.clock.now(), "no such port");
  STRCMP_EQUAL("front stall: no such port; ", optional.events().c_str());
  CHECK_TRUE(optional.newest_event.level == app::Level::warn);
}

TEST(Station, ADeviceThatStreamsAndIsNotWellIsOneEventAndItsEndAnother) {
  begin();
  const auto warn = [&](const char* why, Cause cause) {
    bench.lidar_driver->become(State::streaming, bench.clock.now(), why, cause);
    bench.run_for(100ms);
  };
  warn("", Cause::none);
  bench.events();
  warn("the motor stands", Cause::not_turning);
  STRCMP_EQUAL("front recover: streams; front warning: the motor stands; ", bench.events().c_str());
  warn("", Cause::none);
  STRCMP_EQUAL("front recover: streams; front recover: is well again; ", bench.events().c_str());
}

TEST(Station, AClockThatBeganAnewIsOneEvent) {
  begin();
  bench.imu_driver->restart_clock();
  bench.run_for(100ms);
  STRCMP_EQUAL("body epoch: its clock began anew; ", bench.events().c_str());
}

TEST(Station, WhatBecomesOfADevicesUtcIsOneEventEach) {
  begin();
  bench.imu_driver->find_utc(drivers::UtcState::trusted);
  bench.run_for(100ms);
  bench.imu_driver->find_utc(drivers::UtcState::tai);
  bench.run_for(100ms);
  const std::string told = bench.events();
  STRCMP_CONTAINS(
      "body utc: its own UTC stamps are used; body utc: its stamps are 37 s ahead: it "
      "sends TAI",
      told.c_str());
  LONGS_EQUAL(2, lines(told, "utc:"));
}

TEST(Station, DriversAreToldTheWallClockAndAtAStepAtOnce) {
  begin();
  bench.station->on_wall_clock(123);
  CHECK_EQUAL(123, bench.imu_driver->wall);
  const std::int64_t offset = bench.clock.both().unix_ns - hal::to_ns(bench.clock.now());
  bench.station->on_offset(offset + 5'000'000'000);
  CHECK_EQUAL(offset + 5'000'000'000, bench.imu_driver->wall);
}

TEST(Station, TheOffsetOfTheStartIsNoStep) {
  begin();
  STRCMP_EQUAL("0", bench.state()["lidard"].values["segment"].c_str());
}

TEST(Station, ASlewedOffsetIsNotASegment) {
  begin();
  const std::int64_t offset = bench.clock.both().unix_ns - hal::to_ns(bench.clock.now());
  bench.station->on_offset(offset + 100'000'000);
  bench.station->on_offset(offset);
  STRCMP_EQUAL("", bench.events().c_str());
}

TEST(Station, AStepBeginsASegmentAndTellsItsSizeBeforeItsFirstDatum) {
  begin();
  const std::int64_t offset = bench.clock.both().unix_ns - hal::to_ns(bench.clock.now());
  bench.station->on_offset(offset - 3'600'250'000'000);
  STRCMP_EQUAL("lidard wall_step: the wall clock was set; ", bench.events().c_str());
  STRCMP_EQUAL("-3600.250000000", bench.newest_event.values["seconds"].c_str());
  STRCMP_EQUAL("1", bench.newest_event.values["segment"].c_str());
  STRCMP_CONTAINS("-3600.25", bench.said().c_str());
  const std::size_t told = bench.messages.messages().size();
  const hal::Time at = bench.clock.now() + app::Station::kTick;
  bench.pass([&] { bench.imu_driver->sample(at); });
  bench.run_for(2s);
  const auto sample = bench.messages.on("/body/imu").back();
  CHECK_EQUAL(hal::to_ns(at) + offset - 3'600'250'000'000, sample.log_time);
  CHECK_TRUE(bench.messages.messages().size() > told);
  STRCMP_EQUAL("1", bench.state()["lidard"].values["segment"].c_str());
}

TEST(Station, ASleepIsToldWithItsLength) {
  begin();
  bench.station->on_suspended(90'500ms);
  STRCMP_EQUAL("lidard suspended: the machine slept; ", bench.events().c_str());
  STRCMP_EQUAL("90.500", bench.newest_event.values["seconds"].c_str());
  STRCMP_EQUAL("the machine slept for 90.500 s\n", bench.said().c_str());
}

TEST(Station, StepsOfAnySizeChangeNeitherOrderNorRateWithinASegment) {
  for (const double size : {1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}) {
    for (const double sign : {1.0, -1.0}) {
      StationBench stepped;
      const auto sampled = [&](hal::Duration length) {
        for (const hal::Time end = stepped.clock.now() + length; stepped.clock.now() < end;) {
          stepped.pass([&] { stepped.imu_driver->sample(stepped.clock.now()); });
        }
      };
      stepped.pass();
      stepped.pass([&] {
        stepped.lidar_driver->become(State::backoff, stepped.clock.now(), "away");
        stepped.imu_driver->become(State::streaming, stepped.clock.now());
      });
      hal::WallOffset offset(hal::WallClock::follow, stepped.clock.both());
      sampled(2s);
      (void)stepped.events();
      stepped.clock.step_wall(hal::from_seconds(sign * size));
      const auto step = offset.update(stepped.clock.both());
      CHECK_TRUE(step.has_value());
      stepped.station->on_offset(offset.offset_ns());
      sampled(2s);
      STRCMP_EQUAL("lidard wall_step: the wall clock was set; ", stepped.events().c_str());
      DOUBLES_EQUAL(sign * size, std::stod(stepped.newest_event.values["seconds"]), 1e-6);

      std::size_t announced = 0, samples = 0, odd = 0;
      std::int64_t before = 0, jump = 0;
      for (const auto& m : stepped.messages.messages()) {
        const std::string& topic = stepped.messages.topic_of(m);
        const auto text = stepped.messages.bytes_of(m);
        if (topic == "/lidard/events" &&
            lidarctl::diagnoses(text)["lidard"].values["event"] == "wall_step") {
          announced = samples;
        }
        if (topic != "/body/imu") continue;
        const std::int64_t apart = m.log_time - before;
        if (samples > 0 && samples == announced) jump = apart;
        if (samples > 0 && samples != announced) odd += apart != 20'000'000;
        before = m.log_time;
        ++samples;
      }
      LONGS_EQUAL(0, odd);
      LONGS_EQUAL(200, samples);
      CHECK_TRUE(announced >= 99 && announced <= 100);
      CHECK_EQUAL(static_cast<std::int64_t>(sign * size) * 1'000'000'000 + 20'000'000, jump);
    }
  }
}

TEST(Station, AProcessThatDidNotRunIsOneEventWithItsLength) {
  begin();
  bench.clock.advance(5s - app::Station::kTick);
  bench.pass();
  bench.run_for(100ms);
  STRCMP_EQUAL("lidard stalled: the process did not run; ", bench.events().c_str());
  STRCMP_EQUAL("5.000", bench.newest_event.values["seconds"].c_str());
}

TEST(Station, ASleepIsNoStallAsWell) {
  begin();
  bench.pass([this] { bench.station->on_suspended(3600s); });
  bench.clock.advance(3600s);
  bench.run_for(100ms);
  STRCMP_EQUAL("lidard suspended: the machine slept; ", bench.events().c_str());
}

TEST(Station, RatesAreLoggedByTimeAlsoWhenNothingFlows) {
  bench.pass();
  (void)bench.said();
  bench.run_for(31s);
  const std::string text = bench.said();
  CHECK_EQUAL(2, lines(text, "front: starting"));
  CHECK_EQUAL(2, lines(text, "body: starting"));
}

TEST(Station, RatesAreNotLoggedWhenNobodyWantsThem) {
  StationBench quiet("rate_log_period_s: 0\n");
  quiet.pass();
  quiet.run_for(61s);
  STRCMP_EQUAL("", quiet.said().c_str());
}

TEST(Station, AtTheEndAllThatIsHeldLeavesAndTheLastStateCountsIt) {
  begin();
  bench.pass([&] { bench.imu_driver->sample(bench.clock.now()); });
  CHECK_EQUAL(0, bench.messages.on("/body/imu").size());
  bench.station->finish(bench.clock.now());
  CHECK_EQUAL(1, bench.messages.on("/body/imu").size());
  STRCMP_EQUAL("1", bench.state()["body"].values["output.messages"].c_str());
  STRCMP_EQUAL("0", bench.state()["body"].values["queue.held"].c_str());
  CHECK_TRUE(bench.messages.topic_of(bench.messages.messages().back()) == "/diagnostics");
}
