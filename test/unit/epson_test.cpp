#include "drivers/epson/epson.h"

#include <map>
#include <string>

#include "drivers/decoder.h"
#include "drivers/inertial.h"
#include "test/support/allocation_counter.h"
#include "test/support/epson_bursts.h"
#include "test/support/framing_properties.h"
#include "test/support/hex.h"
#include "test/support/packet_log.h"
#include "test/support/talk.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::epson;

namespace {

void vector_is(const ImuSample::Vector& expected, const std::optional<ImuSample::Vector>& actual,
               double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

}  // namespace

TEST_GROUP(Epson) {
  Options options{Epson::options()};
  test::PacketLog log;
  hal::Time now{1000s};

  DecoderStats feed(const std::vector<Octets>& frames) {
    DeviceDecoder<Epson> decoder(options, 0, log);
    for (const Octets& f : frames) decoder.feed({f, now += 5ms});
    return decoder.stats();
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
};

TEST(Epson, BurstsOf16BitAreReadAsTheMakerReadsThem) {
  set("bits", "16");
  feed({hex(k16)});
  LONGS_EQUAL(1, log.samples.size());
  const ImuSample& s = log.samples[0];
  DOUBLES_EQUAL(25.5, *s.temperature, 1e-9);
  vector_is({0.0100489, -0.0200977, 0.0298821}, s.gyro, 1e-7);
  vector_is({0.0980665, -0.196133, 9.80665}, s.accel);
  CHECK_TRUE(8'000'000 == s.device_ns.value_or(-1));
}

TEST(Epson, BurstsOf32BitAreReadAsTheDescriptionSays) {
  feed({hex(k32)});
  const ImuSample& s = log.samples.at(0);
  DOUBLES_EQUAL(25.5, *s.temperature, 1e-9);
  DOUBLES_EQUAL(0.572958 * inertial::kRadPerDeg, (*s.gyro)[0], 1e-8);
  vector_is({0.0980665, -0.196133, 9.80665}, s.accel);
}

TEST(Epson, EachProductHasItsOwnScales) {
  set("bits", "16");
  set("model", "G354PDH0");
  feed({burst(words({0xFE00, 2634, 100, 0, 0, 0, 0, 1000, 300}))});
  const ImuSample& s = log.samples.at(0);
  DOUBLES_EQUAL(25, *s.temperature, 1e-9);
  DOUBLES_EQUAL(1.6 * inertial::kRadPerDeg, (*s.gyro)[0], 1e-9);
  DOUBLES_EQUAL(0.2 * inertial::kGravity, (*s.accel)[2], 1e-9);
  CHECK_TRUE(300 * 21'333 == s.device_ns.value_or(-1));
}

TEST(Epson, TheDelayOfTheFilterIsTakenOff) {
  feed({hex(k32)});
  set("filter_delay", "false");
  feed({hex(k32)});
  CHECK_TRUE(log.samples.at(0).at == log.arrivals.at(0) - 4ms);  // 16 taps at 2 kHz, the middle
  CHECK_TRUE(log.samples.at(1).at == log.arrivals.at(1));
}

TEST(Epson, TheCounterWrapsWhereItsSixteenBitsEnd) {
  feed({sample(65'400), sample((65'400 + 313) % 65'536)});
  CHECK_TRUE((65'400 + 313) * 16'000 == log.samples.at(1).device_ns.value_or(-1));
}

TEST(Epson, APulseBeginsItAnewEachSecond) {
  set("pps", "true");
  feed({sample(62'400), sample(62'400 + 312 - 62'500)});
  CHECK_TRUE((62'400 + 312) * 16'000 == log.samples.at(1).device_ns.value_or(-1));
}

TEST(Epson, WhatMakesNoSenseIsUndecodable) {
  const auto stats = feed({sample(1, 0xFE00, 0)});
  LONGS_EQUAL(1, stats.undecodable);
  LONGS_EQUAL(0, log.samples.size());
}

TEST(Epson, ItsBytesAreRecognisedInEitherWidth) {
  Octets wide, narrow;
  for (int i = 0; i < 10; ++i) wide = joined(wide, hex(k32)), narrow = joined(narrow, hex(k16));
  DOUBLES_EQUAL(1, Epson::likeness(wide), 1e-9);
  DOUBLES_EQUAL(1, Epson::likeness(narrow), 1e-9);
  DOUBLES_EQUAL(0, Epson::likeness(Octets(400, std::byte{0x80})), 1e-9);
}

TEST(Epson, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(EpsonFraming(true), {hex(k32), sample(0x800D), sample(0x0D80)});
  test::check_garbage_and_splits(EpsonFraming(false), {hex(k16)});
  test::check_torn_frames(EpsonFraming(true), sample(5), sample(6));
  std::vector<Octets> many;
  for (unsigned i = 0; i < 300; ++i) many.push_back(sample(i));
  test::check_damaged_stream(EpsonFraming(true), many);
}

TEST(Epson, AnAnswerIsAFrameWhileItIsAwaited) {
  EpsonFraming framing(true);
  const Octets answer = hex("02 04 00 0D");
  LONGS_EQUAL(kNotAFrame, framing.measure(answer));
  framing.expect(0x02);
  LONGS_EQUAL(4, framing.measure(answer));
  CHECK_TRUE(framing.intact(answer));
  CHECK_FALSE(framing.intact(hex("02 04 00 0E")));
  LONGS_EQUAL(36, framing.measure(hex(k32)));
}

TEST(Epson, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other;
  DeviceDecoder<Epson> one(options, 0, log), two(options, 0, other);
  const Octets a = sample(100), b = sample(200);
  for (std::size_t i = 0; i < a.size(); ++i) {
    one.feed({std::span(a).subspan(i, 1), now});
    two.feed({std::span(b).subspan(i, 1), now});
  }
  CHECK_TRUE(1'600'000 == log.samples.at(0).device_ns.value_or(-1));
  CHECK_TRUE(3'200'000 == other.samples.at(0).device_ns.value_or(-1));
}

TEST(Epson, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Epson> decoder(options, 460'800, counter);
  std::vector<Octets> frames;
  for (unsigned i = 0; i < 100; ++i) frames.push_back(sample(313 * i & 0xFFFF));
  test::AllocationCounter allocations;
  for (const Octets& f : frames) decoder.feed({f, now += 5ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

// Registers behind the two windows, by window << 8 | address.
TEST_GROUP(EpsonDialogue) {
  std::map<unsigned, unsigned> registers{{0x002, 0x0000}, {0x004, 0}};
  unsigned window = 0;
  int busy = 2;  // as often its filter says so
  bool sampling = true;
  std::string product = "G370PDG0";
  test::Talk<Epson> talk{[this](const Octets& r) { return answer(r); }, 460'800};

  Octets answer(const Octets& r) {
    LONGS_EQUAL(3, r.size());  // one command at a time
    const unsigned address = std::to_integer<unsigned>(r[0]), v = std::to_integer<unsigned>(r[1]);
    if ((address & 0x80) != 0) return write(address & 0x7F, v);
    if (sampling) return hex(k16);  // the answer is lost in a burst
    unsigned told = registers[window << 8 | address];
    if (window == 0 && address == 0x02) told = 0x0400;
    if (window == 1 && address == 0x06 && busy-- > 0) told |= 0x20;
    if (window == 1 && address >= 0x6A && address <= 0x70) {
      const auto* const at = reinterpret_cast<const unsigned char*>(&product[address - 0x6A]);
      told = at[0] | at[1] << 8;
    }
    if (window == 1 && address >= 0x74 && address <= 0x7A)
      told = 0x3130 + (address - 0x74) / 2 * 0x0101;
    return joined(joined({r[0]}, words({told})), hex("0D"));
  }
  Octets write(unsigned address, unsigned v) {
    if (address == 0x7E) {
      window = v;
    } else if (window == 0 && address == 0x03) {
      sampling = v == 1;
    } else if (!sampling) {
      unsigned& word = registers[window << 8 | (address & 0x7E)];
      word = (address & 1) != 0 ? (word & 0x00FF) | v << 8 : (word & 0xFF00) | v;
    }
    return {};
  }
  void start(hal::Duration length = 2s) {
    talk.start();
    talk.run(length);
  }
};

TEST(EpsonDialogue, ItIsStoppedAskedConfiguredAndStarted) {
  start();
  CHECK_TRUE(sampling);
  LONGS_EQUAL(0xFE00, registers[0x100]);
  LONGS_EQUAL(0x0040, registers[0x102]);
  LONGS_EQUAL(0x0900, registers[0x104]);
  LONGS_EQUAL(0x0004, registers[0x106]);
  LONGS_EQUAL(0x0001, registers[0x108]);
  LONGS_EQUAL(0xF003, registers[0x10C]);
  LONGS_EQUAL(0x7000, registers[0x10E]);
  LONGS_EQUAL(0, registers[0x110]);
  talk.port->deliver(sample(7));
  CHECK_TRUE(talk.health().state == State::streaming);
  STRCMP_EQUAL("M-G370PDG0, serial 01122334", talk.health().about.c_str());
}

TEST(EpsonDialogue, NumbersOf16BitAreSet) {
  talk.set("bits", "16");
  registers[0x10E] = 0x7F00;
  start();
  LONGS_EQUAL(0, registers[0x10E]);
  talk.port->deliver(hex(k16));
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(EpsonDialogue, AnotherProductIsNamed) {
  product = "G354PDH0";
  start();
  STRCMP_CONTAINS("it is a G354PDH0: write 'model: G354PDH0'", talk.health().why.c_str());
}

TEST(EpsonDialogue, AFailedSelfTestIsNamed) {
  registers[0x004] = 0x0002;
  start();
  STRCMP_CONTAINS("its self-test failed (DIAG_STAT 0x0002)", talk.health().why.c_str());
}

TEST(EpsonDialogue, AnErrorFlagIsNamed) {
  start();
  talk.port->deliver(sample(7, 0xFE01));
  talk.run(20ms);
  STRCMP_CONTAINS("it reports an error", talk.health().why.c_str());
  LONGS_EQUAL(1, talk.log.samples.size());
}

TEST(EpsonDialogue, ASecondStartSetsEverythingAgain) {
  start();
  talk.port->deliver(sample(7));
  registers.clear();  // power was lost
  talk.run(5s);
  LONGS_EQUAL(0xF003, registers[0x10C]);
}

TEST(EpsonDialogue, ItIsStoppedAtTheEnd) {
  start();
  talk.driver->stop(talk.clock.now());
  talk.run(200ms);
  CHECK_FALSE(sampling);
  CHECK_TRUE(talk.driver->stopped());
}
