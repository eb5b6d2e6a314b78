#include <memory>
#include <set>

#include "drivers/xsens/xsens.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/xsens_messages.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::xsens;

namespace {

const Octets kList = hex("10 20 FF FF 10 60 FF FF 40 20 00 64 80 20 00 64 E0 20 FF FF 20 10 00 64");
const Octets kGoToConfig = hex("FA FF 30 00 D1"), kGoToMeasurement = hex("FA FF 10 00 F1");

// The other end of the line.
struct Mti {
  explicit Mti(test::FakePort& p) : port(p) {}

  void answer() {
    while (done < port.writes.size()) {
      const Octets request = port.writes[done++];
      const int rate = port.bauds.empty() ? 115'200 : port.bauds.back();
      if (rate != baud) continue;
      // A request may hold two messages.
      for (std::size_t at = 0; at < request.size();) {
        const auto u8 = [&](std::size_t i) {
          return std::to_integer<std::size_t>(request[at + i]);
        };
        const auto begin = request.begin() + static_cast<std::ptrdiff_t>(at) + 4;
        hear(static_cast<unsigned>(u8(2)),
             Octets(begin, begin + static_cast<std::ptrdiff_t>(u8(3))));
        at += 5 + u8(3);
      }
    }
  }
  void hear(unsigned kind, const Octets& data) {
    heard.push_back(kind);
    if (mute.contains(kind)) return;
    if (kind == 0x3F) is_awake = true;
    if (!is_awake) return port.deliver(message(0x3E, {}));
    if (kind == 0x30) port.deliver(message(0x31, {}));
    if (kind == 0x00) port.deliver(message(0x01, number));
    if (kind == 0x1C) port.deliver(message(0x1D, hex("4D 54 69 2D 33 30 20 20")));  // MTi-30
    if (kind == 0x12) port.deliver(message(0x13, hex("01 08 02")));
    if (kind == 0x10) port.deliver(message(0x11, {}));
    if (kind == 0xC0) hear_outputs(data);
  }
  void hear_outputs(const Octets& data) {
    if (data.empty()) return port.deliver(message(0xC1, outputs));
    for (std::size_t i = 0; i < data.size(); i += 4) {
      const unsigned id =
          std::to_integer<unsigned>(data[i]) << 8 | std::to_integer<unsigned>(data[i + 1]);
      if (lacks.contains(id)) return port.deliver(message(0x42, hex("21")));
    }
    ++writes;
    outputs = data;
    if (!lowered.empty()) outputs = lowered;
    port.deliver(message(0xC1, outputs));
  }

  test::FakePort& port;
  std::size_t done = 0;
  int baud = 115'200, writes = 0;
  bool is_awake = true;
  Octets number = hex("03 68 0D 12"), outputs, lowered;
  std::set<unsigned> mute, lacks;
  std::vector<unsigned> heard;
};

}  // namespace

TEST_GROUP(XsensDialogue) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{Xsens::options()};
  std::unique_ptr<Driver> driver;
  test::FakePort* port = nullptr;
  std::unique_ptr<Mti> device;

  void build() {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = 115200;
    setup.sink = &log;
    driver = make_driver<Xsens>(options, std::move(setup));
    device = std::make_unique<Mti>(*port);
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void run(hal::Duration d) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) {
      driver->tick(clock.advance(10ms));
      device->answer();
    }
  }
  void start(hal::Duration d = 50ms) {
    driver->start(clock.now());
    run(d);
  }
  void stream() {
    for (unsigned i = 1; i < 4; ++i) port->deliver(at_rest(i, 100 * i));
  }
  void why_is(const char* expected) { STRCMP_EQUAL(expected, driver->health().why.c_str()); }
};

TEST(XsensDialogue, TheRequestsAreThoseOfTheProtocolByteForByte) {
  build();
  start();
  const Octets expected[] = {kGoToConfig,           hex("FA FF 00 00 01"), hex("FA FF 1C 00 E5"),
                             hex("FA FF 12 00 EF"), hex("FA FF C0 00 41"), message(0xC0, kList),
                             kGoToMeasurement};
  LONGS_EQUAL(std::size(expected), port->writes.size());
  for (std::size_t i = 0; i < std::size(expected); ++i) CHECK_TRUE(port->writes[i] == expected[i]);
  stream();
  CHECK_TRUE(driver->health().state == State::streaming);
  LONGS_EQUAL(3, log.samples.size());
  STRCMP_EQUAL("MTi-30, number 03680D12, firmware 1.8.2, 100 Hz", driver->health().about.c_str());
}

