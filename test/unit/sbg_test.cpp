#include "drivers/sbg/sbg.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "drivers/recognise.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"
#include "test/support/sbg_frames.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::sbg;

namespace {

const Octets kShort = hex(
    "FF 5A 2C 00 20 00 40 42 0F 00 FF 03 9A 99 01 00 CD CC FC FF 3D 0A 63 FF 71 3D 0A 00 1F 85 EB "
    "FF 52 B8 1E 00 80 19 3E A4 33");
const Octets kHighScale = hex(
    "FF 5A 2C 00 20 00 80 84 1E 00 FF 07 9A 99 01 00 CD CC FC FF 3D 0A 63 FF A2 E0 01 00 BD 3E FC "
    "FF 30 DF 55 1D 80 19 E6 C7 33");
const Octets kQuat = hex(
    "FF 5A 07 00 24 00 60 E3 16 00 F3 04 35 3F 00 00 00 00 00 00 00 00 F3 04 35 3F 0A D7 23 3C 0A "
    "D7 23 3C 0A D7 A3 3C 32 00 00 00 07 E6 33");
const Octets kAngles = hex(
    "FF 5A 06 00 20 00 60 E3 16 00 CD CC CC 3D CD CC 4C BE DB 0F C9 3F 0A D7 23 3C 0A D7 23 3C 0A "
    "D7 A3 3C 32 00 00 00 B9 98 33");
const Octets kData = hex(
    "FF 5A 03 00 3A 00 60 E3 16 00 7F 00 CD CC CC 3D CD CC 4C BE C3 F5 1C C1 0A D7 23 3C 0A D7 A3 "
    "BC 8F C2 F5 3C 00 00 CC 41 CD CC CC 3D CD CC 4C BE C3 F5 1C C1 0A D7 23 3C 0A D7 A3 BC 8F C2 "
    "F5 3C 3C F8 33");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

}  // namespace

TEST_GROUP(Sbg) {
  Options options{Sbg::options()};
  test::PacketLog log;
  DeviceDecoder<Sbg> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Octets& bytes, hal::Duration later = 10ms) {
    decoder.feed({bytes, now += later});
  }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
};

