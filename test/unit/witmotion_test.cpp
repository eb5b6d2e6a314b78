#include "drivers/witmotion/witmotion.h"

#include <cmath>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/wit_frames.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::wit;

namespace {

const Octets kAccel = hex("55 51 14 00 D7 FF 00 08 C4 09 65");
const Octets kGyro = hex("55 52 A4 00 B8 FE EC 01 00 00 EE");
const Octets kAngles = hex("55 53 B6 00 94 FE 00 40 00 00 30");
const Octets kQuaternion = hex("55 59 82 5A 00 00 00 00 82 5A 66");
const Octets kTime = hex("55 50 19 0B 1E 0F 26 07 FA 00 1D");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

}  // namespace

TEST_GROUP(Witmotion) {
  Options options{Witmotion::options()};
  test::PacketLog log;
  std::unique_ptr<DeviceDecoder<Witmotion>> decoder;
  hal::Time now{1000s};

  void setup() override { build(); }
  void build() { decoder = std::make_unique<DeviceDecoder<Witmotion>>(options, 0, log); }
  void set_option(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    build();
  }
  void feed(const Octets& bytes, hal::Duration later = 100ms) {
    decoder->feed({bytes, now += later});
  }
};

TEST(Witmotion, FramesOfOneInstantAreOneSample) {
  feed(joined(joined(kAccel, kGyro), joined(kAngles, kQuaternion)));
  LONGS_EQUAL(0, log.samples.size());  // another may follow
  decoder->finish();
  LONGS_EQUAL(1, log.samples.size());
  const ImuSample& s = log.samples[0];
  vectors_equal({0.0957681, -0.1963245, 9.80665}, s.accel);
  vectors_equal({0.1747034, -0.3494067, 0.5241101}, s.gyro);
  DOUBLES_EQUAL(25, *s.temperature, 1e-9);
  DOUBLES_EQUAL(0.7070923, (*s.orientation)[2], 1e-6);
  DOUBLES_EQUAL(0.7070923, (*s.orientation)[3], 1e-6);
}

TEST(Witmotion, WhatEndsASetIsLearntAndThenASampleComesAtOnce) {
  for (int i = 0; i < 5; ++i) feed(set(10 * i));
  LONGS_EQUAL(5, log.samples.size());  // the third one's end is known from the two before
  for (const ImuSample& s : log.samples) {
    CHECK_TRUE(s.accel.has_value() && s.gyro.has_value() && s.orientation.has_value());
  }
}

TEST(Witmotion, AFrameThatIsMissingMakesNoOtherSampleWrong) {
  for (int i = 0; i < 4; ++i) feed(set(0));
  feed(joined(joined(accel(), gyro()), angles(0)));        // its quaternion is lost
  feed(joined(gyro(), joined(angles(0), quaternion(0))));  // and now its acceleration
  for (int i = 0; i < 4; ++i) feed(set(0));
  LONGS_EQUAL(10, log.samples.size());
  CHECK_TRUE(log.samples[4].orientation.has_value());  // from its angles
  CHECK_FALSE(log.samples[5].accel.has_value());
  for (std::size_t i = 6; i < 10; ++i) CHECK_TRUE(log.samples[i].accel && log.samples[i].gyro);
}

TEST(Witmotion, AFrameCountsWhenAnotherFollowsAtOnce) {
  feed(kAccel);
  feed(joined(hex("00 00"), set(0)));  // nothing followed the first one
  decoder->finish();
  LONGS_EQUAL(1, log.samples.size());
}

TEST(Witmotion, AnglesAloneAreAnAttitude) {
  feed(joined(joined(accel(), gyro()), frame(0x53, {1820, -910, 16384, 0})));  // 10, -5, 90 degrees
  decoder->finish();
  const auto [x, y, z, w] = *log.samples.at(0).orientation;
  const double deg = 180 / 3.14159265358979;
  DOUBLES_EQUAL(10, deg * std::atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)), 0.01);
  DOUBLES_EQUAL(-5, deg * std::asin(2 * (w * y - z * x)), 0.01);
  DOUBLES_EQUAL(90, deg * std::atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)), 0.01);
}

TEST(Witmotion, TheOrderOfTheQuaternionIsFoundOutByTheAngles) {
  for (int i = 0; i < 30; ++i) feed(set(40 + i, false));
  const ImuSample& s = log.samples.back();
  DOUBLES_EQUAL(std::cos((69 / 2.0) * 3.14159265 / 180), (*s.orientation)[3], 1e-3);
  for (std::size_t i = 15; i < log.samples.size(); ++i) {
    DOUBLES_EQUAL(0, (*log.samples[i].orientation)[0], 1e-3);
  }
}

