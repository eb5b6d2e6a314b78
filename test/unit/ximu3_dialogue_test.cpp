#include <map>
#include <memory>
#include <set>
#include <string>

#include "drivers/ximu3/ximu3.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/ximu3_message.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::joined;
using namespace test::ximu3;

namespace {

// The other end of the line: settings that are written and read by name.
struct Sensor {
  explicit Sensor(test::FakePort& p) : port(p) {}

  void answer() {
    while (done < port.writes.size()) {
      const Octets request = port.writes[done++];
      const std::string line(reinterpret_cast<const char*>(request.data()), request.size());
      const std::size_t colon = line.find("\":");
      hear(line.substr(2, colon - 2), line.substr(colon + 2, line.find('}') - colon - 2));
    }
  }
  void hear(const std::string& key, const std::string& value) {
    heard.push_back(key + "=" + value);
    if (mute.contains(key)) return;
    if (key == "ping") {
      return say(R"({"ping":{"interface":"USB","name":"x-IMU3","sn":"6587-6D35"}})");
    }
    if (key == "apply" || key == "save") return say("{\"" + key + "\":null}");
    if (!settings.contains(key)) return say("{\"" + key + R"(":{"error":"Unknown command"}})");
    if (value != "null" && !stubborn.contains(key)) settings[key] = value;
    const std::string told = camel ? "ahrsAxesConvention" : key;
    say("{\"" + (key == "ahrs_axes_convention" ? told : key) + "\":" + settings[key] + "}");
  }
  void say(const std::string& line) { port.deliver(text(line + "\r\n")); }

  test::FakePort& port;
  std::size_t done = 0;
  std::map<std::string, std::string> settings{{"ahrs_axes_convention", "0"},
                                              {"inertial_message_rate_divisor", "8"},
                                              {"ahrs_message_type", "2"},
                                              {"ahrs_message_rate_divisor", "8"},
                                              {"binary_mode_enabled", "false"}};
  std::set<std::string> mute, stubborn;
  bool camel = false;
  std::vector<std::string> heard;
};

}  // namespace

TEST_GROUP(Ximu3Dialogue) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{Ximu3::options()};
  std::unique_ptr<Driver> driver;
  test::FakePort* port = nullptr;
  std::unique_ptr<Sensor> device;

  void build() {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = 115200;
    setup.sink = &log;
    driver = make_driver<Ximu3>(options, std::move(setup));
    device = std::make_unique<Sensor>(*port);
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void run(hal::Duration d, bool answers = true) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) {
      driver->tick(clock.advance(10ms));
      if (answers) device->answer();
    }
  }
  void start(hal::Duration d = 200ms) {
    driver->start(clock.now());
    run(d);
  }
  std::size_t times(std::string_view said) const {
    return static_cast<std::size_t>(std::ranges::count(device->heard, said));
  }
  void why_is(const char* expected) { STRCMP_EQUAL(expected, driver->health().why.c_str()); }
};

