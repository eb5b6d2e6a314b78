#include "drivers/hipnuc/hipnuc.h"

#include <cmath>
#include <limits>

#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/hipnuc_frame.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::hipnuc;

namespace {

// Printed by the vendor.
const Octets kHi91 =
    hex("5A A5 4C 00 14 BB 91 08 15 23 09 A2 C4 47 08 15 1C 00 CC E8 61 BE 9A 35 56 3E 65 EA 72 3F "
        "31 D0 7C BD 75 DD C5 BB 6B D7 24 BC 89 88 FC 40 01 00 6A 41 AB 2A 70 C2 96 D4 50 41 ED 03 "
        "43 41 41 F4 F4 C2 CC CA F8 BE 73 6A 19 BE F0 00 1C 3D 8D 37 5C 3F");
const Octets kHi92 =
    hex("5A A5 30 00 E3 A4 92 23 23 1C 7C 11 61 FF 23 23 00 00 01 00 00 00 EB FE 7B 00 B6 07 CD 03 "
        "70 FC A3 FC 56 1F 00 00 CF 0D 00 00 C4 07 00 00 F0 26 27 01 C0 02 C2 00");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double relative = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i)
    DOUBLES_EQUAL(expected[i], (*actual)[i], std::abs(expected[i]) * relative + 1e-12);
}

// Of an attitude, as world vectors: where forward points to and where up does.
ImuSample::Vector turned(const std::array<double, 4>& q, const ImuSample::Vector& v) {
  const auto [x, y, z, w] = q;
  const double tx = 2 * (y * v[2] - z * v[1]), ty = 2 * (z * v[0] - x * v[2]),
               tz = 2 * (x * v[1] - y * v[0]);
  return {v[0] + w * tx + y * tz - z * ty, v[1] + w * ty + z * tx - x * tz,
          v[2] + w * tz + x * ty - y * tx};
}

}  // namespace

TEST_GROUP(Hipnuc) {
  Options options{Hipnuc::options()};
  test::PacketLog log;
  DeviceDecoder<Hipnuc> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Octets& bytes, hal::Duration later = 10ms) {
    decoder.feed({bytes, now += later});
  }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
};