TEST(Sbg, AShortLogIsInPowersOfTwo) {
  feed(kShort);
  const ImuSample& s = log.samples.at(0);
  vectors_equal({0.100000381, 0.199999809, 9.81000042}, s.accel);
  vectors_equal({0.0100000054, 0.0199999958, -0.0300000012}, s.gyro, 1e-10);
  DOUBLES_EQUAL(25.5, *s.temperature, 0);
  CHECK_TRUE(1'000'000'000 == device_ns(0));
}

TEST(Sbg, FastTurnsAreOfAnotherScale) {
  feed(kHighScale);
  vectors_equal({0.01, 0.02, -40.0}, log.samples.at(0).gyro, 1e-6);
}

TEST(Sbg, ADataLogIsInFloats) {
  feed(kData);
  const ImuSample& s = log.samples.at(0);
  vectors_equal({0.1, 0.2, 9.81}, s.accel);
  vectors_equal({0.01, 0.02, -0.03}, s.gyro);
  DOUBLES_EQUAL(25.5, *s.temperature, 0);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
}

TEST(Sbg, AFastLogIsInSixteenBits) {
  Data d;
  d.u32(7000).u16(0x3FF);
  for (const int v : {100, -200, -981, 10, -20, 30}) d.u16(static_cast<unsigned>(v & 0xFFFF));
  feed(frame(0, 1, d.bytes));
  vectors_equal({1, 2, 9.81}, log.samples.at(0).accel);
  vectors_equal({0.01, 0.02, -0.03}, log.samples.at(0).gyro);
  CHECK_TRUE(7'000'000 == device_ns(0));
}

TEST(Sbg, HeadingEastIsNoTurnInEastNorthUp) {
  feed(kQuat);
  const auto q = *log.samples.at(0).orientation;
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(0, q[i], 1e-7);
  DOUBLES_EQUAL(1, q[3], 1e-6);
}

TEST(Sbg, AnglesStandInForAQuaternionUntilOneComes) {
  feed(kAngles);
  // Roll 0.1, pitch -0.2, heading East: in east-north-up roll 0.1, pitch 0.2, yaw 0.
  const auto q = *log.samples.at(0).orientation;
  DOUBLES_EQUAL(std::sin(0.05) * std::cos(0.1), q[0], 1e-6);
  DOUBLES_EQUAL(std::cos(0.05) * std::sin(0.1), q[1], 1e-6);
  DOUBLES_EQUAL(-std::sin(0.05) * std::sin(0.1), q[2], 1e-6);
  DOUBLES_EQUAL(std::cos(0.05) * std::cos(0.1), q[3], 1e-6);
  feed(quaternion(1'600'000));
  feed(kAngles);
  LONGS_EQUAL(2, log.samples.size());
}

TEST(Sbg, LogsOfAnInstantAreOneSample) {
  for (std::uint32_t us = 10'000; us <= 100'000; us += 10'000) {
    feed(quaternion(us));
    feed(imu_short(us), 1ms);
  }
  const ImuSample& s = log.samples.back();
  CHECK_TRUE(s.accel && s.orientation);
  DOUBLES_EQUAL(std::sqrt(0.5), (*s.orientation)[2], 1e-6);  // North is a quarter turn
  CHECK_TRUE(100'000'000 == s.device_ns.value_or(-1));
  std::size_t whole = 0;
  for (const ImuSample& each : log.samples) whole += each.accel && each.orientation;
  CHECK_TRUE(whole >= 8);
}

TEST(Sbg, AnAttitudeThatTheFilterDoesNotVouchForIsNone) {
  feed(quaternion(1000, 0x22));
  feed(imu_short(1000));
  LONGS_EQUAL(1, log.samples.size());
  CHECK_FALSE(log.samples[0].orientation.has_value());
}

TEST(Sbg, OfSeveralInertialLogsTheBestIsTheSampleWhileItComes) {
  feed(imu_data(1000));
  feed(imu_short(11'000));
  for (std::uint32_t i = 0; i < 50; ++i) feed(imu_data(12'000 + 1000 * i));
  LONGS_EQUAL(2, log.samples.size());
  feed(imu_short(70'000));
  for (std::uint32_t i = 0; i < 150; ++i) feed(imu_data(80'000 + 1000 * i));
  CHECK_TRUE(log.samples.size() >= 53);
}

TEST(Sbg, ItsClockWrapsAfterSeventyOneMinutes) {
  const std::uint32_t before = 4'294'967'295U - 25'000;
  for (std::uint32_t i = 0; i < 6; ++i) feed(imu_short(before + 10'000 * i));
  LONGS_EQUAL(6, log.samples.size());
  CHECK_TRUE(device_ns(5) - device_ns(0) == 50'000'000);
  CHECK_TRUE(log.samples[5].at - log.samples[0].at == 50ms);
}

TEST(Sbg, LogsMayGrowAndMayNotShrink) {
  feed(quaternion(1000, 0x32, true));
  LONGS_EQUAL(1, log.samples.size());
  Octets data(31);
  feed(frame(44, 0, data));
  LONGS_EQUAL(1, log.samples.size());
  LONGS_EQUAL(1, decoder.stats().undecodable);
}

TEST(Sbg, OtherLogsPagesAndCommandsAreNoMeasurement) {
  feed(frame(1, 0, Octets(26)));
  feed(frame(9, 0x80, Octets(64)));
  feed(ack(30));
  feed(utc(1000, 3));
  const std::string nmea = "$GPGGA,000000.00,,,,,0,00,,,M,,M,,*78\r\n";
  const hal::Bytes text = std::as_bytes(std::span(nmea));
  feed(Octets(text.begin(), text.end()));
  feed(frame(77, 0, {}));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(5, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(Sbg, UndecodableIsWhatMakesNoSense) {
  feed(imu_data(1000, std::numeric_limits<double>::quiet_NaN()));
  feed(imu_short(2000, 0x3FF, 0));  // has not measured yet
  feed(imu_short(3000, 0x3FE));     // its inertial unit is silent
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(3, decoder.stats().undecodable);
}

TEST(Sbg, UtcIsThatOfTheNewestPair) {
  const auto unix_of = [](const Octets& f) { return sbg::unix_in(sbg::data_of(f)); };
  CHECK_TRUE(1'796'083'200'000'000'000 == unix_of(utc(0, 0)).value_or(-1));
  CHECK_TRUE(1'796'083'265'000'000'500 == unix_of(utc(0, 65, 500)).value_or(-1));
  CHECK_FALSE(unix_of(utc(0, 0, 0, 0x0003)).has_value());  // runs freely
  CHECK_FALSE(unix_of(utc(0, 0, 0, 0x0067)).has_value());  // without leap seconds
  Octets june = utc(0, 0);
  june[6 + 8] = std::byte{13};
  CHECK_FALSE(unix_of(june).has_value());
}

TEST(Sbg, StampsAreUtcOnceThatIsKnown) {
  CHECK_TRUE(static_cast<bool>(options.set("stamps", "utc")));
  Sbg device(options);
  Decoded out;
  const auto decode = [&](const Octets& f) {
    out.clear();
    device.decode({f, now, now}, out);
  };
  decode(imu_short(500'000));
  CHECK_TRUE(Timing::Source::clock == out.items()[0].timing.source);
  decode(utc(1'000'000, 10));
  decode(imu_short(1'250'000));
  const Timing& timing = out.items()[0].timing;
  CHECK_TRUE(Timing::Source::utc == timing.source);
  CHECK_TRUE(1'796'083'210'250'000'000 == timing.raw_ns);
  decode(imu_short(7'000'000));  // the pair is too old
  CHECK_TRUE(Timing::Source::clock == out.items()[0].timing.source);
  // A pair just before the wrap, a sample behind it.
  decode(utc(4'294'967'295U, 20));
  decode(imu_short(99'999));
  CHECK_TRUE(1'796'083'220'100'000'000 == out.items()[0].timing.raw_ns);
}

TEST(Sbg, FaultsAreNamed) {
  for (const auto& [status, words] :
       {std::pair{0x3FEU, "its inertial unit does not answer (status 0x3FE)"},
        {0x3FDU, "its inertial unit failed its test (status 0x3FD)"},
        {0x3F7U, "an accelerometer failed (status 0x3F7)"},
        {0x37FU, "a gyroscope failed (status 0x37F)"},
        {0x2FFU, "an acceleration is beyond its range (status 0x2FF)"},
        {0x1FFU, "a rate of turn is beyond its range (status 0x1FF)"},
        {0x7FFU, ""}}) {
    STRCMP_EQUAL(words, sbg::words_for(status).c_str());
  }
}

TEST(Sbg, TheWorkedVectorsOfTheCapturesAreFrames) {
  std::ifstream file(test::in_captures("imu-vectors.tsv"));
  if (!file) {
    UT_PRINT("no captures: skipped");
    return;
  }
  int found = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("sbg\t")) continue;
    const std::size_t from = line.find('\t', 4) + 1;
    const Octets bytes = hex(line.substr(from, line.find('\t', from) - from));
    LONGS_EQUAL(bytes.size(), sbg::Framing::measure(bytes));
    CHECK_TRUE(sbg::Framing::intact(bytes));
    ++found;
  }
  LONGS_EQUAL(4, found);
}

TEST(Sbg, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log, alone_log;
  DeviceDecoder<Sbg> other{options, 0, other_log}, alone{options, 0, alone_log};
  for (std::uint32_t i = 1; i < 100; ++i) {
    const Octets one = joined(quaternion(i * 10'000), imu_short(i * 10'000));
    const Octets two = joined(imu_data(i * 7000 + 5), quaternion(i * 7000 + 5));
    now += 10ms;
    for (std::size_t k = 0; k < std::max(one.size(), two.size()); ++k) {
      if (k < one.size()) decoder.feed({std::span(one).subspan(k, 1), now});
      if (k < two.size()) other.feed({std::span(two).subspan(k, 1), now});
    }
    alone.feed({one, now});
  }
  LONGS_EQUAL(alone_log.samples.size(), log.samples.size());
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    CHECK_TRUE(log.samples[i].at == alone_log.samples[i].at);
    CHECK_TRUE(log.samples[i].device_ns == alone_log.samples[i].device_ns);
  }
}

TEST(Sbg, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Sbg> quiet{options, 115200, counter};
  std::vector<Octets> frames;
  for (std::uint32_t i = 1; i <= 50; ++i)
    frames.push_back(joined(joined(utc(i, 5), quaternion(i * 10'000)), imu_short(i * 10'000)));
  test::AllocationCounter allocations;
  for (const Octets& f : frames) quiet.feed({f, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  CHECK_TRUE(counter.packets >= 50);
}

TEST(Sbg, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(sbg::Framing{},
                                 {kShort, kQuat, kData, ack(30), frame(4, 0x10, {}), utc(1, 2)});
}

TEST(Sbg, ATornFrameHidesNothing) {
  test::check_torn_frames(sbg::Framing{}, imu_short(1), imu_short(2));
}

TEST(Sbg, NoBitMayTurnOver) {
  test::check_bit_flips(sbg::Framing{}, kShort, quaternion(1), imu_short(2));
}

TEST(Sbg, OfADamagedStreamEveryIntactFrameComesOut) {
  std::vector<Octets> frames;
  for (std::uint32_t i = 0; i < 400; ++i)
    frames.push_back(i % 2 != 0 ? quaternion(i * 1000) : imu_short(i * 1000));
  test::check_damaged_stream(sbg::Framing{}, frames);
}

TEST(Sbg, ALengthBeyondTheLogsIsNoFrame) {
  Octets damaged = kShort;
  damaged[5] = std::byte{1};
  LONGS_EQUAL(kNotAFrame, sbg::Framing::measure(damaged));
}

TEST(Sbg, ItsBytesAreRecognised) {
  Octets stream;
  for (std::uint32_t i = 0; i < 5; ++i) stream = joined(std::move(stream), imu_short(i * 1000));
  CHECK_TRUE("sbg" == recognise(stream).driver);
}