TEST(Ximu3Dialogue, ItIsAskedToldAppliedAndReadBack) {
  build();
  start();
  const std::vector<std::string> expected{"ping=null",
                                          "ahrs_axes_convention=null",
                                          "inertial_message_rate_divisor=4",
                                          "ahrs_message_type=0",
                                          "ahrs_message_rate_divisor=4",
                                          "binary_mode_enabled=true",
                                          "apply=null",
                                          "inertial_message_rate_divisor=null",
                                          "ahrs_message_type=null",
                                          "ahrs_message_rate_divisor=null",
                                          "binary_mode_enabled=null"};
  CHECK_TRUE(device->heard == expected);
  CHECK_TRUE(port->writes[0] == text("{\"ping\":null}\r\n"));
  STRCMP_EQUAL("x-IMU3, serial 6587-6D35", driver->health().about.c_str());
  port->deliver(rates(1'000'000));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(Ximu3Dialogue, ARateThatItLacksIsTheNextLowerOne) {
  set("rate_hz", "150");
  set("orientation", "false");
  set("format", "ascii");
  build();
  start();
  LONGS_EQUAL(1, times("inertial_message_rate_divisor=3"));
  LONGS_EQUAL(1, times("ahrs_message_rate_divisor=0"));
  LONGS_EQUAL(1, times("binary_mode_enabled=false"));
  DOUBLES_EQUAL(400.0 / 3, Ximu3::figures(options, 115200).packets_hz, 1e-9);
}

TEST(Ximu3Dialogue, ItsWorldIsAskedForAndBelieved) {
  for (const bool camel : {false, true}) {
    build();
    device->settings["ahrs_axes_convention"] = "1";
    device->camel = camel;
    start();
    log.samples.clear();
    port->deliver(attitude(1'000'000));
    DOUBLES_EQUAL(1, (*log.samples.at(0).orientation)[3], 1e-9);
  }
}

TEST(Ximu3Dialogue, OfOlderFirmwareTheWorldHasAnotherName) {
  build();
  device->settings.erase("ahrs_axes_convention");
  device->settings["axes_convention"] = "1";
  start();
  port->deliver(attitude(1'000'000));
  DOUBLES_EQUAL(1, (*log.samples.at(0).orientation)[3], 1e-9);
}

TEST(Ximu3Dialogue, WhoDoesNotTellItsWorldIsTakenAsNorthWestUp) {
  for (const bool is_mute : {false, true}) {
    build();
    device->settings.erase("ahrs_axes_convention");
    if (is_mute) device->mute = {"ahrs_axes_convention"};
    start(1s);
    log.samples.clear();
    port->deliver(attitude(1'000'000));
    DOUBLES_EQUAL(0.7071067, (*log.samples.at(0).orientation)[2], 1e-6);
    CHECK_TRUE(driver->health().state == State::streaming);
  }
}

TEST(Ximu3Dialogue, AWorldThatIsSaidIsNotAskedFor) {
  set("world", "nwu");
  build();
  start();
  LONGS_EQUAL(0, times("ahrs_axes_convention=null"));
}

TEST(Ximu3Dialogue, SettingsThatItDoesNotKnowAreLeftOutButThatOfTheRate) {
  build();
  device->settings.erase("ahrs_message_type");
  device->settings.erase("binary_mode_enabled");
  start();
  LONGS_EQUAL(0, times("ahrs_message_type=null"));
  LONGS_EQUAL(1, times("ahrs_message_rate_divisor=null"));
  port->deliver(rates(1'000'000));
  CHECK_TRUE(driver->health().state == State::streaming);
  build();
  device->settings.erase("inertial_message_rate_divisor");
  start();
  CHECK_TRUE(driver->health().cause == Cause::refused);
  why_is("the device refused 'write settings': inertial_message_rate_divisor: Unknown command");
}

TEST(Ximu3Dialogue, WhatIsNotKeptIsTold) {
  build();
  device->stubborn = {"ahrs_message_rate_divisor"};
  start();
  why_is("the device refused 'read settings': ahrs_message_rate_divisor is 8, 4 was written");
}

TEST(Ximu3Dialogue, FlashIsWrittenOnlyWhereItIsWanted) {
  build();
  start();
  LONGS_EQUAL(0, times("save=null"));
  set("save", "true");
  build();
  start();
  LONGS_EQUAL(1, times("save=null"));
}

TEST(Ximu3Dialogue, WhereNothingIsToBeSaidItIsReadAsItStreams) {
  set("configure", "false");
  build();
  start();
  LONGS_EQUAL(0, port->writes.size());
  port->deliver(rates(1'000'000));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(Ximu3Dialogue, AnswersAreFoundAmongMessages) {
  build();
  driver->start(clock.now());
  for (std::uint64_t i = 0; i < 60; ++i) {
    driver->tick(clock.advance(10ms));
    port->deliver(joined(rates(1'000'000 + 10'000 * i), attitude(1'000'000 + 10'000 * i)));
    if (i > 3) device->answer();
  }
  CHECK_TRUE(driver->health().state == State::streaming);
  LONGS_EQUAL(11, device->heard.size());
  CHECK_TRUE(driver->health().balances());
}

TEST(Ximu3Dialogue, NobodyThereIsNamed) {
  build();
  driver->start(clock.now());
  run(2s, false);
  CHECK_TRUE(driver->health().cause == Cause::no_bytes);
}

TEST(Ximu3Dialogue, WhoSendsNoRatesIsToldSoWithTheRemedy) {
  set("configure", "false");
  build();
  driver->start(clock.now());
  for (std::uint64_t i = 0; i < 150; ++i) {
    driver->tick(clock.advance(10ms));
    port->deliver(attitude(1'000'000 + 10'000 * i));
  }
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  CHECK_TRUE(driver->health().why.view().find(
                 "it sends 'Q', but no inertial messages: set inertial_message_rate_divisor") !=
             std::string_view::npos);
}

TEST(Ximu3Dialogue, AnErrorThatItTellsIsAFaultInItsWords) {
  build();
  start();
  port->deliver(rates(1'000'000));
  port->deliver(stuffed(joined(head('F', 0x0ADB), text("Gyroscope failed\x01"))));
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  CHECK_TRUE(driver->health().why.view().find("Gyroscope failed?") != std::string_view::npos);
  port->deliver(text("F,2000000,SD card full\r\n"));
  CHECK_TRUE(driver->health().why.view().find("SD card full") != std::string_view::npos);
}
