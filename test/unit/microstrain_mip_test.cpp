#include "drivers/microstrain_mip/microstrain_mip.h"

#include <cmath>
#include <limits>
#include <numbers>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/mip_packet.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::mip;

namespace {

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

}  // namespace

TEST_GROUP(MicrostrainMip) {
  Options options{MicrostrainMip::options()};
  test::PacketLog log;
  DeviceDecoder<MicrostrainMip> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Octets& bytes, hal::Duration later = 10ms) {
    decoder.feed({bytes, now += later});
  }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
  std::int64_t seconds_between(std::size_t i, std::size_t j) {
    return (log.samples.at(j).at - log.samples.at(i).at).count() / 1'000'000'000;
  }
};

TEST(MicrostrainMip, DecodesAccelerationAndRateWithTheReferenceTime) {
  feed(
      hex("75 65 80 26 0A D5 00 00 00 00 59 68 2F 00 0E 04 3C 27 11 FF 3C A7 11 FF BF 80 0B 32"
          "0E 05 3C 23 D7 0A 3C A3 D7 0A BC F5 C2 8F 58 35"));
  LONGS_EQUAL(1, log.samples.size());
  CHECK_TRUE(now == log.samples[0].at);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  vectors_equal({0.1, -0.2, 9.81}, log.samples[0].accel);
  vectors_equal({0.01, -0.02, 0.03}, log.samples[0].gyro);
  CHECK_FALSE(log.samples[0].orientation || log.samples[0].mag || log.samples[0].delta_angle);
}

TEST(MicrostrainMip, TurnsTheFiltersAttitudeIntoEastNorthUpAndItsWeekTimeIntoNanoseconds) {
  feed(
      hex("75 65 82 22 0E D3 40 FE 24 0C 00 00 00 00 08 FC 00 01 14 03 3F 35 04 F3 00 00 00 00"
          "00 00 00 00 3F 35 04 F3 00 01 C0 69"));
  LONGS_EQUAL(1, log.samples.size());
  CHECK_TRUE(123'456'750'000'000 == device_ns(0));
  const auto q = *log.samples[0].orientation;
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(0, q[i], 1e-7);  // nose to the east
  DOUBLES_EQUAL(1, q[3], 1e-7);
}

TEST(MicrostrainMip, AttitudeOfIdentityLooksNorth) {
  feed(packet(0x80, field(0x0A, floats({1, 0, 0, 0}))));
  const auto q = *log.samples.at(0).orientation;
  DOUBLES_EQUAL(0, q[0], 1e-7);
  DOUBLES_EQUAL(0, q[1], 1e-7);
  DOUBLES_EQUAL(std::sqrt(0.5), q[2], 1e-7);
  DOUBLES_EQUAL(std::sqrt(0.5), q[3], 1e-7);
}

TEST(MicrostrainMip, AttitudeAgreesWithTheVectorOfTheConventions) {
  // Roll 10, pitch -5, heading 30 degrees; the opposite sign is the same attitude.
  using std::cos, std::sin;
  constexpr double kDeg = std::numbers::pi / 180;
  const double r = 5 * kDeg, p = -2.5 * kDeg, h = 15 * kDeg;
  const float w = static_cast<float>(cos(r) * cos(p) * cos(h) + sin(r) * sin(p) * sin(h));
  const float x = static_cast<float>(sin(r) * cos(p) * cos(h) - cos(r) * sin(p) * sin(h));
  const float y = static_cast<float>(cos(r) * sin(p) * cos(h) + sin(r) * cos(p) * sin(h));
  const float z = static_cast<float>(cos(r) * cos(p) * sin(h) - sin(r) * sin(p) * cos(h));
  feed(packet(0x80, field(0x0A, floats({w, x, y, z}))));
  feed(packet(0x80, field(0x0A, floats({-w, -x, -y, -z}))));
  for (const ImuSample& sample : log.samples) {
    const auto q = *sample.orientation;
    DOUBLES_EQUAL(0.0536805, q[0], 1e-6);
    DOUBLES_EQUAL(0.0811681, q[1], 1e-6);
    DOUBLES_EQUAL(0.4943309, q[2], 1e-6);
    DOUBLES_EQUAL(0.8638096, q[3], 1e-6);
  }
  LONGS_EQUAL(2, log.samples.size());
}

