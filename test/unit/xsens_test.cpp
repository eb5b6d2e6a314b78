#include "drivers/xsens/xsens.h"

#include <cmath>
#include <limits>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/xsens_messages.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::xsens;
using Wrap = ::drivers::xsens::Ticks::Wrap;
using Xbus = ::drivers::xsens::Framing;

namespace {

// Published by the vendor.
const Octets kPublished =
    hex("FA FF 36 31 10 20 02 DF C5 10 60 04 00 45 9D A0 40 20 0C BE DC 9A FA 3F 54 9F 37 41 1C BB "
        "70 80 20 0C BB AA 5C 80 3B 8C 55 01 BB 81 33 00 E0 20 04 00 00 00 81 45");
// Of a MTi-G-710.
const Octets kReal = hex(
    "faff3671102002a9871060040314edb710100c07dca26007e301140d2f1837e020040000000520300cc2c6ec743"
    "e083f53c33330cb40200c3ce7e9cbc11a8e2fbfd04d0c40100c39931323bdc5d49bbc8552c480200c3ab21f42bb"
    "513ab9bb51e94c8030103f80000136e3ff0cb785e822b78657df19");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}
void attitude_is(const std::array<double, 4>& xyzw,
                 const std::optional<std::array<double, 4>>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 4; ++i) DOUBLES_EQUAL(xyzw[i], (*actual)[i], tolerance);
}
Octets with(const Octets& items, unsigned counter = 0, std::uint32_t ticks = 100) {
  return message(0x36, joined(times(counter, ticks), items));
}
const double kHalf = std::sqrt(0.5);

}  // namespace

TEST_GROUP(Xsens) {
  Options options{Xsens::options()};
  test::PacketLog log;
  DeviceDecoder<Xsens> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Octets& bytes, hal::Duration later = 10ms) {
    decoder.feed({bytes, now += later});
  }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
  ImuSample of(const Octets& items) {
    feed(with(items, 7, 100 + 100 * static_cast<std::uint32_t>(log.samples.size())));
    return log.samples.back();
  }
};