TEST(Hipnuc, TheVendorsFrameOfFloatsIsReadFieldByField) {
  feed(kHi91);
  const ImuSample& s = log.samples.at(0);
  CHECK_TRUE(1'840'392'000'000 == device_ns(0));
  // Right-forward-up: forward is its y, left is minus its x.
  vectors_equal({2.05144186, 2.16349006, 9.3054231}, s.accel, 1e-6);
  constexpr double kRad = 3.14159265358979323846 / 180;
  vectors_equal({-0.00603836 * kRad, 0.06172198 * kRad, -0.01006113 * kRad}, s.gyro, 1e-6);
  vectors_equal({14.62500095e-6, -7.89166689e-6, -60.04166794e-6}, s.mag, 1e-6);
  DOUBLES_EQUAL(100'676.07, *s.pressure, 0.01);
  DOUBLES_EQUAL(35, *s.temperature, 0);
}

TEST(Hipnuc, TheVendorsAttitudeTurnsItsAccelerationUpwards) {
  feed(kHi91);
  const ImuSample& s = log.samples.at(0);
  const auto up = turned(*s.orientation, *s.accel);
  DOUBLES_EQUAL(0, up[0], 0.02);
  DOUBLES_EQUAL(0, up[1], 0.02);
  DOUBLES_EQUAL(0.996 * 9.80665, up[2], 0.02);
  CHECK_TRUE((*s.orientation)[3] >= 0);
}

TEST(Hipnuc, TheVendorsFrameOfIntegersIsReadFieldByField) {
  feed(kHi92);
  const ImuSample& s = log.samples.at(0);
  CHECK_FALSE(s.device_ns.has_value());
  CHECK_TRUE(s.at == now);
  vectors_equal({0.600584, 1.352536, 9.638647}, s.accel, 1e-6);
  vectors_equal({0.001, 0, 0}, s.gyro);
  vectors_equal({-27.831504e-6, -29.693041e-6, -26.275137e-6}, s.mag, 1e-6);
  DOUBLES_EQUAL(99'841, *s.pressure, 0);
  DOUBLES_EQUAL(28, *s.temperature, 0);
  const auto up = turned(*s.orientation, *s.accel);
  DOUBLES_EQUAL(9.75, up[2], 0.03);
}

TEST(Hipnuc, TheConstructedFrameIsReadFieldByField) {
  feed(
      hex("5A A5 4C 00 86 6C 91 00 00 19 80 E6 C5 47 DC 05 00 00 0A D7 23 3C 0A D7 A3 BC 00 00 80 "
          "3F 00 00 00 3F 00 00 80 BF 00 00 00 40 00 00 A0 41 00 00 A0 C0 00 00 20 C2 00 00 80 3F "
          "00 00 00 C0 00 00 B4 42 F3 04 35 3F 00 00 00 00 00 00 00 00 F3 04 35 3F"));
  const ImuSample& s = log.samples.at(0);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  vectors_equal({-0.196133, -0.0980665, 9.80665}, s.accel);
  vectors_equal({-0.017453292, -0.008726646, 0.034906585}, s.gyro);
  DOUBLES_EQUAL(101'325, *s.pressure, 0);
  // Turned a quarter to the left, right looks North; forward looks West.
  const auto forward = turned(*s.orientation, {1, 0, 0});
  DOUBLES_EQUAL(-1, forward[0], 1e-6);
  DOUBLES_EQUAL(0, forward[1], 1e-6);
}

TEST(Hipnuc, AnAttitudeOfIdentityLooksNorth) {
  feed(hi91(5));
  const auto forward = turned(*log.samples.at(0).orientation, {1, 0, 0});
  DOUBLES_EQUAL(1, forward[1], 1e-6);
}

TEST(Hipnuc, IntegersWithNavigationHaveTheTimeOfTheGps) {
  feed(hi81(2300, 1000));
  const ImuSample& s = log.samples.at(0);
  vectors_equal({-2, -1, 3}, s.gyro);
  vectors_equal({0, 0, 2008 * 0.0048828}, s.accel);
  vectors_equal({-164 * 0.030517e-6, -655 * 0.030517e-6, -1311 * 0.030517e-6}, s.mag);
  DOUBLES_EQUAL(101'325, *s.pressure, 0);
  DOUBLES_EQUAL(25, *s.temperature, 0);
  DOUBLES_EQUAL(1, (*s.orientation)[2], 1e-4);  // West
  CHECK_TRUE(2300LL * 604'800'000'000'000 + 1'000'000'000 == device_ns(0));
  feed(hi81(2300, 604'799'995)), feed(hi81(2301, 5));
  CHECK_TRUE(device_ns(2) - device_ns(1) == 10'000'000);
}

TEST(Hipnuc, WithoutSatellitesSuchPacketsComeWhenTheyArrive) {
  feed(hi81(0, 0));
  CHECK_FALSE(log.samples.at(0).device_ns.has_value());
  CHECK_TRUE(log.samples[0].at == now);
}

TEST(Hipnuc, FloatsByAMapAreFoundWhateverElseItNames) {
  Octets fields;
  put_floats(fields, {0.1, -0.2, 9.8, 0.01, -0.02, 0.03, 20, -5, -40});
  put_floats(fields, {1, 2, 3});     // angles
  put_floats(fields, {1, 0, 0, 0});  // attitude
  put(fields, 1'500'000, 8);
  put(fields, 0, 8);  // UTC
  put_floats(fields, {101'325, 25.5, 7, 7, 7});
  put(fields, 0, 24 + 12);  // satellites
  feed(hi83(0xC000'03FF, fields));
  const ImuSample& s = log.samples.at(0);
  vectors_equal({-0.2, -0.1, 9.8}, s.accel, 1e-6);
  vectors_equal({-0.02, -0.01, 0.03}, s.gyro, 1e-6);
  vectors_equal({-5e-6, -20e-6, -40e-6}, s.mag);
  DOUBLES_EQUAL(101'325, *s.pressure, 0);
  DOUBLES_EQUAL(25.5, *s.temperature, 0);
  CHECK_TRUE(s.orientation.has_value());
  CHECK_TRUE(1'500'000'000 == device_ns(0));
}

TEST(Hipnuc, AModelWithoutMagnetometerOrBarometerTellsNeither) {
  Octets p(kHi91.begin() + 6, kHi91.end());
  std::fill_n(p.begin() + 4, 4, std::byte{0});
  std::fill_n(p.begin() + 36, 12, std::byte{0});
  feed(frame(p));
  CHECK_FALSE(log.samples.at(0).mag || log.samples[0].pressure);
}

TEST(Hipnuc, WhatOneGIsIsAnOption) {
  CHECK_TRUE(static_cast<bool>(options.set("gravity", "9.8")));
  DeviceDecoder<Hipnuc> other(options, 0, log);
  other.feed({hi91(5), now});
  vectors_equal({0, 0, 9.8}, log.samples.at(0).accel);
}

TEST(Hipnuc, WhatIsNoMeasurementGivesNothing) {
  feed(line("OK")), feed(line("HI14 firmware 1.7.0"));
  feed(frame(hex("90 01 A0 00 00 00 00 E8 03")));  // of older models
  feed(hi83(0x8, Octets(12)));                     // angles
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(4, decoder.stats().framing.frames);
  LONGS_EQUAL(0, decoder.stats().undecodable);
}

TEST(Hipnuc, UndecodableIsWhatMakesNoSense) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  Octets time;
  put(time, ~std::uint64_t{0}, 8);
  const Octets broken[] = {
      hi91(1, {0, 0, 0}),               // has not measured yet
      hi91(1, {nan, 0, 1}),             //
      hi91(1, {0, 0, 1}, {nan, 0, 0}),  //
      frame(hex("91 00 00")),           // cut
      frame(hex("92 00 00")),           //
      frame(hex("81 00 00")),           //
      frame(hex("83 00 00")),           //
      frame(Octets(kHi91.begin() + 6, kHi91.end() - 1)),
      hi83(0x1, Octets(11)),
      hi83(0x1, Octets(13)),
      hi83(0x100000, Octets(4)),  // of a length that nobody knows
      hi83(0x20, time),
  };
  for (const Octets& f : broken) feed(f);
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(std::size(broken), decoder.stats().undecodable);
}

TEST(Hipnuc, ItsClockGoesOnWhereItsCounterWraps) {
  feed(hi91(0xFFFF'FFFB)), feed(hi91(5));
  CHECK_TRUE(device_ns(1) == 4'294'967'301'000'000);
  CHECK_TRUE(log.samples[1].at - log.samples[0].at == 10ms);
}

TEST(Hipnuc, ADeviceThatStartedAnewBeginsAnew) {
  feed(hi91(100'000)), feed(hi91(10)), feed(hi91(20));
  LONGS_EQUAL(3, log.samples.size());
  CHECK_TRUE(device_ns(2) == 20'000'000);
}

// 400 samples a second are told as 2 or 3 ms after each other.
TEST(Hipnuc, AfterASecondItsStampsAreFinerThanItsClock) {
  CHECK_TRUE(static_cast<bool>(options.set("rate_hz", "100")));  // which it is not
  for (int i = 0; i < 2000; ++i) feed(hi91(static_cast<std::uint32_t>(1000.3 + 2.5 * i)), 2500us);
  LONGS_EQUAL(2000, log.samples.size());
  hal::Duration least = 1s, most{};
  for (std::size_t i = 1000; i < 2000; ++i) {
    const hal::Duration step = log.samples[i].at - log.samples[i - 1].at;
    least = std::min(least, step), most = std::max(most, step);
  }
  CHECK_TRUE(least > 2400us && most < 2600us);
}

TEST(Hipnuc, ThePeriodIsOfSecondsWithoutLosses) {
  ::drivers::hipnuc::PeriodOfSteps steps;
  std::vector<hal::Duration> told;
  for (std::int64_t ms = 0; ms < 5000; ms += 8) {
    if (ms == 2400) continue;
    if (const auto period = steps.step_to(ms * 1'000'000)) told.push_back(*period);
  }
  LONGS_EQUAL(3, told.size());
  for (const hal::Duration period : told) CHECK_TRUE(period == 8ms);
}

TEST(Hipnuc, ARateThatIsNoWholeNumberIsMeasured) {
  ::drivers::hipnuc::PeriodOfSteps steps;
  std::optional<hal::Duration> period;
  for (std::int64_t ms = 0; ms < 1200; ms += 80)
    if (const auto told = steps.step_to(ms * 1'000'000)) period = told;
  CHECK_TRUE(period == 80ms);
}

TEST(Hipnuc, SamplesWithoutAClockAreCountedWhereNothingElseIsSent) {
  CHECK_TRUE(static_cast<bool>(options.set("message", "HI92")));
  DeviceDecoder<Hipnuc> counted(options, 0, log);
  // Read in pairs: each sample gets its own time all the same.
  for (int i = 0; i < 600; ++i) counted.feed({joined(hi92(), hi92()), now += 20ms});
  for (std::size_t i = 700; i < 1200; ++i) {
    CHECK_TRUE(log.samples[i].at - log.samples[i - 1].at > 9ms);
    CHECK_TRUE(log.samples[i].at - log.samples[i - 1].at < 11ms);
  }
}

TEST(Hipnuc, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Hipnuc> other{options, 0, other_log};
  const Octets one = hi91(30), two = hi91(50);
  for (std::size_t i = 0; i < one.size(); ++i) {
    decoder.feed({std::span(one).subspan(i, 1), now});
    other.feed({std::span(two).subspan(i, 1), now});
  }
  CHECK_TRUE(30'000'000 == device_ns(0));
  CHECK_TRUE(50'000'000 == other_log.samples.at(0).device_ns.value_or(-1));
}

TEST(Hipnuc, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Hipnuc> quiet{options, 115200, counter};
  std::vector<Octets> frames;
  for (std::uint32_t i = 0; i < 200; ++i) frames.push_back(hi91(10 * i));
  frames.push_back(hi92()), frames.push_back(hi81(0, 0)), frames.push_back(line("OK"));
  test::AllocationCounter allocations;
  for (const Octets& f : frames) quiet.feed({f, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(202, counter.packets);
}

TEST(Hipnuc, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  const std::vector<Octets> good{kHi91, kHi92, hi81(1, 2), line("LOG VERSION"), hi91(7)};
  test::check_garbage_and_splits(::drivers::hipnuc::Framing{.lines = true}, good);
  test::check_garbage_and_splits(::drivers::hipnuc::Framing{}, {kHi91, kHi92, hi81(1, 2)});
}

TEST(Hipnuc, ATornFrameHidesNothing) {
  test::check_torn_frames(::drivers::hipnuc::Framing{.lines = true}, hi91(1), hi91(2));
}

TEST(Hipnuc, NoBitMayTurnOver) {
  test::check_bit_flips(::drivers::hipnuc::Framing{.lines = true}, hi91(1), kHi91, kHi92);
}

TEST(Hipnuc, OfADamagedStreamEveryIntactFrameComesOut) {
  std::vector<Octets> frames;
  for (std::uint32_t i = 0; i < 400; ++i) frames.push_back(i % 3 ? hi91(10 * i) : kHi92);
  test::check_damaged_stream(::drivers::hipnuc::Framing{.lines = true}, frames);
}

TEST(Hipnuc, LinesOfTextAloneAreNotCalledItsOwn) {
  const Octets text = joined(line("$VNYMR,+100.949,-007.330,+000.715,-00.0049,-00.2449,+00.5397"),
                             line("$VNYMR,+100.949,-007.330,+000.715,-00.0049,-00.2449,+00.5397"));
  DOUBLES_EQUAL(0, likeness<Hipnuc>(text), 0);
  DOUBLES_EQUAL(1, likeness<Hipnuc>(joined(kHi91, kHi91)), 0);
}
