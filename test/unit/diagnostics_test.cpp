#include "app/diagnostics.h"

#include <algorithm>

#include "app/lidarctl/books.h"
#include "drivers/diagnosis.h"
#include "test/support/harness.h"
#include "test/support/station_bench.h"

using namespace std::chrono_literals;
using drivers::Cause;
using drivers::State;
using lidarctl::Diagnosis;
using test::StationBench;

TEST_GROUP(Diagnostics) {
  StationBench bench;

  void stream_for(hal::Duration length) {
    bench.pass();
    bench.pass([this] {
      bench.lidar_driver->become(State::streaming, bench.clock.now());
      bench.imu_driver->become(State::streaming, bench.clock.now());
    });
    for (const hal::Time end = bench.clock.now() + length; bench.clock.now() < end;) {
      bench.pass([this] { bench.imu_driver->sample(bench.clock.now()); });
    }
  }
  // Keys that stand in no status, of those that `books` needs.
  static std::string missing(const Diagnosis& d, std::initializer_list<const char*> keys) {
    std::string text;
    for (const char* const key : keys) {
      if (!d.values.contains(key)) text += std::string(key) + " ";
    }
    return text;
  }
};

TEST(Diagnostics, ChannelsAreLatchedButForEvents) {
  const auto latched = [&](const char* topic) {
    const auto at = std::ranges::find(bench.messages.topics, topic);
    CHECK_TRUE(at != bench.messages.topics.end());
    return bench.messages.latched[static_cast<std::size_t>(at - bench.messages.topics.begin())];
  };
  CHECK_EQUAL(app::Diagnostics::longest_message(bench.stack), latched("/diagnostics"));
  CHECK_TRUE(latched("/lidard/configuration") > 0);
  CHECK_EQUAL(0, latched("/lidard/events"));
}

TEST(Diagnostics, TheStateHasEverySensorAndTheTimeLine) {
  stream_for(2s);
  auto state = bench.state();
  CHECK_EQUAL(3, state.size());
  STRCMP_EQUAL("2 of 2 sensors stream", state["lidard"].message.c_str());
  CHECK_TRUE(state["lidard"].level == app::Level::ok);
  STRCMP_EQUAL(std::to_string(bench.clock.both().unix_ns - hal::to_ns(bench.clock.now())).c_str(),
               state["lidard"].values["unix_offset_ns"].c_str());
  STRCMP_EQUAL("0", state["lidard"].values["segment"].c_str());
  STRCMP_EQUAL("ldrobot", state["front"].hardware_id.c_str());
  STRCMP_EQUAL("streaming", state["body"].values["state"].c_str());
  DOUBLES_EQUAL(50, std::stod(state["body"].values["rate_hz"]), 0.5);
}

TEST(Diagnostics, EveryKeyOfTheBooksIsThere) {
  stream_for(1s);
  auto state = bench.state();
  for (const char* const name : {"front", "body"}) {
    STRCMP_EQUAL("", missing(state[name],
                             {"wire.bytes",         "wire.frame_bytes",     "wire.garbage_bytes",
                              "wire.pending",       "driver.frames",        "driver.replies",
                              "driver.packets",     "driver.stale",         "driver.unwanted",
                              "driver.stuck",       "driver.extra_packets", "driver.lost",
                              "driver.lost_parts",  "driver.silent_frames", "driver.undecodable",
                              "packets.in",         "packets.sampled_out",  "queue.in",
                              "queue.out",          "queue.late",           "queue.duplicate",
                              "queue.backward",     "queue.future",         "queue.overflow",
                              "queue.before_start", "queue.held",           "output.messages"})
                         .c_str());
  }
  STRCMP_EQUAL("", missing(state["front"],
                           {"cloud.beams", "cloud.points", "cloud.no_return", "cloud.out_of_range",
                            "cloud.out_of_angle", "cloud.weak", "cloud.invalid", "cloud.overlap",
                            "cloud.without_pool", "cloud.clouds"})
                       .c_str());
  STRCMP_EQUAL("", missing(state["body"], {"imu.in", "imu.out", "imu.incomplete", "imu.non_finite",
                                           "imu.all_zero", "imu.implausible"})
                       .c_str());
}

TEST(Diagnostics, BooksBalanceAsTheToolReadsThem) {
  stream_for(2s);
  auto state = bench.state();
  CHECK_TRUE(state["body"].count("packets.in") > 40);
  CHECK_TRUE(state["body"].count("queue.held") > 0);
  CHECK_TRUE(lidarctl::imbalances(state["front"]).empty());
  CHECK_TRUE(lidarctl::imbalances(state["body"]).empty());
  STRCMP_EQUAL("none", lidarctl::drops(state["body"]).c_str());
}

TEST(Diagnostics, AnImuThatStreamsNothingUsableIsNamedWithTheReason) {
  stream_for(2s);
  bench.pass([&] { bench.imu_driver->sample(bench.clock.now(), {0, 0, 0}); });
  bench.run_for(1s);
  auto state = bench.state();
  STRCMP_CONTAINS("samples dropped, of exactly 0 m/s^2 on all axes", state["body"].message.c_str());
  CHECK_TRUE(state["body"].level == app::Level::warn);
  LONGS_EQUAL(1, state["body"].count("imu.all_zero"));
  bench.run_for(1s);
  CHECK_TRUE(bench.state()["body"].message.find("dropped") == std::string::npos);
}