TEST(MicrostrainMip, DecodesEverythingElseThatASensorPacketMayHold) {
  feed(packet(
      0x80,
      joined(joined(joined(field(0x07, floats({0.1f, 0.2f, 0.3f})), field(0x08, floats({1, 2, 3}))),
                    joined(field(0x14, floats({20, 30, 25})), field(0x17, floats({1013.25f})))),
             field(0x06, floats({0.5f, 0.25f, -0.5f})))));
  LONGS_EQUAL(1, log.samples.size());
  const ImuSample& s = log.samples[0];
  vectors_equal({0.1, -0.2, -0.3}, s.delta_angle);
  vectors_equal({9.80665, -19.6133, -29.41995}, s.delta_velocity);
  DOUBLES_EQUAL(25, *s.temperature, 1e-9);
  DOUBLES_EQUAL(101325, *s.pressure, 1e-2);
  vectors_equal({0.5e-4, -0.25e-4, 0.5e-4}, s.mag, 1e-12);
}

TEST(MicrostrainMip, TakesOfTheFilterWhatIsValid) {
  const Octets rate = floats({1, 2, 3}, 1), accel = floats({0, 0, -9.8f}, 1);
  feed(packet(0x82, joined(field(0x0E, rate), field(0x1C, accel))));
  vectors_equal({1, -2, -3}, log.samples.at(0).gyro);
  vectors_equal({0, 0, 9.8}, log.samples.at(0).accel);
  feed(packet(0x82, joined(field(0x0E, rate), field(0x1C, floats({0, 0, -9.8f}, 0)))));
  CHECK_FALSE(log.samples.at(1).accel.has_value());
  feed(packet(0x82, field(0x03, floats({1, 0, 0, 0}, 0))));
  LONGS_EQUAL(2, log.samples.size());
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(MicrostrainMip, AccelerationWithoutGravityIsNoSpecificForce) {
  feed(packet(0x82, field(0x0D, floats({1, 2, 3}, 1))));
  LONGS_EQUAL(0, log.samples.size());
}

TEST(MicrostrainMip, PacketsWithoutAMeasurementGiveNothing) {
  feed(hex("75 65 01 04 04 F1 06 00 DA 74"));                 // an acknowledgement
  feed(hex("75 65 01 00 DB 05"));                             // no field at all
  feed(packet(0x80, field(0x0C, floats({1, 2, 3}))));         // Euler angles
  feed(packet(0x80, field(0xD6, big_endian(8'000'000, 8))));  // time alone
  feed(packet(0x82, joined(reference(1), field(0x05, floats({1, 2, 3}, 1)))));
  feed(packet(0x91, field(0x04, floats({1, 2, 3}))));  // another set
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(6, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(MicrostrainMip, UndecodableIsWhatMakesNoSense) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Octets broken[] = {
      packet(0x80, hex("01 04 00 00")),                        // shorter than its own header
      packet(0x80, hex("00 04")),                              //
      packet(0x80, joined(kAccelAtRest, hex("0E 05 00 00"))),  // beyond the packet
      packet(0x01, hex("05 F1 02")),                           //
      packet(0x80, joined(kAccelAtRest, hex("04"))),           // a byte too many
      packet(0x80, field(0x04, floats({0.1f, 0.2f}))),         // two axes
      packet(0x80, field(0x04, floats({0.1f, 0.2f, 1, 2}))),
      packet(0x82, field(0x03, floats({1, 0, 0, 0}))),  // without its flags
      packet(0x80, joined(kGyro, field(0xD5, big_endian(1, 4)))),
      packet(0x80, joined(kGyro, field(0xD5, big_endian(~std::uint64_t{0}, 8)))),
      packet(0x80, field(0x04, floats({0, 0, 0}))),  // has not measured yet
      packet(0x80, joined(kGyro, field(0x04, floats({0, nan, 1})))),
      packet(0x80, field(0x05, floats({std::numeric_limits<float>::infinity(), 0, 0}))),
      packet(0x80, field(0x0A, floats({nan, 0, 0, 0}))),
      packet(0x80, field(0x17, floats({nan}))),
  };
  for (const Octets& frame : broken) feed(frame);
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(std::size(broken), decoder.stats().undecodable);
  LONGS_EQUAL(std::size(broken), decoder.stats().framing.frames);
}

TEST(MicrostrainMip, AnAttitudeThatIsNoRotationIsLeftOut) {
  feed(packet(0x80, joined(kAccelAtRest, field(0x0A, floats({0, 0, 0, 0})))));
  CHECK_TRUE(log.samples.at(0).accel.has_value());
  CHECK_FALSE(log.samples.at(0).orientation.has_value());
}

TEST(MicrostrainMip, TheReferenceTimeIsPreferredToTheWeek) {
  feed(packet(0x80, joined(joined(week_time(0xD3, 1000, 3), kAccelAtRest), reference(5))));
  CHECK_TRUE(5 == device_ns(0));
  feed(packet(0x82, joined(week_time(0xD3, 1000.01, 3), field(0x0E, floats({1, 2, 3}, 1)))));
  CHECK_FALSE(log.samples.at(1).device_ns.has_value());
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(MicrostrainMip, AnUnflaggedWeekTimeCountsOnlyWhereTheDeviceHasNoFlagForIt) {
  feed(packet(0x80, joined(week_time(0x12, 1000, 0), kAccelAtRest)));
  CHECK_TRUE(1'000'000'000'000 == device_ns(0));
  feed(packet(0x82, joined(week_time(0xD3, 1000.01, 2), field(0x0E, floats({1, 2, 3}, 1)))));
  CHECK_FALSE(log.samples.at(1).device_ns.has_value());
}

TEST(MicrostrainMip, TheWeekTimeGoesOnOverTheEndOfTheWeek) {
  feed(packet(0x80, joined(week_time(0x12, 604'799.995, 0), kAccelAtRest)));
  feed(packet(0x80, joined(week_time(0x12, 0.005, 0), kAccelAtRest)));
  LONGS_EQUAL(2, log.samples.size());
  CHECK_TRUE(604'800'005'000'000 == device_ns(1));
  CHECK_TRUE(log.samples[1].at - log.samples[0].at == 10ms);
}

TEST(MicrostrainMip, TheReferenceTimeMayPassAWeek) {
  const std::int64_t week = 604'800'000'000'000;
  feed(packet(0x80, joined(reference(week - 5'000'000), kAccelAtRest)));
  feed(packet(0x80, joined(reference(week + 5'000'000), kAccelAtRest)));
  feed(packet(0x80, joined(reference(7 * week), kAccelAtRest)), std::chrono::hours(6 * 168));
  CHECK_TRUE(week + 5'000'000 == device_ns(1));
  CHECK_TRUE(7 * week == device_ns(2));
}

TEST(MicrostrainMip, TheOtherDataSetMayTellAnInstantAgain) {
  const Octets filtered = field(0x0E, floats({1, 2, 3}, 1));
  feed(packet(0x80, joined(reference(10'000'000), kAccelAtRest)));
  feed(packet(0x82, joined(reference(10'000'000), filtered)), 1ms);
  feed(packet(0x80, joined(reference(20'000'000), kAccelAtRest)), 9ms);
  feed(packet(0x82, joined(reference(18'000'000), filtered)), 1ms);
  LONGS_EQUAL(4, log.samples.size());
  CHECK_TRUE(10'000'000 == device_ns(1));
  CHECK_TRUE(18'000'000 == device_ns(3));
  for (std::size_t i = 1; i < 4; ++i) CHECK_TRUE(log.samples[i - 1].at < log.samples[i].at);
  CHECK_TRUE(log.samples[1].at - log.samples[0].at < 1us);
  CHECK_TRUE(log.samples[2].at - log.samples[0].at == 10ms);
}

TEST(MicrostrainMip, AStampThatDoesNotAdvanceInItsOwnSetIsStale) {
  feed(packet(0x80, joined(reference(10'000'000), kAccelAtRest)));
  feed(packet(0x80, joined(reference(10'000'000), kAccelAtRest)));
  feed(packet(0x80, joined(reference(9'000'000), kAccelAtRest)));
  LONGS_EQUAL(1, log.samples.size());
}

TEST(MicrostrainMip, ADeviceThatStartedAnewBeginsAnew) {
  feed(packet(0x80, joined(reference(100'000'000'000), kAccelAtRest)));
  feed(packet(0x80, joined(reference(10'000'000), kAccelAtRest)), 1s);
  feed(packet(0x80, joined(reference(20'000'000), kAccelAtRest)));
  LONGS_EQUAL(3, log.samples.size());
  LONGS_EQUAL(1, seconds_between(0, 1));
  CHECK_TRUE(20'000'000 == device_ns(2));
}

TEST(MicrostrainMip, AfterARestartBothDataSetsGoOn) {
  const Octets filtered = field(0x0E, floats({1, 2, 3}, 1));
  for (const std::int64_t ms : {100'000, 10, 20}) {
    const std::int64_t ns = ms * 1'000'000;
    feed(packet(0x80, joined(reference(ns), kAccelAtRest)), 1s);
    feed(packet(0x82, joined(reference(ns), filtered)), 1ms);
  }
  LONGS_EQUAL(6, log.samples.size());
}

TEST(MicrostrainMip, WithoutAnyStampSamplesAreStampedAtArrival) {
  feed(packet(0x80, kAccelAtRest));
  feed(packet(0x80, kAccelAtRest), 10ms);
  CHECK_TRUE(log.samples.at(1).at == now);
  CHECK_FALSE(log.samples.at(1).device_ns.has_value());
}

TEST(MicrostrainMip, APacketWithoutAStampBelongsToTheOneBefore) {
  feed(packet(0x80, joined(reference(10'000'000), kAccelAtRest)));
  feed(hex("75 65 80 0e 0e 06 3d 7a ff d6 3e 91 9f e8 3e 79 ff d6 ea c9"), 3ms);
  vectors_equal({0.06127914e-4, -0.28442311e-4, -0.24414000e-4}, log.samples.at(1).mag, 1e-12);
  CHECK_FALSE(log.samples[1].device_ns.has_value());
  CHECK_TRUE(log.samples[1].at - log.samples[0].at == 1ns);
}

TEST(MicrostrainMip, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<MicrostrainMip> other{options, 0, other_log};
  const Octets one = packet(0x80, joined(reference(10'000'000), kAccelAtRest));
  const Octets two = packet(0x80, joined(reference(7'000'000), kGyro));
  for (std::size_t i = 0; i < std::max(one.size(), two.size()); ++i) {
    if (i < one.size()) decoder.feed({std::span(one).subspan(i, 1), now});
    if (i < two.size()) other.feed({std::span(two).subspan(i, 1), now});
  }
  CHECK_TRUE(10'000'000 == device_ns(0));
  CHECK_TRUE(7'000'000 == other_log.samples.at(0).device_ns.value_or(-1));
}

TEST(MicrostrainMip, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<MicrostrainMip> quiet{options, 115200, counter};
  const Octets frame = packet(0x80, joined(joined(kAccelAtRest, kGyro), reference(10'000'000)));
  const Octets mag = packet(0x80, field(0x06, floats({1, 2, 3})));
  test::AllocationCounter allocations;
  quiet.feed({frame, now});
  for (int i = 0; i < 100; ++i) quiet.feed({mag, now += 1ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(101, counter.packets);
}

TEST(MicrostrainMip, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(
      mip::Framing{},
      {hex("75 65 01 02 02 01 E0 C6"), hex("75 65 01 04 04 F1 01 00 D5 6A"),
       packet(0x80, joined(reference(0x7565'7565'7565), kAccelAtRest)), packet(0x82, kGyro)});
}

TEST(MicrostrainMip, ATornFrameHidesNothing) {
  test::check_torn_frames(mip::Framing{}, packet(0x80, joined(kGyro, kAccelAtRest)),
                          packet(0x80, joined(kAccelAtRest, kGyro)));
}

TEST(MicrostrainMip, NoBitMayTurnOver) {
  test::check_bit_flips(mip::Framing{}, packet(0x80, joined(reference(7), kAccelAtRest)),
                        packet(0x80, kGyro), packet(0x82, kGyro));
}

TEST(MicrostrainMip, EveryFrameOfTheProtocolIsAFrame) {
  for (const char* text :
       {"75 65 01 00 DB 05", "75 65 01 02 02 01 E0 C6", "75 65 01 04 04 F1 01 00 D5 6A",
        "75 65 01 02 02 02 E1 C7", "75 65 01 04 04 F1 02 00 D6 6C", "75 65 01 02 02 03 E2 C8",
        "75 65 01 02 02 04 E3 C9", "75 65 01 02 02 06 E5 CB", "75 65 01 04 04 F1 06 00 DA 74",
        "75 65 0C 03 03 0E 80 7A 7E", "75 65 0C 09 04 F1 0E 00 05 8E 80 03 E8 F0 58",
        "75 65 0C 02 02 06 F0 F7", "75650C0E0E0F018003D5000A04000A05000A91CE",
        "75 65 0C 07 07 40 01 00 0E 10 00 53 9D", "75 65 0C 03 03 30 05 21 47",
        "75 65 0C 03 03 30 03 1F 45", "75 65 0C 04 04 F1 0F 03 F1 CB"}) {
    const Octets frame = hex(text);
    LONGS_EQUAL(frame.size(), mip::Framing::measure(frame));
    CHECK_TRUE(mip::Framing::intact(frame));
  }
}

TEST(MicrostrainMip, AcknowledgementsNameTheirCommandAndCode) {
  const Octets refused = hex("75 65 0C 04 04 F1 0F 03 F1 CB");
  LONGS_EQUAL(3, mip::code_of(refused, 0x0C, 0x0F).value_or(99));
  CHECK_FALSE(mip::code_of(refused, 0x0C, 0x08).has_value());
  CHECK_FALSE(mip::code_of(refused, 0x01, 0x0F).has_value());
  const Octets rate = hex("75 65 0C 09 04 F1 0E 00 05 8E 80 03 E8 F0 58");
  CHECK_TRUE(std::ranges::equal(mip::field_of(rate, 0x8E), hex("80 03 E8")));
}

// Roll 10, pitch -5, heading 30 degrees, as angles, as a matrix, and by the filter. Nobody who did
// not ask for it takes it for a measurement.
TEST(MicrostrainMip, AttitudesThatComeInOtherFormsAreTheSame) {
  constexpr float kDeg = std::numbers::pi_v<float> / 180;
  // Its columns are north, east and down as the body sees them.
  const auto matrix = {0.8627299F, 0.4980973F, 0.0871557F,  -0.5055107F, 0.8453013F,
                       0.1729874F, 0.0124917F, -0.1932996F, 0.9810603F};
  const auto angles = {10 * kDeg, -5 * kDeg, 30 * kDeg};
  for (const Octets& p :
       {packet(0x80, field(0x0C, floats(angles))), packet(0x80, field(0x09, floats(matrix))),
        packet(0x82, field(0x05, floats(angles, 1))),
        packet(0x82, field(0x04, floats(matrix, 1)))}) {
    ImuSample sample;
    mip::Measurement m{.sample = sample};
    CHECK_TRUE(mip::measured(p, m));
    CHECK_FALSE(m.carries_anything());
    const auto q = *m.other_attitude;
    DOUBLES_EQUAL(0.0536805, q[0], 1e-5);
    DOUBLES_EQUAL(0.0811681, q[1], 1e-5);
    DOUBLES_EQUAL(0.4943309, q[2], 1e-5);
    DOUBLES_EQUAL(0.8638096, q[3], 1e-5);
  }
  ImuSample sample;
  mip::Measurement invalid{.sample = sample};
  CHECK_TRUE(mip::measured(packet(0x82, field(0x05, floats(angles, 0))), invalid));
  CHECK_FALSE(invalid.other_attitude.has_value());
}

TEST(MicrostrainMip, DeltasHaveTheIntervalThatThePacketTells) {
  const Octets deltas =
      joined(field(0x07, floats({0.01F, 0, 0})), field(0x08, floats({0, 0, -0.01F})));
  feed(packet(0x80, joined(deltas, field(0xD6, big_endian(8'000'000, 8)))));
  feed(
      packet(0x80, joined(deltas, field(0xD4, big_endian(std::bit_cast<std::uint64_t>(0.01), 8)))));
  feed(packet(0x80, deltas));
  CHECK_TRUE(log.samples.at(0).interval == 8ms);
  CHECK_TRUE(log.samples.at(1).interval == 10ms);
  CHECK_TRUE(log.samples.at(2).interval == 0ms);  // nobody knows
}
