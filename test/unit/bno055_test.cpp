#include "drivers/bno055/bno055.h"

#include <map>
#include <set>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/talk.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using Octets = std::vector<std::byte>;

namespace {

const Octets kBlock =
    hex("BB 2D 0A 00 EC FF D5 03 40 01 00 00 80 FD 09 00 EE FF 1B 00 A0 05 E0 FF 10 00 41 2D 00 00 "
        "00 00 41 2D 00 00 00 00 00 00 00 00 00 00 D5 03 19");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], 1e-12);
}
// The same with another last digit.
Octets block(unsigned i) {
  Octets b = kBlock;
  b[2] = static_cast<std::byte>(i);
  return b;
}

// The other end of the line: registers.
struct Chip {
  unsigned at(const Octets& b, std::size_t i) const { return std::to_integer<unsigned>(b[i]); }

  Octets operator()(const Octets& request) {
    heard.push_back(request);
    if (is_dead) return {};
    if (overruns > 0) return --overruns, hex("EE 07");
    const unsigned address = at(request, 2);
    if (at(request, 1) == 0) {
      if (refused.contains(address)) return hex("EE 03");
      if (!stubborn.contains(address)) registers[address] = at(request, 4);
      return hex("EE 01");
    }
    const unsigned n = at(request, 3);
    if (n == 45) return cut ? Octets(kBlock.begin(), kBlock.begin() + 40) : block(++told % 200);
    Octets reply{std::byte{0xBB}, static_cast<std::byte>(n)};
    for (unsigned i = 0; i < n; ++i)
      reply.push_back(static_cast<std::byte>(registers[address + i]));
    return reply;
  }

  std::map<unsigned, unsigned> registers{{0, 0xA0}, {4, 0x11}, {5, 0x03}};
  std::set<unsigned> refused, stubborn;
  int overruns = 0;
  bool is_dead = false, cut = false;
  unsigned told = 0;
  std::vector<Octets> heard;
};

}  // namespace

TEST_GROUP(Bno055) {
  Options options{Bno055::options()};
  test::PacketLog log;
  DeviceDecoder<Bno055> decoder{options, 0, log};
  hal::Time now{1000s};
  Chip chip;
  test::Talk<Bno055> talk{[this](const Octets& request) { return chip(request); }};

  void feed(const Octets& bytes) { decoder.feed({bytes, now += 10ms}); }
};

TEST(Bno055, TheWorkedBlockIsReadFieldByField) {
  feed(kBlock);
  const ImuSample& s = log.samples.at(0);
  vectors_equal({0.1, -0.2, 9.81}, s.accel);
  vectors_equal({0.01, -0.02, 0.03}, s.gyro);
  vectors_equal({20e-6, 0, -40e-6}, s.mag);
  DOUBLES_EQUAL(25, *s.temperature, 0);
  DOUBLES_EQUAL(11585 / 16384.0, (*s.orientation)[2], 1e-12);
  DOUBLES_EQUAL(11585 / 16384.0, (*s.orientation)[3], 1e-12);
  CHECK_FALSE(s.device_ns.has_value());
}

TEST(Bno055, WithoutFusionThereIsNoAttitudeAndWithoutMagnetometerNoField) {
  Octets b = kBlock;
  std::fill_n(b.begin() + 8, 6, std::byte{0});
  std::fill_n(b.begin() + 26, 8, std::byte{0});
  feed(b);
  CHECK_FALSE(log.samples.at(0).orientation || log.samples[0].mag);
}

TEST(Bno055, UndecodableIsWhatMakesNoSense) {
  Octets zeros(47);
  zeros[0] = std::byte{0xBB}, zeros[1] = std::byte{45};
  feed(zeros);  // it has not measured yet
  Octets wild = kBlock;
  wild[3] = std::byte{0x7F};  // more than 16 g
  feed(wild);
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(2, decoder.stats().undecodable);
}

TEST(Bno055, WhatIsToldTwiceIsGivenOnceButAtRestItGoesOn) {
  feed(block(1)), feed(block(2)), feed(block(2)), feed(block(3));
  LONGS_EQUAL(3, log.samples.size());
  for (int i = 0; i < 10; ++i) feed(block(4));
  LONGS_EQUAL(8, log.samples.size());
}

