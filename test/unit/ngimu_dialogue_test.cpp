#include <bit>
#include <map>
#include <memory>
#include <string>

#include "drivers/ngimu/ngimu.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/osc_packet.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using test::osc::attitude;
using test::osc::bundle;
using test::osc::message;
using test::osc::Octets;
using test::osc::sensors;
using test::osc::slip;
using test::osc::time_of;

namespace {

Octets unescaped(const Octets& line) {
  Octets out;
  for (std::size_t i = 0; i + 1 < line.size(); ++i) {
    const bool escapes = line[i] == std::byte{0xDB};
    if (escapes) ++i;
    out.push_back(!escapes                     ? line[i]
                  : line[i] == std::byte{0xDC} ? std::byte{0xC0}
                                               : std::byte{0xDB});
  }
  return out;
}

// The other end of the line: rates that are written and read by name.
struct Sensor {
  explicit Sensor(test::FakePort& p) : port(p) {}

  void answer(int most = 100) {
    for (; most > 0 && done < port.writes.size(); --most) {
      const Octets request = port.writes[done++];
      CHECK_TRUE(request.back() == std::byte{0xC0});
      hear(unescaped(request));
    }
  }
  void hear(const Octets& r) {
    const std::string text(reinterpret_cast<const char*>(r.data()), r.size());
    const std::string address = text.substr(0, text.find('\0'));
    heard.push_back(address);
    if (is_mute || !rates.contains(address)) return;
    if (r[r.size() / 4 * 4 - 8] == std::byte{','} && r.size() >= 8 &&
        text.find(",f") != text.npos) {
      std::uint32_t raw = 0;
      for (std::size_t i = r.size() - 4; i < r.size(); ++i) {
        raw = raw << 8 | std::to_integer<std::uint32_t>(r[i]);
      }
      if (!is_stubborn) rates[address] = double{std::bit_cast<float>(raw)};
      heard.back() += " written";
    }
    const Octets reply = message(address, {rates[address]});
    port.deliver(slip(bundles ? bundle(1, {reply}) : reply));
  }

  test::FakePort& port;
  std::size_t done = 0;
  std::map<std::string, double> rates{{"/rate/sensors", 20}, {"/rate/quaternion", 10}};
  bool is_mute = false, is_stubborn = false, bundles = false;
  std::vector<std::string> heard;
};

}  // namespace

TEST_GROUP(NgimuDialogue) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{Ngimu::options()};
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
    driver = make_driver<Ngimu>(options, std::move(setup));
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
  void why_is(const char* expected) { STRCMP_EQUAL(expected, driver->health().why.c_str()); }
};

TEST(NgimuDialogue, ItsRatesAreAskedWrittenAndReadBack) {
  for (const bool bundles : {false, true}) {
    build();
    device->bundles = bundles;
    start();
    const std::vector<std::string> expected{"/rate/sensors", "/rate/sensors written",
                                            "/rate/quaternion written", "/rate/sensors",
                                            "/rate/quaternion"};
    CHECK_TRUE(device->heard == expected);
    // As the worked request, behind which SLIP puts its end.
    CHECK_TRUE(port->writes[1] ==
               hex("2F 72 61 74 65 2F 73 65 6E 73 6F 72 73 00 00 00 2C 66 00 00 42 48 00 00 C0"));
    CHECK_TRUE(port->writes[0] ==
               hex("2F 72 61 74 65 2F 73 65 6E 73 6F 72 73 00 00 00 2C 00 00 00 C0"));
    port->deliver(slip(bundle(time_of(1), {sensors()})));
    CHECK_TRUE(driver->health().state == State::streaming);
  }
}

TEST(NgimuDialogue, WithoutTheAttitudeItsRateIsZero) {
  set("orientation", "false");
  set("rate_hz", "100");
  build();
  start();
  DOUBLES_EQUAL(100, device->rates["/rate/sensors"], 1e-9);
  DOUBLES_EQUAL(0, device->rates["/rate/quaternion"], 1e-9);
}

TEST(NgimuDialogue, ARateThatNeedsAnEscapeIsEscaped) {
  set("rate_hz", "6");  // 40 C0 00 00
  build();
  start();
  DOUBLES_EQUAL(6, device->rates["/rate/sensors"], 1e-9);
  LONGS_EQUAL(26, port->writes[1].size());
}

TEST(NgimuDialogue, WhatIsNotKeptIsTold) {
  build();
  device->is_stubborn = true;
  start();
  CHECK_TRUE(driver->health().cause == Cause::refused);
  why_is("the device refused 'read rates': /rate/sensors is 20 Hz, 50 was written");
}

TEST(NgimuDialogue, WhereNothingIsToBeSaidItIsReadAsItStreams) {
  set("configure", "false");
  build();
  start();
  LONGS_EQUAL(0, port->writes.size());
  port->deliver(slip(bundle(time_of(1), {sensors()})));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(NgimuDialogue, AnswersAreFoundAmongPackets) {
  build();
  driver->start(clock.now());
  for (int i = 0; i < 60; ++i) {
    driver->tick(clock.advance(20ms));
    port->deliver(joined(slip(bundle(time_of(1 + 0.02 * i), {sensors()})),
                         slip(bundle(time_of(1 + 0.02 * i), {attitude()}))));
    if (i > 3) device->answer(1);
  }
  CHECK_TRUE(driver->health().state == State::streaming);
  LONGS_EQUAL(5, device->heard.size());
  CHECK_TRUE(driver->health().balances());
}

TEST(NgimuDialogue, WhoStreamsButDoesNotAnswerIsTold) {
  build();
  device->is_mute = true;
  driver->start(clock.now());
  for (int i = 0; i < 200; ++i) {
    driver->tick(clock.advance(20ms));
    port->deliver(slip(bundle(time_of(1 + 0.02 * i), {sensors()})));
  }
  CHECK_TRUE(driver->health().cause == Cause::no_answer);
}

TEST(NgimuDialogue, NobodyThereIsNamed) {
  build();
  driver->start(clock.now());
  run(2s, false);
  CHECK_TRUE(driver->health().cause == Cause::no_bytes);
}

TEST(NgimuDialogue, WhoSendsNoSensorsIsToldSoWithTheRemedy) {
  set("configure", "false");
  build();
  driver->start(clock.now());
  for (int i = 0; i < 150; ++i) {
    driver->tick(clock.advance(10ms));
    port->deliver(slip(bundle(time_of(1 + 0.01 * i), {attitude()})));
  }
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  CHECK_TRUE(driver->health().why.view().find(
                 "it sends /quaternion, but no /sensors: set /rate/sensors") !=
             std::string_view::npos);
}