TEST(Diagnostics, AHoleInTheBooksIsFound) {
  stream_for(1s);
  auto state = bench.state();
  state["body"].values["queue.out"] = "1";
  CHECK_EQUAL(2, lidarctl::imbalances(state["body"]).size());
  state["body"].values["queue.late"] = "3";
  STRCMP_EQUAL("late 3", lidarctl::drops(state["body"]).c_str());
}

TEST(Diagnostics, ASensorThatFailsTellsWhy) {
  stream_for(1s);
  bench.lidar_driver->become(State::backoff, bench.clock.now(), "no such port", Cause::no_port);
  bench.run_for(1s);
  auto state = bench.state();
  STRCMP_EQUAL("no such port", state["front"].message.c_str());
  STRCMP_EQUAL("backoff", state["front"].values["state"].c_str());
  STRCMP_EQUAL(drivers::name(Cause::no_port), state["front"].values["cause"].c_str());
  CHECK_TRUE(state["front"].level == app::Level::error);
  CHECK_TRUE(state["lidard"].level == app::Level::warn);
  STRCMP_EQUAL("1 of 2 sensors stream", state["lidard"].message.c_str());
}

TEST(Diagnostics, RatesAndSamplersAreToldInTheReferencesWords) {
  stream_for(2s);
  auto state = bench.state();
  STRCMP_CONTAINS("50.00 Hz 2.00e-02 s +/- ", state["body"].values["rate"].c_str());
  STRCMP_EQUAL("0 (0.000000%)", state["front"].values["sampling"].c_str());
  STRCMP_CONTAINS(" (100.000000%)", state["body"].values["sampling"].c_str());
}

TEST(Diagnostics, TheBudgetOfLatencyIsTold) {
  bench.pass();
  auto told = lidarctl::diagnoses(
      bench.messages.bytes_of(bench.messages.on("/lidard/configuration").back()));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK_EQUAL(bench.plan.sensors[i].worst_age.count() / 1000,
                std::stol(told[bench.stack.sensors[i].name].values["latency_budget_us"]));
  }
}

TEST(Diagnostics, TheConfigurationNamesPortsAndOptions) {
  bench.pass();
  auto told = lidarctl::diagnoses(
      bench.messages.bytes_of(bench.messages.on("/lidard/configuration").back()));
  STRCMP_EQUAL("base", told["lidard"].values["frame"].c_str());
  STRCMP_EQUAL("serial:/dev/lidar", told["front"].values["port"].c_str());
  STRCMP_EQUAL("lidar", told["front"].values["kind"].c_str());
  STRCMP_EQUAL("imu", told["body"].values["kind"].c_str());
  for (const drivers::OptionSpec& option : bench.stack.sensors[1].driver->options) {
    CHECK_TRUE(told["body"].values.contains(std::string(option.key)));
  }
}

TEST(Diagnostics, TheLongestTextsFitTheBudget) {
  const std::string long_text(191, 'x');
  bench.pass();
  for (test::FakeDriver* driver : {bench.lidar_driver, bench.imu_driver}) {
    driver->become(State::backoff, bench.clock.now(), long_text.c_str());
  }
  bench.run_for(1s);
  const auto newest = bench.messages.on("/diagnostics").back();
  CHECK_TRUE(newest.size <= app::Diagnostics::longest_message(bench.stack));
  CHECK_TRUE(newest.size <= bench.plan.max_message);
  CHECK_TRUE(bench.messages.on("/lidard/configuration").back().size <= bench.plan.max_message);
}

TEST(Diagnostics, AReadingThatIsAskedForAndNeverComesIsNamed) {
  bench.stack.sensors[1].readings.pressure = true;
  stream_for(9s);
  CHECK_TRUE(bench.state()["body"].message.find("readings") == std::string::npos);
  stream_for(3s);
  STRCMP_CONTAINS("samples has pressure, which `readings` asks for: see the driver's options",
                  bench.state()["body"].message.c_str());
}

TEST(Diagnostics, WhatIsWrongAtRestIsToldOnceAndStandsInTheState) {
  const auto rest_for = [this](hal::Duration length, double z) {
    for (const hal::Time end = bench.clock.now() + length; bench.clock.now() < end;) {
      const hal::Time at = bench.clock.now() + app::Station::kTick;
      bench.pass([&] { bench.imu_driver->sample(at, at, {0, 0, z}, {0, 0, 0}); });
    }
  };
  stream_for(100ms);
  bench.events();
  rest_for(3s, -9.81);
  auto state = bench.state();
  STRCMP_CONTAINS("gravity along -z at rest, expected along +z: the device hangs upside down",
                  state["body"].message.c_str());
  CHECK_TRUE(state["body"].level == app::Level::warn);
  STRCMP_EQUAL("2 of 2 sensors stream", state["lidard"].message.c_str());
  const std::string told = bench.events();
  STRCMP_CONTAINS("body check: gravity along -z at rest", told.c_str());
  LONGS_EQUAL(told.find("gravity"), told.rfind("gravity"));
  rest_for(3s, 9.81);
  STRCMP_EQUAL("9.81 m/s^2 along +z", bench.state()["body"].values["rest"].c_str());
  CHECK_TRUE(bench.state()["body"].message.find("gravity") == std::string::npos);
  STRCMP_CONTAINS("body recover: 9.81 m/s^2 along +z", bench.events().c_str());
}