TEST(Bno055, OtherAnswersAreNoMeasurement) {
  feed(hex("EE 01 EE 07 BB 01 A0 BB 02 05 00 BB 06 FB 32 0F 11 03 15"));
  LONGS_EQUAL(5, decoder.stats().framing.frames);
  LONGS_EQUAL(0, log.samples.size() + decoder.stats().undecodable);
}

TEST(Bno055, TheRequestsAreThoseOfTheProtocolByteForByte) {
  talk.start();
  talk.run(60ms);
  const char* const expected[] = {
      "AA 01 00 01",    "AA 00 3D 01 00", "AA 00 07 01 00", "AA 01 01 06",    "AA 00 3E 01 00",
      "AA 00 3F 01 00", "AA 00 3B 01 82", "AA 01 3B 01",    "AA 00 3D 01 0C", "AA 01 3D 01"};
  CHECK_TRUE(chip.heard.size() >= std::size(expected));
  for (std::size_t i = 0; i < std::size(expected); ++i)
    CHECK_TRUE_TEXT(chip.heard[i] == hex(expected[i]), expected[i]);
  talk.run(40ms);
  CHECK_TRUE(talk.wrote("AA 01 08 2D"));
  CHECK_TRUE(talk.health().state == State::streaming);
  STRCMP_EQUAL("BNO055, software 03.11", talk.health().about.c_str());
}

TEST(Bno055, ItIsAskedAtTheRateThatIsWanted) {
  talk.set("rate_hz", "50");
  talk.start();
  talk.run(100ms);
  const std::size_t before = talk.log.samples.size();
  talk.run(2s);
  LONGS_EQUAL(100, talk.log.samples.size() - before);
  CHECK_TRUE(talk.wrote("AA 01 39 02"));
}

TEST(Bno055, ASampleIsOfTheMiddleOfItsExchange) {
  talk.start();
  talk.run(200ms);
  chip.is_dead = true;  // the test answers
  const std::size_t asked = chip.heard.size(), told = talk.log.samples.size();
  hal::Time sent{};
  while (chip.heard.size() == asked) talk.run(10ms);
  sent = talk.clock.now();
  talk.clock.advance(6ms);
  talk.port->deliver(block(77), 0us);
  CHECK_TRUE(talk.log.samples.at(told).at == sent + 3ms);
}

TEST(Bno055, AnOverrunIsAskedAgainAtOnce) {
  talk.start();
  chip.overruns = 4;
  talk.run(300ms);
  CHECK_TRUE(talk.health().state == State::streaming);
  const std::size_t before = talk.log.samples.size();
  chip.overruns = 5;
  talk.run(100ms);
  LONGS_EQUAL(10, talk.log.samples.size() - before);
  CHECK_TRUE(talk.health().cause == Cause::none);
}

TEST(Bno055, OverrunsWithoutEndAreTold) {
  talk.start();
  talk.run(200ms);
  chip.overruns = 1000;
  talk.run(100ms);
  CHECK_TRUE(talk.health().cause == Cause::device_fault);
  STRCMP_CONTAINS("bus over-run (status 07)", talk.health().why.c_str());
  chip.overruns = 0;
  talk.run(3s);
  CHECK_TRUE(talk.health().state == State::streaming);
  CHECK_TRUE(talk.health().cause == Cause::none);
}

TEST(Bno055, AnAnswerThatIsCutShortSpoilsNoneOfTheNext) {
  talk.start();
  talk.run(200ms);
  chip.cut = true;
  talk.run(20ms);
  chip.cut = false;
  talk.run(500ms);
  CHECK_TRUE(talk.health().state == State::streaming);
  for (const ImuSample& s : talk.log.samples) {
    vectors_equal({0.01, -0.02, 0.03}, s.gyro);
    DOUBLES_EQUAL(25, *s.temperature, 0);
  }
  CHECK_TRUE(talk.health().balances());
}

TEST(Bno055, JunkBetweenAnswersIsThrownAway) {
  talk.start();
  talk.run(200ms);
  const std::size_t before = talk.log.samples.size();
  talk.port->deliver(hex("00 EE 55 BB 2C 00"));
  talk.run(100ms);
  LONGS_EQUAL(10, talk.log.samples.size() - before);
}

