#include "drivers/um7/um7.h"

#include <cmath>
#include <limits>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/um7_packet.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::um7;

namespace {

const Octets kBatch97 =
    hex("73 6E 70 F0 61 3F 12 AD 60 BF 92 AD 60 3F DC 04 08 3F C0 00 00 3C 23 D7 0A BC A3 D7 0A BF "
        "80 09 D5 "
        "3F C0 00 00 3E 4C CC CD 00 00 00 00 3E E6 66 66 3F C0 00 00 14 32");
const Octets kQuaternion109 = hex("73 6E 70 CC 6D 52 48 00 00 00 00 52 48 3F C0 00 00 04 BD");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

}  // namespace

TEST_GROUP(Um7) {
  Options options{Um7::options()};
  test::PacketLog log;
  DeviceDecoder<Um7> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Octets& bytes, hal::Duration later = 10ms) {
    decoder.feed({bytes, now += later});
  }
  // Its rhythm before `seconds`, which tells that an attitude follows.
  void begin(double seconds) {
    for (const double t : {seconds - 0.03, seconds - 0.02, seconds - 0.01}) {
      feed(joined(processed(t), attitude(t)));
    }
    log.samples.clear();
    log.arrivals.clear();
  }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
};

TEST(Um7, BothPacketsOfAnInstantAreOneSample) {
  begin(1.5);
  feed(kBatch97);
  LONGS_EQUAL(0, log.samples.size());
  feed(kQuaternion109, 1ms);
  LONGS_EQUAL(1, log.samples.size());
  const ImuSample& s = log.samples[0];
  vectors_equal({0.01, 0.02, -0.03}, s.gyro);
  vectors_equal({0.0980665, 0.196133, 9.80959}, s.accel, 1e-5);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  // Heading East is no turn in east-north-up.
  const auto q = *s.orientation;
  DOUBLES_EQUAL(0, q[0], 1e-6);
  DOUBLES_EQUAL(0, q[1], 1e-6);
  DOUBLES_EQUAL(0, q[2], 1e-6);
  DOUBLES_EQUAL(1, q[3], 1e-4);
  CHECK_TRUE(log.arrivals[0] == now);
  CHECK_TRUE(s.at > now - 1001us && s.at < now - 999us);  // when the first of both came
}

TEST(Um7, TheAttitudeMayComeFirst) {
  begin(2);
  feed(attitude(2));
  feed(processed(2), 1ms);
  LONGS_EQUAL(1, log.samples.size());
  CHECK_TRUE(log.samples[0].orientation.has_value() && log.samples[0].accel.has_value());
  CHECK_TRUE(log.samples[0].at > now - 1001us && log.samples[0].at <= now);
  DOUBLES_EQUAL(std::sqrt(0.5), (*log.samples[0].orientation)[2], 1e-4);  // North is a quarter turn
}

TEST(Um7, AnAttitudeOfAnotherInstantIsASampleOfItsOwn) {
  feed(processed(2));
  feed(attitude(2.01));
  feed(processed(2.02));
  LONGS_EQUAL(3, log.samples.size());
  CHECK_FALSE(log.samples[0].orientation.has_value());
  CHECK_FALSE(log.samples[1].accel.has_value());
  DOUBLES_EQUAL(2.01e9, static_cast<double>(device_ns(1)), 200);
  CHECK_TRUE(log.samples[1].at > log.samples[0].at);
}

TEST(Um7, WhatIsHeldComesAtTheEnd) {
  begin(2);
  feed(processed(2));
  LONGS_EQUAL(0, log.samples.size());
  decoder.finish();
  LONGS_EQUAL(1, log.samples.size());
}

TEST(Um7, WithoutAnAttitudeASampleComesAtOnce) {
  for (int i = 1; i <= 5; ++i) feed(processed(0.01 * i));
  LONGS_EQUAL(5, log.samples.size());
}

