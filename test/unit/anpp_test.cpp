#include "drivers/anpp/anpp.h"

#include <cmath>
#include <fstream>
#include <limits>
#include <string>

#include "drivers/recognise.h"
#include "test/support/allocation_counter.h"
#include "test/support/anpp_packets.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"
#include "test/support/places.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::anpp;

namespace {

const Octets kUnixTime = hex("90 15 08 4D 06 00 F1 53 65 20 A1 07 00");
const Octets kRawSensors = hex(
    "60 1C 30 2D 27 CD CC CC 3D CD CC 4C BE C3 F5 1C C1 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C 00 00 "
    "48 43 00 00 48 C2 00 00 C8 43 00 00 C8 41 80 E6 C5 47 00 00 C8 41");
const Octets kEast = hex("41 28 10 4D 3A F3 04 35 3F 00 00 00 00 00 00 00 00 F3 04 35 3F");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

}  // namespace

TEST_GROUP(Anpp) {
  Options options{Anpp::options()};
  test::PacketLog log;
  DeviceDecoder<Anpp> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Octets& bytes, hal::Duration later = 1ms) { decoder.feed({bytes, now += later}); }
  std::int64_t device_ns(std::size_t i) { return log.samples.at(i).device_ns.value_or(-1); }
};

TEST(Anpp, ATickIsOneSampleAtItsRunningTime) {
  feed(kRawSensors);
  feed(kEast);
  LONGS_EQUAL(0, log.samples.size());
  feed(running(1.5));
  LONGS_EQUAL(1, log.samples.size());
  const ImuSample& s = log.samples[0];
  vectors_equal({0.1, 0.2, 9.81}, s.accel);
  vectors_equal({0.01, 0.02, -0.03}, s.gyro);
  vectors_equal({200e-7, 50e-7, -400e-7}, s.mag, 1e-12);
  DOUBLES_EQUAL(25, *s.temperature, 0);
  DOUBLES_EQUAL(101'325, *s.pressure, 0);
  const auto q = *s.orientation;
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(0, q[i], 1e-7);
  DOUBLES_EQUAL(1, q[3], 1e-6);
  CHECK_TRUE(1'500'000'000 == device_ns(0));
  CHECK_TRUE(s.at == now - 2ms);  // when the raw sensors came
}

TEST(Anpp, TheTimeOfTheSecondComesFirstAndThatOfTheTickLast) {
  feed(kUnixTime);
  feed(status(0, 9));
  feed(raw());
  feed(running(0.01));
  feed(raw(), 8ms);
  feed(running(0.02));
  LONGS_EQUAL(2, log.samples.size());
  CHECK_TRUE(10'000'000 == device_ns(0) && 20'000'000 == device_ns(1));
}

TEST(Anpp, ALostTimeOfATickIsAPeriodLater) {
  for (int i = 1; i <= 20; ++i) {
    feed(raw(), 9ms);
    if (i != 10) feed(running(0.01 * i));
  }
  LONGS_EQUAL(20, log.samples.size());
  for (std::size_t i = 0; i < 20; ++i) {
    CHECK_TRUE(static_cast<std::int64_t>(i + 1) * 10'000'000 == device_ns(i));
  }
}

TEST(Anpp, WithoutARunningTimeItIsUnixTime) {
  for (int i = 1; i <= 20; ++i) {
    feed(unix_time(1000 + 0.01 * i), 8ms);
    feed(raw());
    feed(quaternion());
  }
  decoder.finish();
  LONGS_EQUAL(20, log.samples.size());
  CHECK_TRUE(1'000'010'000'000 == device_ns(0));
  CHECK_TRUE(1'000'200'000'000 == device_ns(19));
  // Once its ticks are known, nothing waits for the next.
  CHECK_TRUE(log.samples[10].accel && log.samples[10].orientation);
  CHECK_TRUE(log.arrivals[10] == log.samples[10].at + 1ms);
}

TEST(Anpp, WithoutAnyTimeItIsWhenItCame) {
  for (int i = 0; i < 10; ++i) feed(raw(), 10ms);
  decoder.finish();
  LONGS_EQUAL(10, log.samples.size());
  CHECK_FALSE(log.samples[5].device_ns.has_value());
  CHECK_TRUE(log.samples[5].at - log.samples[4].at == 10ms);
}

TEST(Anpp, ItsStateTellsTimeRatesAndAnglesButNoAccelerationWithGravity) {
  feed(state(100, 10'000));
  feed(state(100, 20'000));
  decoder.finish();
  LONGS_EQUAL(2, log.samples.size());
  const ImuSample& s = log.samples[0];
  CHECK_FALSE(s.accel.has_value());
  vectors_equal({0, 0, -0.5}, s.gyro);
  DOUBLES_EQUAL(std::sqrt(0.5), (*s.orientation)[2], 1e-6);
  CHECK_TRUE(100'010'000'000 == device_ns(0));
}

TEST(Anpp, ItsStateAndRawSensorsAreOneSample) {
  feed(state(100, 10'000));
  feed(raw());
  feed(state(100, 20'000));
  LONGS_EQUAL(1, log.samples.size());
  vectors_equal({0.01, 0, 0}, log.samples[0].gyro);
  CHECK_TRUE(log.samples[0].accel && log.samples[0].orientation);
}

TEST(Anpp, AnglesStandInForAQuaternion) {
  feed(raw());
  feed(packet(39, floats({0.1, -0.2, 1.5707963267948966})));
  feed(running(1));
  const auto q = *log.samples.at(0).orientation;
  DOUBLES_EQUAL(std::sin(0.05) * std::cos(0.1), q[0], 1e-6);
  DOUBLES_EQUAL(std::cos(0.05) * std::sin(0.1), q[1], 1e-6);
}

TEST(Anpp, BeforeItsFilterHasSettledThereIsNoAttitude) {
  feed(status(0, 0));
  feed(raw());
  feed(quaternion());
  feed(running(1));
  CHECK_FALSE(log.samples.at(0).orientation.has_value());
  feed(status(0, 1));
  feed(raw());
  feed(quaternion());
  feed(running(1.01));
  CHECK_TRUE(log.samples.at(1).orientation.has_value());
}

TEST(Anpp, UtcIsToldOnceTheDeviceKnowsIt) {
  CHECK_TRUE(static_cast<bool>(options.set("stamps", "utc")));
  Anpp device(options);
  Decoded out;
  const auto decode = [&](const Octets& p) {
    out.clear();
    device.decode({p, now, now}, out);
  };
  for (const Octets& p : {unix_time(500), status(0, 1), raw(), running(1)}) decode(p);
  CHECK_TRUE(Timing::Source::clock == out.items()[0].timing.source);
  for (const Octets& p : {unix_time(1.7e9), status(0, 9), raw(), running(2)}) decode(p);
  for (const Octets& p : {raw(), running(2.25)}) decode(p);
  const Timing& timing = out.items()[0].timing;
  CHECK_TRUE(Timing::Source::utc == timing.source);
  CHECK_TRUE(1'700'000'000'250'000'000 == timing.raw_ns);
}

TEST(Anpp, UndecodableIsWhatMakesNoSense) {
  feed(raw(std::numeric_limits<double>::quiet_NaN()));
  feed(raw(0, 0));  // has not measured yet
  feed(time(49, 1, 1'000'000));
  feed(time(21, 4'100'000'000U, 0));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(4, decoder.stats().undecodable);
}

TEST(Anpp, OtherPacketsAreNoMeasurement) {
  feed(info());
  feed(ack(raw()));
  feed(packet(60, Octets(7)));
  feed(packet(37, floats({0.1, -0.2, -9.81})));
  feed(packet(181, Octets(12)));
  decoder.finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(5, decoder.stats().framing.frames);
}

TEST(Anpp, TheWorkedPacketsAreOnes) {
  for (const char* text : {"A6 B4 04 88 1A 00 01 E8 03", "9A 01 01 93 D1 03",
                           "5C B5 11 E7 F7 00 01 15 0A 00 00 00 1C 0A 00 00 00 28 0A 00 00 00",
                           "1D 2A 0C B5 F8 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C",
                           "39 25 0C 41 55 CD CC CC 3D CD CC 4C BE C3 F5 1C C1"}) {
    const Octets bytes = hex(text);
    LONGS_EQUAL(bytes.size(), Anpp::Framing::measure(bytes));
    CHECK_TRUE(Anpp::Framing::intact(bytes));
  }
  std::ifstream file(test::in_captures("imu-vectors.tsv"));
  if (!file) {
    UT_PRINT("no captures: skipped");
    return;
  }
  int found = 0;
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("anpp\t")) continue;
    const std::size_t from = line.find('\t', 5) + 1;
    const Octets bytes = hex(line.substr(from, line.find('\t', from) - from));
    LONGS_EQUAL(bytes.size(), Anpp::Framing::measure(bytes));
    CHECK_TRUE(Anpp::Framing::intact(bytes));
    ++found;
  }
  LONGS_EQUAL(3, found);
}

TEST(Anpp, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log, alone_log;
  DeviceDecoder<Anpp> other{options, 0, other_log}, alone{options, 0, alone_log};
  for (int i = 1; i < 100; ++i) {
    const Octets one = joined(joined(raw(), quaternion()), running(0.01 * i));
    const Octets two = joined(joined(unix_time(5 + 0.02 * i), raw(0.3)), quaternion());
    now += 10ms;
    for (std::size_t k = 0; k < std::max(one.size(), two.size()); ++k) {
      if (k < one.size()) decoder.feed({std::span(one).subspan(k, 1), now});
      if (k < two.size()) other.feed({std::span(two).subspan(k, 1), now});
    }
    alone.feed({one, now});
  }
  LONGS_EQUAL(99, log.samples.size());
  for (std::size_t i = 0; i < log.samples.size(); ++i) {
    CHECK_TRUE(log.samples[i].at == alone_log.samples[i].at);
    CHECK_TRUE(log.samples[i].gyro == alone_log.samples[i].gyro);
  }
}

TEST(Anpp, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Anpp> quiet{options, 115200, counter};
  std::vector<Octets> ticks;
  for (int i = 1; i <= 50; ++i)
    ticks.push_back(joined(joined(raw(), quaternion()), running(0.01 * i)));
  test::AllocationCounter allocations;
  for (const Octets& t : ticks) quiet.feed({t, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(50, counter.packets);
}

TEST(Anpp, PacketsAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(
      Anpp::Framing{}, {kRawSensors, kEast, kUnixTime, ack(raw()), info(), packet(60, Octets(9))});
}

TEST(Anpp, ATornPacketHidesNothing) {
  test::check_torn_frames(Anpp::Framing{}, kRawSensors, raw());
}

TEST(Anpp, NoBitMayTurnOver) { test::check_bit_flips(Anpp::Framing{}, kEast, raw(), running(1)); }

TEST(Anpp, OfADamagedStreamEveryIntactPacketComesOut) {
  std::vector<Octets> packets;
  for (int i = 0; i < 400; ++i) packets.push_back(i % 2 != 0 ? running(0.01 * i) : raw(0.001 * i));
  test::check_damaged_stream(Anpp::Framing{}, packets);
}

TEST(Anpp, ItsBytesAreRecognised) {
  Octets stream;
  for (int i = 1; i < 5; ++i) stream = joined(std::move(stream), joined(raw(), running(i)));
  CHECK_TRUE("anpp" == recognise(stream).driver);
}