TEST(Bno055, AnotherChipIsNamed) {
  chip.registers[0] = 0xFB;
  talk.start();
  talk.run(50ms);
  CHECK_TRUE(talk.health().cause == Cause::refused);
  STRCMP_EQUAL("the device refused 'read chip': its chip is FB, not A0", talk.health().why.c_str());
}

TEST(Bno055, WhatIsNotKeptIsTold) {
  chip.stubborn = {0x3B};
  talk.start();
  talk.run(100ms);
  STRCMP_EQUAL("the device refused 'read units': its unit register is 00, not 82",
               talk.health().why.c_str());
}

TEST(Bno055, WhatItDoesNotLetBeWrittenIsTold) {
  chip.refused = {0x3B};
  talk.start();
  talk.run(100ms);
  STRCMP_EQUAL("the device refused 'set units': it cannot write (status 03)",
               talk.health().why.c_str());
}

TEST(Bno055, ItsSystemErrorIsTold) {
  talk.start();
  talk.run(200ms);
  chip.registers[0x39] = 1, chip.registers[0x3A] = 4;
  talk.run(1s);
  CHECK_TRUE(talk.health().cause == Cause::device_fault);
  STRCMP_CONTAINS("its system error 4", talk.health().why.c_str());
}

TEST(Bno055, WhileItBootsItIsAskedAgain) {
  chip.is_dead = true;
  talk.start();
  talk.run(650ms);
  chip.is_dead = false;
  talk.run(300ms);
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(Bno055, SilenceIsNamed) {
  chip.is_dead = true;
  talk.start();
  talk.run(1200ms);
  CHECK_TRUE(talk.health().cause == Cause::no_bytes);
}

TEST(Bno055, StopEndsItsMeasuring) {
  talk.start();
  talk.run(200ms);
  talk.driver->stop(talk.clock.now());
  talk.run(200ms);
  CHECK_TRUE(talk.driver->stopped());
  LONGS_EQUAL(0, chip.registers[0x3D]);
}

TEST(Bno055, TheModeIsAnOption) {
  talk.set("mode", "imu");
  talk.start();
  talk.run(100ms);
  LONGS_EQUAL(0x08, chip.registers[0x3D]);
}

TEST(Bno055, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Bno055> other{options, 0, other_log};
  const Octets one = block(10), two = block(20);
  for (std::size_t i = 0; i < one.size(); ++i) {
    decoder.feed({std::span(one).subspan(i, 1), now});
    other.feed({std::span(two).subspan(i, 1), now});
  }
  DOUBLES_EQUAL(0.1, (*log.samples.at(0).accel)[0], 1e-12);
  DOUBLES_EQUAL(0.2, (*other_log.samples.at(0).accel)[0], 1e-12);
}

TEST(Bno055, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Bno055> quiet{options, 115200, counter};
  std::vector<Octets> blocks;
  for (unsigned i = 0; i < 100; ++i) blocks.push_back(block(i));
  test::AllocationCounter allocations;
  for (const Octets& b : blocks) quiet.feed({b, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST(Bno055, FramesAreFoundHoweverTheyAreSplit) {
  test::Random random(9);
  test::Stream stream;
  for (unsigned i = 0; i < 100; ++i) {
    test::append(stream, block(i));
    test::append(stream, hex("EE 07 00 55"));
  }
  const test::Cut whole = test::cut(bno055::Framing{}, stream);
  LONGS_EQUAL(200, whole.frames.size());
  CHECK_TRUE(test::cut(bno055::Framing{}, stream, &random, 1).frames == whole.frames);
  CHECK_TRUE(test::cut(bno055::Framing{}, stream, &random).frames == whole.frames);
  test::check_work_is_bounded(bno055::Framing{}, {kBlock, hex("EE 07")});
}

TEST(Bno055, OnlyTheAnswerThatWasAskedForIsOne) {
  const bno055::Framing asked{.asked = 45};
  LONGS_EQUAL(47, asked.measure(kBlock));
  LONGS_EQUAL(kNotAFrame, asked.measure(hex("BB 01 A0")));
  LONGS_EQUAL(2, asked.measure(hex("EE 07")));
  LONGS_EQUAL(kNotAFrame, asked.measure(hex("EE 0B")));
  LONGS_EQUAL(kNeedMore, asked.measure(hex("BB")));
}