TEST(Um7, AnglesStandInForAQuaternion) {
  // Roll 10, pitch -5, heading 30 degrees.
  const auto steps = [](double deg) { return static_cast<int>(std::lround(deg / 0.0109863)); };
  feed(batch(112, {halves(steps(10), steps(-5)), halves(steps(30), 0), 0, 0, f32(7)}));
  decoder.finish();
  const auto q = *log.samples.at(0).orientation;
  DOUBLES_EQUAL(0.0536805, q[0], 1e-4);
  DOUBLES_EQUAL(0.0811681, q[1], 1e-4);
  DOUBLES_EQUAL(0.4943309, q[2], 1e-4);
  DOUBLES_EQUAL(0.8638096, q[3], 1e-4);
  CHECK_TRUE(7'000'000'000 == device_ns(0));
}

TEST(Um7, TemperatureIsATemperature) {
  feed(packet(0x80, 95, {f32(25.5)}));
  DOUBLES_EQUAL(25.5, *log.samples.at(0).temperature, 1e-6);
}

TEST(Um7, OtherPacketsAreNoMeasurement) {
  feed(packet(0x00, 0xAD));                   // acknowledgement
  feed(packet(0x80, 0xAA, {0x55373143}));     // firmware
  feed(packet(0x80, 85, {0}));                // health
  feed(batch(89, {0x05060708, 0x090A0000}));  // raw acceleration
  feed(batch(117, {0, 0, 0, 0}));             // position
  decoder.finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(5, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(Um7, UndecodableIsWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::uint32_t t = f32(1);
  feed(batch(97, {f32(nan), 0, 0, t}));
  feed(batch(101, {0, 0, 0, t}));  // has not measured yet
  feed(batch(97, {0, 0, 0, f32(nan)}));
  feed(batch(97, {0, 0, 0, f32(-1)}));
  feed(batch(97, {0, 0, 0, f32(1e30)}));
  decoder.finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(5, decoder.stats().undecodable);
}

TEST(Um7, ADeviceThatStartedAnewBeginsAnew) {
  begin(100);
  for (const double t : {100.0, 100.01, 0.01, 0.02}) {
    feed(processed(t));
    feed(attitude(t), 0ms);
  }
  LONGS_EQUAL(5, log.samples.size());  // of the first instant, both by themselves
  DOUBLES_EQUAL(0.02e9, static_cast<double>(device_ns(4)), 10);
}

TEST(Um7, ItsClockIsCarriedOverStepsThatAreWiderThanAPeriod) {
  // After two days a step is 15.6 ms; samples come every 10 ms, by a clock that is 200 ppm fast.
  um7::FloatClock clock(10ms);
  std::int64_t newest = 0;
  double largest = 0;
  for (int i = 0; i < 20'000; ++i) {
    const double t = 200'000 + 0.010002 * i;
    const std::int64_t ns = clock.stamp_of(static_cast<float>(t));
    CHECK_TRUE(ns > newest);
    newest = ns;
    if (i > 100) largest = std::max(largest, std::abs(static_cast<double>(ns) * 1e-9 - t));
  }
  CHECK_TRUE(largest < 0.0079);
}

TEST(Um7, ItsClockSeesLostSamplesThroughWideSteps) {
  um7::FloatClock clock(10ms);
  for (int i = 0; i < 500; ++i) clock.stamp_of(static_cast<float>(20'000 + 0.01 * i));
  const std::int64_t after = clock.stamp_of(20'006.0F);
  DOUBLES_EQUAL(20'006, static_cast<double>(after) * 1e-9, 0.0021);
}

TEST(Um7, EarlyStampsAreTakenAsTheyAre) {
  um7::FloatClock clock(10ms);
  CHECK_TRUE(1'500'000'000 == clock.stamp_of(1.5F));
  CHECK_TRUE(1'503'906'250 == clock.stamp_of(1.50390625F));
}

TEST(Um7, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Um7> other{options, 0, other_log};
  const Octets one = joined(processed(3), attitude(3)), two = joined(processed(5), attitude(5));
  for (std::size_t i = 0; i < one.size(); ++i) {
    decoder.feed({std::span(one).subspan(i, 1), now});
    other.feed({std::span(two).subspan(i, 1), now});
  }
  decoder.finish();
  other.finish();
  CHECK_TRUE(3'000'000'000 == device_ns(0));
  CHECK_TRUE(5'000'000'000 == other_log.samples.at(0).device_ns.value_or(-1));
}

TEST(Um7, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Um7> quiet{options, 115200, counter};
  std::vector<Octets> packets;
  for (int i = 0; i < 50; ++i) packets.push_back(joined(processed(0.01 * i), attitude(0.01 * i)));
  test::AllocationCounter allocations;
  for (const Octets& p : packets) quiet.feed({p, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(52, counter.packets);  // of the first two instants, both by themselves
}

TEST(Um7, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(
      um7::Framing{}, {kBatch97, kQuaternion109, packet(0, 0xAA), packet(0x80, 0, {0x50000000})});
}

TEST(Um7, ATornFrameHidesNothing) {
  test::check_torn_frames(um7::Framing{}, processed(1), processed(2));
}

TEST(Um7, NoBitMayTurnOver) {
  test::check_bit_flips(um7::Framing{}, attitude(1), processed(1), processed(2));
}

TEST(Um7, OfADamagedStreamEveryIntactFrameComesOut) {
  std::vector<Octets> frames;
  for (int i = 0; i < 400; ++i)
    frames.push_back(i % 2 ? attitude(0.005 * i) : processed(0.005 * i));
  test::check_damaged_stream(um7::Framing{}, frames);
}

TEST(Um7, EveryFrameOfTheProtocolIsAFrame) {
  for (const char* text :
       {"73 6E 70 00 AA 01 FB", "73 6E 70 00 AD 01 FE", "73 6E 70 80 00 50 00 00 00 02 21"}) {
    const Octets frame = hex(text);
    LONGS_EQUAL(frame.size(), um7::Framing::measure(frame));
    CHECK_TRUE(um7::Framing::intact(frame));
  }
  const Octets junk = joined(hex("73 73 73 73 73 73 6E 73 6E 73 6E 73"), packet(0, 0xAA));
  feed(junk);
  LONGS_EQUAL(1, decoder.stats().framing.frames);
}
