#include "drivers/vectornav/vectornav.h"

#include <cmath>
#include <limits>

#include "drivers/inertial.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/vn_messages.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::vn;

namespace {

const Octets kCommon0131 =
    hex("FA 01 31 01 00 2F 68 59 00 00 00 00 00 00 00 00 00 00 00 00 F3 04 35 3F F3 04 35 3F 0A D7 "
        "23 3C 0A D7 "
        "A3 BC 8F C2 F5 3C CD CC CC 3D CD CC 4C BE C3 F5 1C C1 4D E3");
const Octets kTimeAndImu =
    hex("FA 06 01 00 0C 00 00 2F 68 59 00 00 00 00 CD CC CC 3D CD CC 4C BE C3 F5 1C C1 0A D7 23 3C "
        "0A D7 A3 BC "
        "8F C2 F5 3C 6C 32");
const Octets kTimeAndAngles =
    hex("FA 01 09 00 70 05 00 03 0A 00 00 00 48 0E 2C 42 08 4C 37 C1 10 38 8B C2 D4 CB");

Octets line(const char* body) {
  const std::string text = std::string(body) + "\r\n";
  const hal::Bytes bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}
void attitudes_equal(const std::array<double, 4>& expected,
                     const std::optional<std::array<double, 4>>& actual) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 4; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], 1e-6);
}

Octets zeros(std::size_t n) { return Octets(n); }

}  // namespace

TEST_GROUP(Vectornav) {
  Options options{Vectornav::options()};
  test::PacketLog log;
  DeviceDecoder<Vectornav> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Octets& bytes, hal::Duration later = 10ms) {
    decoder.feed({bytes, now += later});
  }
  const ImuSample& sample_of(const Octets& message) {
    feed(message);
    LONGS_EQUAL(1, log.samples.size());
    return log.samples.at(0);
  }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
};

TEST(Vectornav, DecodesTheCommonGroupAsTheVendorDoes) {
  const ImuSample& s = sample_of(kCommon0131);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  vectors_equal({0.01, 0.02, -0.03}, s.gyro);
  vectors_equal({0.1, 0.2, 9.81}, s.accel);
  attitudes_equal({0, 0, 0, 1}, s.orientation);  // facing East
}

TEST(Vectornav, DecodesTimeAndUncompensatedReadings) {
  const ImuSample& s = sample_of(kTimeAndImu);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  vectors_equal({0.1, 0.2, 9.81}, s.accel);
  vectors_equal({0.01, 0.02, -0.03}, s.gyro);
  CHECK_FALSE(s.orientation.has_value());
}

