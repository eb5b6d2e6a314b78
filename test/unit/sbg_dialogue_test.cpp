#include <map>

#include "drivers/sbg/sbg.h"
#include "test/support/harness.h"
#include "test/support/sbg_frames.h"
#include "test/support/talk.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using namespace test::sbg;

namespace {

unsigned at(const Octets& b, std::size_t i) { return std::to_integer<unsigned>(b[i]); }

// The other end of the line: what each log of port A is set to.
struct Unit {
  Octets answer(const Octets& r) {
    if (is_mute || r.size() < 9) return {};
    const unsigned command = at(r, 2);
    ++asked[command];
    if (command == 4) return info();
    if (command == 1) return ack(1, code_of_save);
    if (command != 30) return ack(command, 9);
    ports.push_back(at(r, 6));
    const std::pair key{at(r, 8), at(r, 7)};
    if (!modes.contains(key)) return ack(30, 4);
    if (r.size() == 12) {
      return frame(30, 0x10,
                   Data{}.u8(at(r, 6)).u8(key.second).u8(key.first).u16(modes[key]).bytes);
    }
    if (code_of_set != 0) return ack(30, code_of_set);
    if (!is_stubborn) modes[key] = at(r, 9) | at(r, 10) << 8;
    return ack(30);
  }
  static Octets info() {
    Data d;
    for (const char c : std::string_view("ELLIPSE-A-G4A3-B1")) d.u8(static_cast<unsigned char>(c));
    d.bytes.resize(32);
    d.u32(45'001'234).u32(0).u32(0).u32(0x01020000).u32(0x02050000);
    return frame(4, 0x10, d.bytes);
  }

  std::map<std::pair<unsigned, unsigned>, unsigned> modes{{{0, 44}, 0}, {{0, 3}, 8}, {{1, 0}, 1001},
                                                          {{0, 7}, 0},  {{0, 6}, 8}, {{0, 2}, 0},
                                                          {{0, 1}, 8}};
  std::map<unsigned, int> asked;
  std::vector<unsigned> ports;
  bool is_mute = false, is_stubborn = false;
  unsigned code_of_set = 0, code_of_save = 0;
};

}  // namespace

TEST_GROUP(SbgDialogue) {
  Unit unit;
  test::Talk<Sbg> talk{[this](const Octets& r) { return unit.answer(r); }};

  void start(hal::Duration length = 300ms) {
    talk.start();
    talk.run(length);
  }
  unsigned mode(unsigned log, unsigned cls = 0) { return unit.modes.at({cls, log}); }
};

TEST(SbgDialogue, WhatItSendsIsSetAndAskedAgain) {
  start();
  CHECK_TRUE(talk.wrote("FF 5A 04 10 00 00 79 F7 33"));
  CHECK_TRUE(talk.wrote("FF 5A 1E 10 05 00 00 2C 00 02 00 4D A4 33"));
  LONGS_EQUAL(2, mode(44));
  LONGS_EQUAL(2, mode(7));
  LONGS_EQUAL(200, mode(2));
  LONGS_EQUAL(0, mode(3));
  LONGS_EQUAL(0, mode(6));
  LONGS_EQUAL(0, mode(0, 1));
  LONGS_EQUAL(8, mode(1));  // is left alone
  LONGS_EQUAL(6 + 6 + 1, unit.asked[30]);
  LONGS_EQUAL(0, unit.asked[1]);
  STRCMP_EQUAL("ELLIPSE-A-G4A3-B1, serial 045001234, firmware 2.5", talk.health().about.c_str());
  talk.port->deliver(imu_short(1000));
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(SbgDialogue, WhatIsSetAlreadyIsNotSetAgain) {
  unit.modes = {{{0, 44}, 2}, {{0, 3}, 0}, {{1, 0}, 0}, {{0, 7}, 2}, {{0, 6}, 0}, {{0, 2}, 200}};
  talk.set("save", "true");
  start();
  LONGS_EQUAL(6, unit.asked[30]);
  LONGS_EQUAL(0, unit.asked[1]);
}

TEST(SbgDialogue, RatesAreModes) {
  talk.set("rate_hz", "600");
  talk.set("port", "C");
  start();
  LONGS_EQUAL(1002, mode(44));  // the next lower one
  LONGS_EQUAL(1, mode(7));
  LONGS_EQUAL(2, unit.ports.at(0));
}

TEST(SbgDialogue, ADeviceWithoutTheShortLogSendsTheOther) {
  unit.modes.erase({0, 44});
  talk.set("orientation", "false");
  start();
  LONGS_EQUAL(2, mode(3));
  LONGS_EQUAL(0, mode(7));
}

TEST(SbgDialogue, ChangesAreSavedWhereThatIsAskedFor) {
  talk.set("save", "true");
  start();
  LONGS_EQUAL(1, unit.asked[1]);
  CHECK_TRUE(talk.wrote("FF 5A 01 10 01 00 01 B0 83 33"));
}

TEST(SbgDialogue, ARefusalIsNamed) {
  unit.code_of_set = 7;
  start();
  CHECK_TRUE(talk.health().cause == Cause::refused);
  STRCMP_EQUAL("the device refused 'set output': log 44 at mode 2 (code 7)",
               talk.health().why.c_str());
}

TEST(SbgDialogue, WhatWasNotKeptIsNamed) {
  unit.is_stubborn = true;
  start();
  STRCMP_EQUAL("the device refused 'get output again': log 44 is sent at mode 0, 2 was set",
               talk.health().why.c_str());
}

TEST(SbgDialogue, ADeviceThatDoesNotAnswerIsListenedTo) {
  unit.is_mute = true;
  start(2500ms);
  talk.port->deliver(imu_data(1000));
  CHECK_TRUE(talk.health().state == State::streaming);
  CHECK_TRUE(talk.health().balances());
}

TEST(SbgDialogue, NothingIsSaidWhereItIsOnlyListenedTo) {
  talk.set("configure", "false");
  start();
  LONGS_EQUAL(0, talk.port->writes.size());
  talk.port->deliver(imu_data(1000));
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(SbgDialogue, WithoutInertialLogsItIsToldWhatComes) {
  talk.set("configure", "false");
  talk.start();
  for (std::uint32_t i = 0; i < 200; ++i) {
    talk.port->deliver(quaternion(i * 10'000, 0));
    talk.run(10ms);
  }
  CHECK_TRUE(talk.health().cause == Cause::device_fault);
  STRCMP_CONTAINS("it sends log 7, but no inertial one: switch on IMU_SHORT (44), or set configure",
                  talk.health().why.c_str());
}

TEST(SbgDialogue, AFaultOfTheDeviceIsToldWhileItStreams) {
  start();
  for (std::uint32_t i = 1; i < 20; ++i) {
    talk.port->deliver(imu_short(i * 10'000, 0x2FF));
    talk.run(10ms);
  }
  CHECK_TRUE(talk.health().state == State::streaming);
  CHECK_TRUE(talk.health().cause == Cause::device_fault);
  STRCMP_CONTAINS("an acceleration is beyond its range", talk.health().why.c_str());
}