TEST(Xsens, ThePublishedMessageIsReadFieldByField) {
  feed(kPublished);
  CHECK_TRUE(456'233'600'000 == device_ns(0));
  vectors_equal({-0.43086988, 0.83055443, 9.79576111}, log.samples[0].accel, 1e-8);
  vectors_equal({-0.00519902, 0.00428259, -0.00394285}, log.samples[0].gyro, 1e-8);
  CHECK_TRUE(log.samples[0].at == now);
}

TEST(Xsens, ARealMessageIsReadFieldByField) {
  feed(kReal);
  const ImuSample& s = log.samples.at(0);
  CHECK_TRUE(5'170'322'300'000 == device_ns(0));
  vectors_equal({0.0283097234, -9.65971279, -1.62735128}, s.accel, 1e-8);
  vectors_equal({0.00135896378, -0.00319258706, -0.00320299249}, s.gyro, 1e-10);
  vectors_equal({0.00028052, -0.0965969, -0.0162748}, s.delta_velocity, 1e-7);
  // Its angles, as the vendor makes a quaternion of them.
  const double sign = (*s.orientation)[3] < 0 ? -1 : 1;
  attitude_is({-0.0046389223 * sign, 0.763002917 * sign, -0.646355406 * sign, 0.0054514958 * sign},
              s.orientation, 2e-6);
}

TEST(Xsens, TheConstructedMessageIsReadFieldByField) {
  feed(
      hex("FA FF 36 44 10 20 02 00 07 10 60 04 00 00 3A 98 20 10 10 3F 35 04 F3 00 00 00 00 00 00 "
          "00 00 3F 35 04 F3 40 20 0C 3D CC CC CD BE 4C CC CD 41 1C F5 C3 80 20 0C 3C 23 D7 0A BC "
          "A3 D7 0A 3C F5 C2 8F E0 20 04 00 00 00 03 77"));
  const ImuSample& s = log.samples.at(0);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  vectors_equal({0.1, -0.2, 9.81}, s.accel);
  vectors_equal({0.01, -0.02, 0.03}, s.gyro);
  attitude_is({0, 0, kHalf, kHalf}, s.orientation);
}

TEST(Xsens, FixedPointIsReadAsItIsWritten) {
  feed(
      hex("FA FF 36 29 10 20 02 00 08 40 21 0C 00 01 99 9A FF FC CC CD 00 9C F5 C3 80 22 12 02 8F "
          "5C 29 00 00 FA E1 47 AE FF FF 07 AE 14 7B 00 00 03"));
  const ImuSample& s = log.samples.at(0);
  vectors_equal({0.10000038, -0.19999981, 9.81000042}, s.accel, 1e-8);
  vectors_equal({0.01, -0.02, 0.03}, s.gyro, 1e-9);
  CHECK_FALSE(s.device_ns.has_value());
}

TEST(Xsens, EveryPrecisionOfEveryItemIsRead) {
  const double tolerance[] = {1e-6, 1e-6, 1e-9, 1e-15};
  for (unsigned format = 0; format < 4; ++format) {
    const double t = tolerance[format];
    const Octets items =
        joined(joined(joined(numbers(0x4020 | format, {0.1, -0.2, 9.81}),
                             numbers(0x8020 | format, {0.01, -0.02, 0.03})),
                      joined(numbers(0x2010 | format, {0.6, 0, 0, 0.8}),
                             numbers(0x4010 | format, {0.001, -0.002, 0.0981}))),
               joined(numbers(0x8030 | format, {std::cos(0.01), std::sin(0.01), 0, 0}),
                      joined(numbers(0x0810 | format, {-5.25}), item(0x3010, big(101'325, 4)))));
    const ImuSample s = of(items);
    vectors_equal({0.1, -0.2, 9.81}, s.accel, t);
    vectors_equal({0.01, -0.02, 0.03}, s.gyro, t);
    attitude_is({0, 0, 0.8, 0.6}, s.orientation, t);
    vectors_equal({0.001, -0.002, 0.0981}, s.delta_velocity, t);
    vectors_equal({0.02, 0, 0}, s.delta_angle, 2 * t);
    DOUBLES_EQUAL(-5.25, *s.temperature, t);
    DOUBLES_EQUAL(101'325, *s.pressure, 0);
  }
}

TEST(Xsens, AttitudesInOtherWorldsAreTurnedIntoEastNorthUp) {
  // Level, x to the East: no turn in east-north-up, a quarter to the right in north-west-up. In
  // north-east-down it lies on its back, and x points to the second axis.
  attitude_is({0, 0, 0, 1}, of(numbers(0x2010, {1, 0, 0, 0})).orientation);
  attitude_is({0, 0, 0, 1}, of(numbers(0x2018, {kHalf, 0, 0, -kHalf})).orientation);
  attitude_is({0, 0, 0, 1}, of(numbers(0x2014, {0, kHalf, kHalf, 0})).orientation);
  // Nose up by 0.2 rad, to the North.
  const double c = std::cos(0.1) * kHalf, s = std::sin(0.1) * kHalf;
  const std::array<double, 4> up_north{s, -s, c, c};
  attitude_is(up_north, of(numbers(0x2010, {c, s, -s, c})).orientation);
  attitude_is(up_north, of(numbers(0x2018, {std::cos(0.1), 0, -std::sin(0.1), 0})).orientation);
}

TEST(Xsens, AMatrixIsAnAttitudeByColumns) {
  // A third of a turn about the diagonal: x to y, y to z, z to x; and half turns about each axis.
  attitude_is({0.5, 0.5, 0.5, 0.5}, of(numbers(0x2020, {0, 1, 0, 0, 0, 1, 1, 0, 0})).orientation);
  attitude_is({1, 0, 0, 0}, of(numbers(0x2020, {1, 0, 0, 0, -1, 0, 0, 0, -1})).orientation);
  attitude_is({0, 1, 0, 0}, of(numbers(0x2020, {-1, 0, 0, 0, 1, 0, 0, 0, -1})).orientation);
  attitude_is({0, 0, 1, 0}, of(numbers(0x2020, {-1, 0, 0, 0, -1, 0, 0, 0, 1})).orientation);
}

TEST(Xsens, AnglesAreAnAttitudeAndAQuaternionIsTheBetterOne) {
  attitude_is({0, 0, kHalf, kHalf}, of(numbers(0x2030, {0, 0, 90})).orientation);
  const Octets quaternion = numbers(0x2010, {1, 0, 0, 0}), angles = numbers(0x2030, {0, 0, 90});
  attitude_is({0, 0, 0, 1}, of(joined(quaternion, angles)).orientation);
  attitude_is({0, 0, 0, 1}, of(joined(angles, quaternion)).orientation);
}

TEST(Xsens, WhatIsMeasuredAtTheHighRateIsTakenWhereThereIsNothingElse) {
  const Octets high = joined(numbers(0x4040, {1, 2, 9}), numbers(0x8040, {0.1, 0.2, 0.3}));
  vectors_equal({1, 2, 9}, of(high).accel);
  const Octets both = joined(joined(high, numbers(0x4020, {0, 0, 9.81})), high);
  vectors_equal({0, 0, 9.81}, of(both).accel);
  vectors_equal({0.1, 0.2, 0.3}, of(both).gyro);
}

TEST(Xsens, TheMagnetometerNeedsTheFieldThatItCallsOne) {
  const Octets items = joined(numbers(0xC020, {0.5, 0, -1}), numbers(0x4020, {0, 0, 9.8}));
  CHECK_FALSE(of(items).mag.has_value());
  CHECK_TRUE(static_cast<bool>(options.set("field_ut", "48")));
  DeviceDecoder<Xsens> other(options, 0, log);
  other.feed({with(items), now});
  vectors_equal({24e-6, 0, -48e-6}, log.samples.back().mag, 1e-12);
}

TEST(Xsens, WithoutGravityItIsNoSpecificForce) {
  feed(with(numbers(0x4030, {1, 2, 3})));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(Xsens, MessagesOfSatellitesHaveAnotherTimeAndChangeNothing) {
  feed(at_rest(1, 100'000));
  feed(message(0x36, joined(item(0x7010, Octets(94)), times(2, 75'100))), 1ms);
  feed(at_rest(3, 100'100), 9ms);
  LONGS_EQUAL(2, log.samples.size());
  CHECK_TRUE(log.samples[1].at - log.samples[0].at == 10ms);
  CHECK_TRUE(10'010'000'000 == device_ns(1));
  const Octets both = joined(item(0x7020, Octets(120)), numbers(0x0810, {20}));
  feed(message(0x36, joined(both, times(4, 75'200))), 1ms);
  CHECK_FALSE(log.samples.at(2).device_ns.has_value());
  feed(at_rest(5, 100'200), 9ms);
  CHECK_TRUE(log.samples[3].at - log.samples[1].at == 10ms);
}

TEST(Xsens, ALongMessageHasALongLength) {
  Octets items = times(1, 100);
  while (items.size() < 240) items = joined(items, item(0x5040, Octets(8)));
  items = joined(items, numbers(0x4020, {0, 0, 9.81}));
  const Octets m = message(0x36, items);
  CHECK_TRUE(m[3] == std::byte{0xFF});
  feed(m);
  LONGS_EQUAL(1, log.samples.size());
}

TEST(Xsens, OtherMessagesAreNoMeasurement) {
  feed(message(0x31, {})), feed(message(0xC1, hex("40 20 00 64"))),
      feed(message(0x0D, Octets(118)));
  feed(with(item(0x5040, Octets(8)))), feed(with({})), feed(message(0x32, Octets(50)));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(6, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(Xsens, UndecodableIsWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const Octets broken[] = {
      with(hex("40 20")),
      with(hex("40 20 0C 00")),
      with(item(0x4020, Octets(11))),
      with(item(0x4022, Octets(12))),
      with(item(0x2010, Octets(12))),
      with(item(0x2020, Octets(32))),
      with(item(0x2030, Octets(16))),
      with(item(0x4010, Octets(8))),
      with(item(0x8020, Octets(16))),
      with(item(0x8030, Octets(12))),
      with(item(0xC020, Octets(8))),
      with(item(0x0810, Octets(8))),
      with(item(0x3010, Octets(2))),
      message(0x36, item(0x1020, Octets(4))),
      message(0x36, item(0x1060, Octets(2))),
      with(item(0xE020, Octets(1))),
      with(numbers(0x4020, {0, 0, 0})),  // has not measured yet
      with(numbers(0x4020, {nan, 0, 9})),
      with(numbers(0x8020, {nan, 0, 0})),
  };
  for (const Octets& m : broken) feed(m);
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(std::size(broken), decoder.stats().undecodable);
}

TEST(Xsens, TheFirstSamplesAreDroppedWhereTheyAreOfPartOfAnInterval) {
  for (unsigned i = 0; i < 3; ++i) feed(with(numbers(0x4020, {0, -7.26, -1.21}), i, 100 * i + 100));
  LONGS_EQUAL(1, log.samples.size());
  CHECK_TRUE(30'000'000 == device_ns(0));
  LONGS_EQUAL(2, decoder.stats().undecodable);
}

TEST(Xsens, LostMessagesAreCountedByTheirCounter) {
  test::PacketLog other;
  Xsens device{options};
  Decoded decoded;
  const auto lost = [&](unsigned counter) {
    decoded.clear();
    const Octets m = at_rest(counter, 100 * counter + 100);
    device.decode({m, now, now}, decoded);
    return decoded.lost();
  };
  LONGS_EQUAL(0, lost(65'533));
  LONGS_EQUAL(1, lost(65'535));
  LONGS_EQUAL(2, lost(2));
}

TEST(Xsens, TwoMessagesOfOneInstantAreBothGivenAndARepeatedOneIsNot) {
  feed(at_rest(1, 100));
  feed(with(numbers(0x0810, {20}), 2, 100), 1ms);
  LONGS_EQUAL(2, log.samples.size());
  CHECK_TRUE(log.samples[1].at - log.samples[0].at < 1us);
  feed(at_rest(3, 200)), feed(at_rest(3, 200));
  LONGS_EQUAL(3, log.samples.size());
}

TEST(Xsens, ItsCounterGoesOnOverBothWraps) {
  feed(at_rest(1, 863'999'950)), feed(at_rest(2, 50));
  CHECK_TRUE(86'400'005'000'000 == device_ns(1));
  CHECK_TRUE(log.samples[1].at - log.samples[0].at == 10ms);
  DeviceDecoder<Xsens> other(options, 0, log);
  other.feed({at_rest(1, 0xFFFF'FFCE), now += 1s}), other.feed({at_rest(2, 50), now += 10ms});
  CHECK_TRUE(device_ns(3) - device_ns(2) == 10'000'000);
  CHECK_TRUE(log.samples[3].at - log.samples[2].at == 10ms);
}

TEST(Xsens, ACounterWrapsOnlyWhereItIsToldTo) {
  ::drivers::xsens::Ticks ticks;
  ticks.unwrapped_ns(863'999'990, Wrap::bits32);
  CHECK_TRUE(1'000'000 == ticks.unwrapped_ns(10, Wrap::bits32));  // it began anew
  ticks.unwrapped_ns(0xFFFF'FFF0, Wrap::day);
  CHECK_TRUE(1'000'000 == ticks.unwrapped_ns(10, Wrap::day));
  ticks.forget();
  ticks.unwrapped_ns(863'999'990, Wrap::day);
  CHECK_TRUE(86'400'001'000'000 == ticks.unwrapped_ns(10, Wrap::day));
  ticks.unwrapped_ns(863'999'990, Wrap::day);
  CHECK_TRUE(2 * 86'400'000'000'000 + 1'000'000 == ticks.unwrapped_ns(10, Wrap::day));
}

TEST(Xsens, ADeviceThatStartedAnewBeginsAnew) {
  feed(at_rest(1, 500'000)), feed(at_rest(0, 100)), feed(at_rest(1, 200));
  LONGS_EQUAL(3, log.samples.size());
  CHECK_TRUE(20'000'000 == device_ns(2));
}

TEST(Xsens, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Xsens> other{options, 0, other_log};
  const Octets one = at_rest(1, 100), two = at_rest(9, 700);
  for (std::size_t i = 0; i < one.size(); ++i) {
    decoder.feed({std::span(one).subspan(i, 1), now});
    other.feed({std::span(two).subspan(i, 1), now});
  }
  CHECK_TRUE(10'000'000 == device_ns(0));
  CHECK_TRUE(70'000'000 == other_log.samples.at(0).device_ns.value_or(-1));
}

TEST(Xsens, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Xsens> quiet{options, 115200, counter};
  std::vector<Octets> messages;
  for (unsigned i = 1; i <= 100; ++i) messages.push_back(at_rest(i, 100 * i));
  messages.push_back(message(0x42, hex("1E")));
  test::AllocationCounter allocations;
  for (const Octets& m : messages) quiet.feed({m, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST(Xsens, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(
      Xbus{}, {kReal, message(0x31, {}), kPublished, message(0x36, Octets(300))});
}

TEST(Xsens, ATornFrameHidesNothing) {
  test::check_torn_frames(Xbus{}, at_rest(1, 100), at_rest(2, 200));
}

TEST(Xsens, NoBitMayTurnOver) {
  test::check_bit_flips(Xbus{}, at_rest(1, 100), at_rest(2, 200), at_rest(3, 300));
}

TEST(Xsens, OfADamagedStreamEveryIntactFrameComesOut) {
  std::vector<Octets> frames;
  for (unsigned i = 0; i < 400; ++i) frames.push_back(i % 3 ? at_rest(i, 100 * i) : kReal);
  test::check_damaged_stream(Xbus{}, frames);
}

TEST(Xsens, EveryFrameOfTheProtocolIsAFrame) {
  for (const char* text :
       {"FA FF 30 00 D1", "FA FF 31 00 D0", "FA FF 00 00 01", "FA FF 1C 00 E5", "FA FF 12 00 EF",
        "FA FF 10 00 F1", "FA FF 11 00 F0", "FA FF 3F 00 C2", "FA FF 40 00 C1", "FA FF C0 00 41",
        "FA FF 0C 00 F5", "FA FF 8E 02 00 00 71", "FA FF 18 00 E9", "FA FF 42 01 04 BA",
        "FA FF C0 18 10 20 FF FF 10 60 FF FF 20 10 00 64 40 20 00 64 80 20 00 64 E0 20 FF FF 33"}) {
    const Octets frame = hex(text);
    LONGS_EQUAL(frame.size(), Xbus::measure(frame));
    CHECK_TRUE(Xbus::intact(frame));
  }
  LONGS_EQUAL(kNotAFrame, Xbus::measure(hex("FA FF 36 FF 08 01")));  // beyond all lengths
  LONGS_EQUAL(kNotAFrame, Xbus::measure(hex("FA FF 36 FF 00 FE")));  // which is told shorter
}