TEST(Vectornav, AnglesAreAnAttitude) {
  const ImuSample& s = sample_of(kTimeAndAngles);
  CHECK_TRUE(43'000'006'000 == device_ns(0));
  CHECK_FALSE(s.accel.has_value());
  // Roll -69.609497, pitch 11.4560623, yaw 90 - 43.0139465 degrees.
  const auto [x, y, z, w] = *s.orientation;
  DOUBLES_EQUAL(-69.609497,
                std::atan2(2 * (w * x + y * z), 1 - 2 * (x * x + y * y)) / inertial::kRadPerDeg,
                1e-4);
  DOUBLES_EQUAL(11.4560623, std::asin(2 * (w * y - z * x)) / inertial::kRadPerDeg, 1e-4);
  DOUBLES_EQUAL(46.9860535,
                std::atan2(2 * (w * z + x * y), 1 - 2 * (y * y + z * z)) / inertial::kRadPerDeg,
                1e-4);
}

TEST(Vectornav, DecodesEverythingElseOfTheCommonGroup) {
  // Start-up, magnetometer with temperature and pressure, integrals.
  const ImuSample& s =
      sample_of(binary("01 01 0C", joined(little(7, 8), floats({0.25, 0.5, -0.5, 25.5, 101.325,  //
                                                                0.01, 1, 2, 3, 0.1, 0.2, 0.3}))));
  vectors_equal({0.25e-4, -0.5e-4, 0.5e-4}, s.mag, 1e-12);
  DOUBLES_EQUAL(25.5, *s.temperature, 1e-6);
  DOUBLES_EQUAL(101'325, *s.pressure, 1e-2);
  const double deg = inertial::kRadPerDeg;
  vectors_equal({1 * deg, -2 * deg, -3 * deg}, s.delta_angle, 1e-8);
  vectors_equal({0.1, -0.2, -0.3}, s.delta_velocity);
}

TEST(Vectornav, CompensatedReadingsArePreferredToRawOnes) {
  // All readings of the inertial group: status, raw ones, temperature, pressure, integrals, others.
  const ImuSample& s = sample_of(
      binary("04 FF 0F",
             joined(joined(little(0, 2), floats({9, 9, 9, 8, 8, 8, 7, 7, 7, 20, 100, 0.01, 1,  1,
                                                 1, 2, 2, 2, 1, 2, 3, 4, 5, 6,  0.7, 0.8,  0.9})),
                    little(0, 2))));
  vectors_equal({1e-4, -2e-4, -3e-4}, s.mag, 1e-10);
  vectors_equal({4, -5, -6}, s.accel);
  vectors_equal({0.7, -0.8, -0.9}, s.gyro);
  vectors_equal({2, -2, -2}, s.delta_velocity);
  DOUBLES_EQUAL(20, *s.temperature, 1e-9);
  CHECK_FALSE(s.device_ns.has_value());
}

TEST(Vectornav, TheUncompensatedPairOfTheCommonGroupIsAccelerationFirst) {
  const ImuSample& s = sample_of(binary("01 00 02", floats({1, 2, 3, 4, 5, 6})));
  vectors_equal({1, -2, -3}, s.accel);
  vectors_equal({4, -5, -6}, s.gyro);
}

TEST(Vectornav, AQuaternionIsPreferredToAngles) {
  const double h = std::sqrt(0.5);
  const ImuSample& s = sample_of(binary("10 06 00", floats({10, 20, 30, 0, 0, h, h})));
  attitudes_equal({0, 0, 0, 1}, s.orientation);
}

TEST(Vectornav, AccelerationsWithoutGravityAreLeftOut) {
  feed(binary("10 E0 00", floats({1, 2, 3, 4, 5, 6, 7, 8, 9})));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(1, decoder.stats().framing.frames);
}

// Every field of every group: its size is known, so that what stands behind it is found.
TEST(Vectornav, FieldsOfEveryGroupAreSkippedByTheirSize) {
  struct Case {
    const char* header;
    std::size_t payload;
  };
  const Case cases[] = {
      {"01 FF 7F", 8 + 8 + 8 + 12 + 16 + 12 + 24 + 12 + 12 + 24 + 20 + 28 + 2 + 4 + 8},
      {"02 FF 03", 8 + 8 + 8 + 2 + 8 + 8 + 8 + 4 + 4 + 1},
      {"04 FF 0F", 2 + 12 * 3 + 4 + 4 + 16 + 12 + 12 * 3 + 2},
      {"08 FF 3F", 8 + 8 + 2 + 1 + 1 + 24 + 24 + 12 + 12 + 12 + 4 + 4 + 2 + 28},
      {"08 01 80 06 00", 8 + 2 + 8},  // with a second word
      {"10 FF 3F", 2 + 12 + 16 + 36 + 12 * 5 + 12 + 28 + 24 + 12 + 4},
      {"20 FF 07", 2 + 24 + 24 + 12 * 6 + 4 + 4},
      {"40 FF 3F", 8 + 8 + 2 + 1 + 1 + 24 + 24 + 12 + 12 + 12 + 4 + 4 + 2 + 28},
      {"81 10 01 00 01 00", 8 + 8},        // a third receiver, in a second byte of groups
      {"80 80 01 01 00", 48},              // and a third one
      {"34 2E 07 06 01 12 06", 170 - 10},  // as ArduPilot asks for it
      {"14 3E 07 04 00", 104 - 8},
  };
  for (const Case& c : cases) {
    const Octets message = binary(c.header, zeros(c.payload));
    LONGS_EQUAL_TEXT(message.size(), vn::Framing::measure(message), c.header);
    CHECK_TRUE_TEXT(vn::Framing::intact(message), c.header);
    for (std::size_t n = 1; n < hex(c.header).size() + 1; ++n) {
      CHECK_TRUE(vn::Framing::measure(hal::Bytes(message).first(n)) == kNeedMore);
    }
    feed(message);
  }
  LONGS_EQUAL(std::size(cases), decoder.stats().framing.frames);
}

TEST(Vectornav, ListsOfSatellitesTellTheirOwnLength) {
  const Octets info = binary("08 00 40", joined(hex("03 00"), zeros(24)));
  const Octets raw = binary("08 00 80 01 00", joined(joined(zeros(10), hex("02 00")), zeros(56)));
  for (const Octets& message : {info, raw}) {
    LONGS_EQUAL(message.size(), vn::Framing::measure(message));
  }
  CHECK_TRUE(vn::Framing::measure(hal::Bytes(info).first(4)) == kNeedMore);
  CHECK_TRUE(vn::Framing::measure(hal::Bytes(raw).first(12)) == kNeedMore);
  // More than any message holds.
  LONGS_EQUAL(kNotAFrame,
              vn::Framing::measure(binary("08 00 40", joined(hex("FF 00"), zeros(500)))));
}

TEST(Vectornav, WhatNobodyKnowsIsNoMessage) {
  for (const char* header : {"00", "01 00 00", "02 00 04", "04 00 40", "10 00 40", "20 00 20",
                             "01 00 80 01 00", "80 01 01 00", "80 80 80", "80 80 04 01 00"}) {
    LONGS_EQUAL_TEXT(
        kNotAFrame, vn::Framing::measure(joined(hex("FA"), joined(hex(header), zeros(8)))), header);
  }
}

TEST(Vectornav, DecodesTextsWithEitherCheck) {
  feed(
      line("$VNYMR,+090.000,+000.000,+000.000,+00.2500,+00.0000,+00.4500,+00.100,-00.200,-09.810,+"
           "00.010000,"
           "-00.020000,+00.030000*64"));
  feed(
      line("$VNYMR,+090.000,+000.000,+000.000,+00.2500,+00.0000,+00.4500,+00.100,-00.200,-09.810,+"
           "00.010000,"
           "-00.020000,+00.030000*8E7C"));
  LONGS_EQUAL(2, log.samples.size());
  for (const ImuSample& s : log.samples) {
    vectors_equal({0.1, 0.2, 9.81}, s.accel);
    vectors_equal({0.01, 0.02, -0.03}, s.gyro);
    vectors_equal({0.25e-4, 0, -0.45e-4}, s.mag, 1e-10);
    attitudes_equal({0, 0, 0, 1}, s.orientation);
    CHECK_FALSE(s.device_ns.has_value());
  }
  CHECK_TRUE(log.samples[1].at == now);
}

TEST(Vectornav, DecodesEveryTextThatMeasuresSomething) {
  struct Case {
    const char* text;
    bool accel, gyro, orientation, mag, pressure;
  };
  for (const Case& c : {
           Case{"VNYPR,1,2,3", 0, 0, 1, 0, 0}, Case{"VNQTN,0,0,0,1", 0, 0, 1, 0, 0},
           Case{"VNQMR,0,0,0,1,1,2,3,4,5,6,7,8,9", 1, 1, 1, 1, 0},
           Case{"VNMAG,1,2,3", 0, 0, 0, 1, 0}, Case{"VNACC,1,2,3", 1, 0, 0, 0, 0},
           Case{"VNGYR,1,2,3", 0, 1, 0, 0, 0}, Case{"VNMAR,1,2,3,4,5,6,7,8,9", 1, 1, 0, 1, 0},
           Case{"VNYBA,1,2,3,4,5,6,7,8,9", 0, 1, 1, 0, 0},
           Case{"VNYIA,1,2,3,4,5,6,7,8,9", 0, 1, 1, 0, 0},
           Case{"VNIMU,1,2,3,4,5,6,7,8,9,25,101.3", 1, 1, 0, 1, 1},
           Case{"VNINS,1.5,2000,0016,1,2,3,48,11,500,0,0,0,1,1,1", 0, 0, 1, 0, 0},
           Case{"VNISL,1,2,3,48,11,500,0,0,0,4,5,6,7,8,9", 1, 1, 1, 0, 0},
           Case{"VNYPR,1,2,3,T0000123,S0001", 0, 0, 1, 0, 0},  // appended as register 30 has it
       }) {
    log.samples.clear();
    const ImuSample& s = sample_of(text(c.text));
    CHECK_EQUAL_TEXT(c.accel, s.accel.has_value(), c.text);
    CHECK_EQUAL_TEXT(c.gyro, s.gyro.has_value(), c.text);
    CHECK_EQUAL_TEXT(c.orientation, s.orientation.has_value(), c.text);
    CHECK_EQUAL_TEXT(c.mag, s.mag.has_value(), c.text);
    CHECK_EQUAL_TEXT(c.pressure, s.pressure.has_value(), c.text);
    if (s.accel) vectors_equal({(*s.accel)[0], (*s.accel)[1], (*s.accel)[2]}, s.accel);
    if (s.gyro && s.accel) CHECK_TRUE((*s.gyro)[0] == (*s.accel)[0] + 3 || (*s.gyro)[0] == 7);
  }
  log.samples.clear();
  const ImuSample& s = sample_of(text("VNDTV,0.01,1,2,3,0.1,0.2,0.3"));
  vectors_equal({0.1, -0.2, -0.3}, s.delta_velocity);
  DOUBLES_EQUAL(inertial::kRadPerDeg, (*s.delta_angle)[0], 1e-12);
}

TEST(Vectornav, OtherTextsAreNoMeasurement) {
  for (const char* body :
       {"VNRRG,05,115200", "VNWRG,06,0", "VNASY,0", "VNGPS,1,2,3", "VNHVE,1,2,3"}) {
    feed(text(body));
  }
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(5, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(Vectornav, UndecodableIsWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  feed(binary("01 00 01", floats({0, 0, 0})));  // has not measured yet
  feed(binary("01 20 00", floats({nan, 0, 0})));
  feed(binary("01 21 00", joined(little(~std::uint64_t{0}, 8), floats({1, 2, 3}))));
  feed(text("VNYPR,1,2"));
  feed(text("VNYPR,1,2,3,4"));
  feed(text("VNYPR,1,x,3"));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(6, decoder.stats().undecodable);
}

TEST(Vectornav, MessagesOfOneInstantBelongTogether) {
  for (std::int64_t ns = 50'000'000; ns <= 200'000'000; ns += 50'000'000) {
    const Octets time = little(static_cast<std::uint64_t>(ns), 8);
    feed(binary("06 01 00 0C 00", joined(time, floats({1, 2, 3, 4, 5, 6}))), 49ms);
    feed(binary("12 01 00 02 00", joined(time, floats({1, 2, 3}))), 1ms);
  }
  LONGS_EQUAL(8, log.samples.size());
  for (std::size_t i = 0; i < 8; ++i) {
    CHECK_TRUE(device_ns(i) == static_cast<std::int64_t>(i / 2 + 1) * 50'000'000);
  }
  for (std::size_t i = 1; i < 8; ++i) CHECK_TRUE(log.samples[i - 1].at < log.samples[i].at);
  CHECK_TRUE(log.samples[3].at - log.samples[2].at < 1us);
}

TEST(Vectornav, AStampThatDoesNotAdvanceInItsOwnKindIsStale) {
  feed(sample(10'000'000));
  feed(sample(10'000'000));
  feed(sample(9'000'000));
  LONGS_EQUAL(1, log.samples.size());
}

TEST(Vectornav, ADeviceThatStartedAnewBeginsAnew) {
  feed(sample(100'000'000'000));
  feed(sample(10'000'000), 1s);
  feed(sample(20'000'000));
  LONGS_EQUAL(3, log.samples.size());
  CHECK_TRUE(20'000'000 == device_ns(2));
}

TEST(Vectornav, ATextBetweenStampedMessagesBelongsToTheOneBefore) {
  feed(sample(10'000'000));
  feed(text("VNYPR,1,2,3"), 3ms);
  CHECK_TRUE(log.samples.at(1).at - log.samples.at(0).at == 1ns);
}

TEST(Vectornav, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Vectornav> other{options, 0, other_log};
  const Octets one = sample(10'000'000), two = sample(7'000'000);
  for (std::size_t i = 0; i < one.size(); ++i) {
    decoder.feed({std::span(one).subspan(i, 1), now});
    other.feed({std::span(two).subspan(i, 1), now});
  }
  CHECK_TRUE(10'000'000 == device_ns(0));
  CHECK_TRUE(7'000'000 == other_log.samples.at(0).device_ns.value_or(-1));
}

TEST(Vectornav, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Vectornav> quiet{options, 115200, counter};
  std::vector<Octets> stream;
  for (int i = 1; i <= 50; ++i) {
    stream.push_back(joined(sample(i * 10'000'000), text("VNYMR,1,2,3,4,5,6,7,8,9,10,11,12")));
  }
  test::AllocationCounter allocations;
  for (const Octets& bytes : stream) quiet.feed({bytes, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST(Vectornav, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(vn::Framing{},
                                 {kCommon0131, kTimeAndImu, kTimeAndAngles, text("VNYPR,1,2,3"),
                                  text("VNRRG,01,VN-100", true)});
}

TEST(Vectornav, ATornFrameHidesNothing) {
  test::check_torn_frames(vn::Framing{}, sample(1), sample(2));
  test::check_torn_frames(vn::Framing{}, text("VNYPR,1,2,3"), text("VNYPR,4,5,6"));
}

TEST(Vectornav, NoBitMayTurnOver) {
  test::check_bit_flips(vn::Framing{}, kTimeAndAngles, sample(1), sample(2));
  test::check_bit_flips(vn::Framing{}, text("VNYPR,1,2,3", true), sample(1), sample(2));
}

TEST(Vectornav, OfADamagedStreamEveryIntactFrameComesOut) {
  std::vector<Octets> frames;
  for (int i = 0; i < 400; ++i) {
    frames.push_back(i % 3 == 2 ? text("VNYPR,+1.5,-2," + std::to_string(i), true)
                                : sample(i * 5'000'000));
  }
  test::check_damaged_stream(vn::Framing{}, frames);
}
