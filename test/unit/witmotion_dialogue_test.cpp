#include <algorithm>
#include <map>
#include <memory>

#include "drivers/witmotion/witmotion.h"
#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"
#include "test/support/wit_frames.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::wit;

namespace {

// The other end of the line: registers that are written when it is unlocked.
struct Module {
  explicit Module(test::FakePort& p) : port(p) {}

  void answer() {
    while (done < port.writes.size()) {
      const Octets& r = port.writes[done++];
      if (r.size() != 5) continue;
      const unsigned reg = std::to_integer<unsigned>(r[2]);
      const int value = std::to_integer<int>(r[3]) | std::to_integer<int>(r[4]) << 8;
      if (reg == 0x27 && answers) port.deliver(registers(values[value], values[value + 1]));
      if (reg == 0x69) is_unlocked = value == 0xB588;
      if (reg != 0x27 && reg != 0x69 && is_unlocked && !is_stubborn)
        values[static_cast<int>(reg)] = value;
    }
  }

  test::FakePort& port;
  std::size_t done = 0;
  std::map<int, int> values{{2, 0x1E}, {3, 6}};
  bool is_unlocked = false, answers = true, is_stubborn = false;
};

}  // namespace

TEST_GROUP(WitmotionDialogue) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{Witmotion::options()};
  std::unique_ptr<Driver> driver;
  test::FakePort* port = nullptr;
  std::unique_ptr<Module> module;

  void set_option(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
  void build() {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = 9600;
    setup.sink = &log;
    driver = make_driver<Witmotion>(options, std::move(setup));
    module = std::make_unique<Module>(*port);
  }
  void run(hal::Duration d, bool streams = false) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) {
      driver->tick(clock.advance(10ms));
      module->answer();
      if (streams) port->deliver(set(10));
    }
  }
  void start(hal::Duration d = 400ms) {
    driver->start(clock.now());
    run(d);
  }
  bool wrote(const char* request) {
    return std::ranges::find(port->writes, hex(request)) != port->writes.end();
  }
};

TEST(WitmotionDialogue, TheCommandsAreThoseOfTheProtocolByteForByte) {
  set_option("rate_hz", "100");
  build();
  start();
  const char* const expected[] = {"FF AA 27 02 00", "FF AA 69 88 B5", "FF AA 02 0E 02",
                                  "FF AA 03 09 00", "FF AA 27 02 00"};
  LONGS_EQUAL(std::size(expected), port->writes.size());
  for (std::size_t i = 0; i < std::size(expected); ++i)
    CHECK_TRUE(port->writes[i] == hex(expected[i]));
  STRCMP_EQUAL("100 Hz", driver->health().about.c_str());
  for (int i = 0; i < 3; ++i) port->deliver(set(10));
  CHECK_TRUE(driver->health().state == State::streaming);
}

TEST(WitmotionDialogue, TheRateIsTheNextLowerOneThatItHas) {
  struct Case {
    const char* asked;
    int code;
  };
  for (const Case& c : {Case{"0.2", 1}, Case{"0.4", 1}, Case{"10", 6}, Case{"49", 7},
                        Case{"130", 10}, Case{"200", 11}}) {
    set_option("rate_hz", c.asked);
    build();
    start();
    LONGS_EQUAL(c.code, module->values[3]);
  }
}

TEST(WitmotionDialogue, ContentIsThatOfTheOptions) {
  set_option("orientation", "false");
  build();
  start();
  LONGS_EQUAL(0x06, module->values[2]);
  set_option("device_clock", "true");
  set_option("pressure", "true");
  build();
  start();
  LONGS_EQUAL(0x47, module->values[2]);
}

TEST(WitmotionDialogue, AModuleThatStreamsAndAnswersNothingIsToldAllTheSame) {
  build();
  module->answers = false;
  driver->start(clock.now());
  run(2s, true);
  CHECK_TRUE(driver->health().state == State::streaming);
  LONGS_EQUAL(0x20E, module->values[2]);
  CHECK_TRUE(driver->health().balances());
}

TEST(WitmotionDialogue, WhatIsNotKeptIsTold) {
  build();
  module->is_stubborn = true;
  start(1500ms);
  CHECK_TRUE(driver->health().cause == Cause::refused);
  STRCMP_EQUAL(
      "the device refused 'read settings back': content and rate read 0x1E, 0x6; 0x20E, 0x6 was "
      "written",
      driver->health().why.c_str());
}

TEST(WitmotionDialogue, FlashIsWrittenOnlyWhereItIsWanted) {
  build();
  start();
  CHECK_FALSE(wrote("FF AA 00 00 00"));
  set_option("save", "true");
  build();
  start(600ms);
  CHECK_TRUE(wrote("FF AA 00 00 00"));
}

TEST(WitmotionDialogue, AnOrderThatTheAnglesContradictIsAFault) {
  set_option("quaternion", "wxyz");
  build();
  start();
  for (int i = 0; i < 20; ++i) {
    driver->tick(clock.advance(10ms));
    port->deliver(set(50, false));
  }
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  STRCMP_CONTAINS("its angles say that the option is quaternion: xyzw",
                  driver->health().why.c_str());
}

TEST(WitmotionDialogue, NothingIsSaidAtTheEnd) {
  build();
  start();
  const std::size_t before = port->writes.size();
  driver->stop(clock.now());
  run(20ms);
  CHECK_TRUE(driver->stopped());
  LONGS_EQUAL(before, port->writes.size());
}

TEST(WitmotionDialogue, WithoutAnAnswerTheOtherRatesAreTried) {
  build();
  module->answers = false;
  start(5s);
  STRCMP_CONTAINS("no answer to 'get settings' (2 tries of 250 ms at each baud rate it knows)",
                  driver->health().why.c_str());
}
