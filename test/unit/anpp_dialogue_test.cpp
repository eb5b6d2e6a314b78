#include <map>

#include "drivers/anpp/anpp.h"
#include "test/support/anpp_packets.h"
#include "test/support/harness.h"
#include "test/support/talk.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::joined;
using namespace test::anpp;

namespace {

unsigned at(const Octets& b, std::size_t i) { return std::to_integer<unsigned>(b[i]); }

// The other end of the line: the periods of its packets.
struct Unit {
  Octets answer(const Octets& r) {
    if (is_mute || r.size() < 5) return {};
    const unsigned id = at(r, 1);
    if (id == 1) return at(r, 5) == 3 ? info() : told();
    if (id == 180) return ack(r, timer_result);
    if (id != 181) return {};
    ++sets;
    for (std::size_t i = 7; i + 5 <= r.size(); i += 5) {
      if (lacks == at(r, i)) return ack(r, 3);
    }
    permanent = at(r, 5) != 0;
    periods.clear();
    for (std::size_t i = 7; i + 5 <= r.size(); i += 5)
      periods[at(r, i)] = is_stubborn ? 7U : at(r, i + 1) | at(r, i + 2) << 8;
    return joined(raw(), ack(r));  // among the data
  }
  Octets told() const {
    Octets data(2);
    for (const auto& [id, ticks] : periods) put(data, id, 1), put(data, ticks, 4);
    return packet(181, data);
  }

  std::map<unsigned, unsigned> periods;
  unsigned lacks = 0, timer_result = 0;
  int sets = 0;
  bool is_mute = false, is_stubborn = false, permanent = false;
};

}  // namespace

TEST_GROUP(AnppDialogue) {
  Unit unit;
  test::Talk<Anpp> talk{[this](const Octets& r) { return unit.answer(r); }};

  void start(hal::Duration length = 200ms) {
    talk.start();
    talk.run(length);
  }
};

TEST(AnppDialogue, PeriodsAreSetAndAskedAgain) {
  start();
  CHECK_TRUE(talk.wrote("9A 01 01 93 D1 03"));
  CHECK_TRUE(talk.wrote("A6 B4 04 88 1A 00 01 E8 03"));
  LONGS_EQUAL(5, unit.periods.size());
  LONGS_EQUAL(10, unit.periods[28]);
  LONGS_EQUAL(10, unit.periods[40]);
  LONGS_EQUAL(10, unit.periods[49]);
  LONGS_EQUAL(1000, unit.periods[21]);
  LONGS_EQUAL(1000, unit.periods[23]);
  CHECK_FALSE(unit.permanent);
  STRCMP_EQUAL("device 3, serial 000000010000000200000003, software 2300",
               talk.health().about.c_str());
  talk.port->deliver(joined(raw(), running(1)));
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(AnppDialogue, OptionsAreFollowed) {
  talk.set("rate_hz", "250");
  talk.set("orientation", "false");
  talk.set("save", "true");
  start();
  LONGS_EQUAL(4, unit.periods[28]);
  LONGS_EQUAL(0, unit.periods.count(40));
  CHECK_TRUE(unit.permanent);
}

TEST(AnppDialogue, AModelWithoutAnAttitudeDoesWithoutIt) {
  unit.lacks = 40;
  start();
  LONGS_EQUAL(2, unit.sets);
  LONGS_EQUAL(10, unit.periods[49]);
  STRCMP_CONTAINS(", no attitude", talk.health().about.c_str());
}

TEST(AnppDialogue, AModelWithoutARunningTimeTellsUnixTimeEachTick) {
  unit.lacks = 49;
  start();
  LONGS_EQUAL(3, unit.sets);
  LONGS_EQUAL(10, unit.periods[21]);
  LONGS_EQUAL(10, unit.periods[40]);
  STRCMP_CONTAINS(", no running time", talk.health().about.c_str());
}

TEST(AnppDialogue, RefusalsAreNamed) {
  unit.lacks = 28;
  start();
  CHECK_TRUE(talk.health().cause == Cause::refused);
  STRCMP_EQUAL("the device refused 'set packet periods': out of range (result 3)",
               talk.health().why.c_str());
}

TEST(AnppDialogue, ARefusedTimerIsNamed) {
  unit.timer_result = 5;
  start();
  STRCMP_EQUAL("the device refused 'set packet timer': it is not ready (result 5)",
               talk.health().why.c_str());
}

TEST(AnppDialogue, WhatWasNotKeptIsNamed) {
  unit.is_stubborn = true;
  start();
  STRCMP_EQUAL(
      "the device refused 'get packet periods': packet 28 comes every 7 ticks, 10 were set",
      talk.health().why.c_str());
}

TEST(AnppDialogue, ADeviceThatDoesNotAnswerIsListenedTo) {
  unit.is_mute = true;
  start(2500ms);
  talk.port->deliver(joined(raw(), running(1)));
  CHECK_TRUE(talk.health().state == State::streaming);
  CHECK_TRUE(talk.health().balances());
}

TEST(AnppDialogue, NothingIsSaidWhereItIsOnlyListenedTo) {
  talk.set("configure", "false");
  start();
  LONGS_EQUAL(0, talk.port->writes.size());
}

TEST(AnppDialogue, WithoutRawSensorsItIsToldWhatComes) {
  talk.set("configure", "false");
  talk.start();
  for (unsigned i = 0; i < 200; ++i) {
    talk.port->deliver(running(0.01 * i));
    talk.run(10ms);
  }
  CHECK_TRUE(talk.health().cause == Cause::device_fault);
  STRCMP_CONTAINS("it sends packet 49, but no raw sensors (28)", talk.health().why.c_str());
}

TEST(AnppDialogue, FaultsOfTheDeviceAreNamed) {
  for (const auto& [bits, words] : {std::pair{0x01U, "it failed (status 0x0001)"},
                                    {0x02U, "its accelerometer failed"},
                                    {0x04U, "its gyroscope failed"},
                                    {0x40U, "an acceleration is beyond its range"},
                                    {0x80U, "a rate of turn is beyond its range"}}) {
    test::Talk<Anpp> one{[](const Octets&) { return Octets{}; }};
    one.set("configure", "false");
    one.start();
    one.port->deliver(joined(joined(status(bits, 1), raw()), running(1)));
    CHECK_TRUE(one.health().cause == Cause::device_fault);
    STRCMP_CONTAINS(words, one.health().why.c_str());
  }
}