TEST(XsensDialogue, WhatIsSetAlreadyIsNotWrittenAgain) {
  build();
  device->outputs = kList;
  start();
  LONGS_EQUAL(0, device->writes);
  stream();
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(XsensDialogue, ARateThatIsSetLowerIsWritten) {
  set("rate_hz", "400");
  build();
  device->outputs = kList;
  start();
  LONGS_EQUAL(1, device->writes);
}

TEST(XsensDialogue, TheRateThatItAcknowledgesCounts) {
  set("rate_hz", "400");
  build();
  device->lowered = hex("10 20 FF FF 10 60 FF FF 40 20 00 05 80 20 00 05 E0 20 FF FF 20 10 00 05");
  start();
  STRCMP_CONTAINS(", 5 Hz", driver->health().about.c_str());
  stream();
  run(590ms);  // three periods
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(XsensDialogue, WhatItDoesNotHaveIsDoneWithout) {
  set("air", "true");
  build();
  device->lacks = {0x2010, 0x3010};
  start();
  CHECK_TRUE(device->outputs == Octets(kList.begin(), kList.begin() + 20));
  STRCMP_CONTAINS("100 Hz, not all that was asked, no attitude", driver->health().about.c_str());
  stream();
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(XsensDialogue, WithoutWhatIsIndispensableItIsRefused) {
  build();
  device->lacks = {0x4020};
  start();
  CHECK_TRUE(driver->health().cause == Cause::refused);
  why_is("the device refused 'set output configuration': an invalid parameter (error 33)");
}

TEST(XsensDialogue, ADeviceThatHasJustGotPowerIsToldThatSomebodyIsThere) {
  build();
  device->is_awake = false;
  start();
  const auto woken = std::ranges::find(device->heard, 0x3FU);
  CHECK_TRUE(woken != device->heard.end() && *(woken + 1) == 0x30);
  stream();
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(XsensDialogue, AnswersAreFoundBehindWhatWasSentBefore) {
  build();
  driver->start(clock.now());
  for (unsigned i = 0; i < 40; ++i) {
    driver->tick(clock.advance(10ms));
    port->deliver(at_rest(i, 100 * i + 100));
    if (i > 20) device->answer();
  }
  CHECK_TRUE(driver->health().state == State::streaming);
  CHECK_TRUE(driver->health().unwanted > 0);
  CHECK_TRUE(driver->health().balances());
}

TEST(XsensDialogue, ItIsFoundAtAnotherRate) {
  build();
  device->baud = 460'800;
  start(3s);
  LONGS_EQUAL(460'800, driver->health().baud);
  stream();
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(XsensDialogue, ARestartIsSeenAndItIsSetUpAnew) {
  build();
  start();
  stream();
  port->deliver(message(0x3E, {}));
  LONGS_EQUAL(1, driver->health().resets);
  run(300ms);
  LONGS_EQUAL(2, std::ranges::count(device->heard, 0x10U));
}

TEST(XsensDialogue, ErrorsAreToldInWords) {
  build();
  start();
  stream();
  port->deliver(message(0x42, hex("1E")));
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  STRCMP_CONTAINS("it is to send more than its line carries (error 30)",
                  driver->health().why.c_str());
}

TEST(XsensDialogue, AWarningIsToldAsItSaysIt) {
  build();
  start();
  stream();
  port->deliver(message(0x43, hex("00 00 00 07 68 6F 74")));
  STRCMP_CONTAINS("it warns: hot (7)", driver->health().why.c_str());
}

TEST(XsensDialogue, TheLengthOfItsNumberTellsWhereItsCounterWraps) {
  for (const bool is_long : {false, true}) {
    build();
    if (is_long) device->number = hex("00 80 00 03 03 68 0D 12");
    start();
    for (unsigned i = 1; i < 3; ++i) port->deliver(at_rest(i, 863'999'800 + 50 * i));
    port->deliver(at_rest(3, 50));
    LONGS_EQUAL(is_long ? 1 : 0, driver->health().clock.epoch);
  }
}

TEST(XsensDialogue, StopBringsItToItsConfigState) {
  build();
  start();
  stream();
  driver->stop(clock.now());
  CHECK_TRUE(port->writes.back() == kGoToConfig);
  device->answer();
  CHECK_TRUE(driver->stopped());
}

TEST(XsensDialogue, WithoutAnAnswerEveryRateIsTried) {
  build();
  device->baud = 1;
  start(6800ms);
  STRCMP_CONTAINS("no answer to 'go to config' (3 tries of 250 ms at each baud rate it knows)",
                  driver->health().why.c_str());
}

TEST(XsensDialogue, TheWireIsBudgetedByWhatIsAsked) {
  DOUBLES_EQUAL(7300, Xsens::figures(options, 115'200).bytes_per_s, 0);
  set("deltas", "true"), set("air", "true"), set("field_ut", "48"), set("rate_hz", "200");
  DOUBLES_EQUAL(200 * (73 + 15 + 19) + 100 * 15 + 7 + 50 * 7,
                Xsens::figures(options, 115'200).bytes_per_s, 0);
}
