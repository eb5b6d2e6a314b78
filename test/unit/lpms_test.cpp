#include "drivers/lpms/lpms.h"

#include <bit>
#include <cstring>
#include <limits>

#include "drivers/decoder.h"
#include "drivers/inertial.h"
#include "drivers/wire.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/hex.h"
#include "test/support/lpms_frames.h"
#include "test/support/packet_log.h"
#include "test/support/talk.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::lpms;

namespace {

void vector_is(const ImuSample::Vector& expected, const std::optional<ImuSample::Vector>& actual,
               double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

constexpr double kDeg = inertial::kRadPerDeg, kG = inertial::kGravity;

}  // namespace

TEST_GROUP(Lpms) {
  Options options{Lpms::options()};
  test::PacketLog log;
  hal::Time now{1000s};

  DecoderStats feed(const std::vector<Octets>& frames) {
    DeviceDecoder<Lpms> decoder(options, 0, log);
    for (const Octets& f : frames) decoder.feed({f, now += 10ms});
    return decoder.stats();
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
};

TEST(Lpms, ASampleIsReadAsTheDescriptionSays) {
  set("orientation", "false");
  feed({hex(kSample)});
  LONGS_EQUAL(1, log.samples.size());
  CHECK_TRUE(1'500'000'000 == log.samples[0].device_ns.value_or(-1));
  vector_is({-0.01 * kG, 0.02 * kG, kG}, log.samples[0].accel);
  vector_is({0.5 * kDeg, -kDeg, 2 * kDeg}, log.samples[0].gyro);
  CHECK_FALSE(log.samples[0].orientation.has_value());
}

TEST(Lpms, TheSignOfTheAccelerationIsTheUsers) {
  set("accel_sign", "positive");
  set("orientation", "false");
  feed({hex(kSample)});
  vector_is({0.01 * kG, -0.02 * kG, -kG}, log.samples.at(0).accel);
}

TEST(Lpms, AllThatItMayBeAskedForIsRead) {
  set("extras", "true");
  feed({frame(9, joined(u32(1), floats({0, 0, -1, 1, 2, 3, 20, -5, -40, 0.5f, 0.5f, -0.5f, 0.5f,
                                        25.5f})))});
  const ImuSample& s = log.samples.at(0);
  vector_is({20e-6, -5e-6, -40e-6}, s.mag, 1e-12);
  DOUBLES_EQUAL(25.5, *s.temperature, 1e-9);
  const std::array<double, 4> q{0.5, -0.5, 0.5, 0.5};
  for (std::size_t i = 0; i < 4; ++i) DOUBLES_EQUAL(q[i], (*s.orientation)[i], 1e-9);
}

TEST(Lpms, AnAttitudeOfTheWorldIsTurnedRound) {
  set("attitude_of", "world");
  feed({frame(9, joined(u32(1), floats({0, 0, -1, 1, 2, 3, 0.5f, 0.5f, -0.5f, 0.5f})))});
  const std::array<double, 4> q{-0.5, 0.5, -0.5, 0.5};
  for (std::size_t i = 0; i < 4; ++i)
    DOUBLES_EQUAL(q[i], (*log.samples.at(0).orientation)[i], 1e-9);
}

TEST(Lpms, TheLegacyOrderAndUnitsAreOthers) {
  set("generation", "legacy");
  set("extras", "true");
  feed({frame(
      9, joined(u32(400), floats({0, 0, -1, 20, -5, -40, 0.1f, 0.2f, 0.3f, 1, 0, 0, 0, 25.5f})))});
  const ImuSample& s = log.samples.at(0);
  CHECK_TRUE(1'000'000'000 == s.device_ns.value_or(-1));
  vector_is({0, 0, kG}, s.accel);
  vector_is({0.1, 0.2, 0.3}, s.gyro);
  vector_is({20e-6, -5e-6, -40e-6}, s.mag, 1e-12);
  DOUBLES_EQUAL(25.5, *s.temperature, 1e-9);
}

TEST(Lpms, TheCounterOfAFastLegacyDeviceRunsTwiceAsFast) {
  set("generation", "legacy");
  set("rate_hz", "800");
  feed({frame(9, joined(u32(800), floats({0, 0, -1, 0, 0, 0, 1, 0, 0, 0})))});
  CHECK_TRUE(1'000'000'000 == log.samples.at(0).device_ns.value_or(-1));
}

TEST(Lpms, TimeGoesOnOverTheEndOfTheCounter) {
  feed({ig1(0xFFFF'FFFB), ig1(0)});
  LONGS_EQUAL(2, log.samples.size());
  CHECK_TRUE(log.samples[1].at - log.samples[0].at == 10ms);
}

TEST(Lpms, WhatMakesNoSenseIsUndecodable) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const std::vector<Octets> broken{
      hex(kSample),  // without the attitude that was asked for
      frame(9, Octets{}),
      frame(9, joined(u32(1), Octets(40))),  // has not measured yet
      frame(9, joined(u32(1), floats({nan, 0, -1, 0, 0, 0, 1, 0, 0, 0}))),
      frame(9, joined(u32(1), floats({0, 0, -1, 0, 0, 0, 1, 0, 0, 0, 0}))),
  };
  const auto stats = feed(broken);
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(broken.size(), stats.undecodable);
}

TEST(Lpms, OtherFunctionsAreNoMeasurement) {
  const auto stats =
      feed({hex(kUnitTest), hex(kCommandMode), frame(0, {}), frame(0x14, text24("LPMS-IG1"))});
  LONGS_EQUAL(4, stats.framing.frames);
  LONGS_EQUAL(0, stats.undecodable);
  LONGS_EQUAL(0, log.samples.size());
}

TEST(Lpms, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  const std::vector<Octets> good{hex(kUnitTest), hex(kSample), hex(kStreamMode), ig1(0x3A3A3A3A)};
  test::check_garbage_and_splits(Lpms::Framing{}, good);
  test::check_torn_frames(Lpms::Framing{}, ig1(5), ig1(6));
  std::vector<Octets> many;
  for (std::uint32_t i = 0; i < 300; ++i) many.push_back(ig1(i));
  test::check_damaged_stream(Lpms::Framing{}, many);
}

TEST(Lpms, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other;
  DeviceDecoder<Lpms> one(options, 0, log), two(options, 0, other);
  const Octets a = ig1(500), b = ig1(1000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    one.feed({std::span(a).subspan(i, 1), now});
    two.feed({std::span(b).subspan(i, 1), now});
  }
  CHECK_TRUE(1'000'000'000 == log.samples.at(0).device_ns.value_or(-1));
  CHECK_TRUE(2'000'000'000 == other.samples.at(0).device_ns.value_or(-1));
}

TEST(Lpms, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Lpms> decoder(options, 115'200, counter);
  std::vector<Octets> frames;
  for (std::uint32_t i = 0; i < 100; ++i) frames.push_back(ig1(5 * i));
  test::AllocationCounter allocations;
  for (const Octets& f : frames) decoder.feed({f, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

// A sensor that does what it is told.
TEST_GROUP(LpmsDialogue) {
  bool legacy = false, acknowledges = true, radians = false;
  std::uint32_t fields = 0x1, extra = 0, rate = 0;
  test::Talk<Lpms> talk{[this](const Octets& r) { return answer(r); }};

  Octets answer(const Octets& r) {
    const unsigned function = std::to_integer<unsigned>(r.at(3));
    const Octets ack = acknowledges || function == 6 ? frame(0, {}) : Octets{};
    const auto value = [&] { return wire::u32(hal::Bytes(r), 7); };
    switch (function) {
      case 6:
      case 7:
        return ack;
      case 0x15:
        return legacy ? frame(0x15, u32(7)) : frame(0x15, text24("IG1-2.1.3"));
      case 0x14:
        return frame(0x14, text24("LPMS-IG1-RS232"));
      case 0x16:
        return frame(0x16, text24("00430016"));
      case 10:
      case 0x1E:
        fields = value();
        return ack;
      case 11:
      case 0x22:
        rate = value();
        return value() == 123 ? frame(1, {}) : ack;
      case 4:
      case 0x1F:
        return frame(function, u32(fields | extra));
      case 0x25:
        return frame(0x25, u32(radians));
      default:
        return frame(1, {});
    }
  }
  void start() {
    talk.start();
    talk.run(300ms);
  }
};

TEST(LpmsDialogue, ItIsConfiguredReadBackAndSetStreaming) {
  start();
  CHECK_TRUE(talk.wrote(kCommandMode));
  CHECK_TRUE(talk.port->writes.back() == hex(kStreamMode));
  LONGS_EQUAL(0x842, fields);
  LONGS_EQUAL(100, rate);
  talk.port->deliver(ig1(1));
  CHECK_TRUE(talk.health().state == State::streaming);
  STRCMP_EQUAL("LPMS-IG1-RS232, serial 00430016, firmware IG1-2.1.3", talk.health().about.c_str());
  vector_is({0.5 * kDeg, -kDeg, 2 * kDeg}, talk.log.samples.at(0).gyro);
}

TEST(LpmsDialogue, OneThatTellsRadiansIsReadInRadians) {
  radians = true;
  start();
  talk.port->deliver(ig1(1));
  vector_is({0.5, -1, 2}, talk.log.samples.at(0).gyro);
}

TEST(LpmsDialogue, ALegacyOneIsSpokenToInItsOwnNumbers) {
  legacy = true;
  talk.set("generation", "legacy");
  start();
  LONGS_EQUAL(1U << 11 | 1U << 16 | 1U << 18, fields);
  talk.port->deliver(frame(9, joined(u32(1), floats({0, 0, -1, 1, 2, 3, 1, 0, 0, 0}))));
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(LpmsDialogue, ALegacyOneThatSendsNarrowNumbersIsReadSo) {
  legacy = true;
  extra = 1U << 22 | 3;
  talk.set("generation", "legacy");
  start();
  talk.port->deliver(
      frame(9, joined(u32(1), halves({0, 0, -1000, 100, 200, 300, 10000, 0, 0, 0}))));
  vector_is({0, 0, kG}, talk.log.samples.at(0).accel);
  vector_is({0.1, 0.2, 0.3}, talk.log.samples.at(0).gyro);
}

TEST(LpmsDialogue, TheOtherGenerationIsNamed) {
  legacy = true;
  start();
  STRCMP_CONTAINS("write 'generation: legacy'", talk.health().why.c_str());
}

TEST(LpmsDialogue, AFirmwareThatAcknowledgesLittleStreamsNevertheless) {
  acknowledges = false;
  talk.start();
  talk.run(3s);
  talk.port->deliver(ig1(1));
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(LpmsDialogue, ARateThatItLacksIsNamed) {
  talk.set("rate_hz", "123");
  start();
  STRCMP_CONTAINS("'set rate'", talk.health().why.c_str());
}

TEST(LpmsDialogue, FieldsThatItDoesNotTakeAreNamed) {
  extra = 0x4;
  start();
  STRCMP_CONTAINS("it sends fields 0x846, 0x842 were asked for", talk.health().why.c_str());
}

TEST(LpmsDialogue, ItIsMadeSilentAtTheEnd) {
  start();
  talk.driver->stop(talk.clock.now());
  talk.run(100ms);
  CHECK_TRUE(talk.port->writes.back() == hex(kCommandMode));
  CHECK_TRUE(talk.driver->stopped());
}