TEST(Witmotion, AnOrderThatIsGivenIsTaken) {
  set_option("quaternion", "xyzw");
  feed(joined(joined(accel(), gyro()), quaternion(60, false)));
  decoder->finish();
  DOUBLES_EQUAL(0.5, (*log.samples.at(0).orientation)[2], 1e-3);
}

TEST(Witmotion, AxesOfTheCaseMayBeRightForwardUp) {
  set_option("axes", "rfu");
  feed(joined(joined(kAccel, kGyro), quaternion(0)));
  decoder->finish();
  const ImuSample& s = log.samples.at(0);
  vectors_equal({-0.1963245, -0.0957681, 9.80665}, s.accel);
  vectors_equal({-0.3494067, -0.1747034, 0.5241101}, s.gyro);
  DOUBLES_EQUAL(std::sqrt(0.5), (*s.orientation)[2], 1e-3);  // its forward is North
}

TEST(Witmotion, SamplesAreCountedUnlessItsClockIsWanted) {
  for (int i = 0; i < 50; ++i) feed(joined(time(1000 + 103 * static_cast<unsigned>(i)), set(0)));
  LONGS_EQUAL(50, log.samples.size());
  for (const ImuSample& s : log.samples) CHECK_FALSE(s.device_ns.has_value());
}

TEST(Witmotion, ItsClockTellsMillisecondsSince2000) {
  set_option("device_clock", "true");
  feed(joined(kTime, set(0)));
  decoder->finish();
  CHECK_TRUE(817'832'287'250'000'000 == log.samples.at(0).device_ns.value_or(-1));
}

TEST(Witmotion, ItsClockMayPassMidnight) {
  set_option("device_clock", "true");
  const unsigned day = 86'400'000;
  feed(joined(time(day - 100), set(0)));
  feed(joined(hex("55 50 19 0C 01 00 00 00 00 00 CB"), set(0)));
  decoder->finish();
  LONGS_EQUAL(2, log.samples.size());
  CHECK_TRUE(100'000'000 == *log.samples[1].device_ns - *log.samples[0].device_ns);
}

TEST(Witmotion, PressureIsPressure) {
  feed(joined(joined(accel(), gyro()), frame(0x56, {0x8BCD, 1, 0, 0})));
  decoder->finish();
  DOUBLES_EQUAL(101'325, *log.samples.at(0).pressure, 1e-9);
}

TEST(Witmotion, UndecodableIsWhatMakesNoSense) {
  feed(joined(gyro(), accel(0, 0, 0)));         // has not measured yet
  feed(frame(0x50, {25 | 13 << 8, 30, 0, 0}));  // month 13
  feed(frame(0x56, {0, 0x8000, 0, 0}));
  LONGS_EQUAL(3, decoder->stats().undecodable);
}

TEST(Witmotion, OtherFramesAreSkipped) {
  feed(joined(joined(frame(0x54, {1, 2, 3, 4}), frame(0x55, {1, 2, 3, 4})),
              joined(frame(0x57, {1, 2, 3, 4}), registers(6, 6))));
  decoder->finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(4, decoder->stats().framing.frames);
}

TEST(Witmotion, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Witmotion> other{options, 0, other_log};
  const Octets one = set(10), two = set(100);
  for (std::size_t i = 0; i < one.size(); ++i) {
    decoder->feed({std::span(one).subspan(i, 1), now});
    other.feed({std::span(two).subspan(i, 1), now});
  }
  decoder->finish();
  other.finish();
  DOUBLES_EQUAL(std::sin(5 * 3.14159265 / 180), (*log.samples.at(0).orientation)[2], 1e-3);
  DOUBLES_EQUAL(std::sin(50 * 3.14159265 / 180), (*other_log.samples.at(0).orientation)[2], 1e-3);
}

TEST(Witmotion, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Witmotion> quiet{options, 9600, counter};
  std::vector<Octets> sets;
  for (int i = 0; i < 50; ++i) sets.push_back(set(i, i > 20));
  test::AllocationCounter allocations;
  for (const Octets& bytes : sets) quiet.feed({bytes, now += 100ms});
  quiet.finish();
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(50, counter.packets);
}

TEST(Witmotion, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(wit::Framing{},
                                 {kAccel, kGyro, kAngles, kQuaternion, kTime, registers(0x20E, 6)});
}

TEST(Witmotion, ATornFrameHidesNothing) { test::check_torn_frames(wit::Framing{}, kAccel, kGyro); }

TEST(Witmotion, NoBitMayTurnOver) {
  test::check_bit_flips(wit::Framing{}, kAccel, kGyro, kQuaternion);
}

TEST(Witmotion, OfADamagedStreamEveryIntactFrameComesOut) {
  std::vector<Octets> frames;
  for (int i = 0; i < 400; ++i)
    frames.push_back(i % 2 ? gyro(i, 2 * i, 3 * i) : accel(i, -i, 2048));
  test::check_damaged_stream(wit::Framing{}, frames);
}
