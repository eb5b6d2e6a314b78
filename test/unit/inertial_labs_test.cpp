#include "drivers/inertial_labs/inertial_labs.h"

#include <cmath>
#include <cstring>

#include "drivers/decoder.h"
#include "drivers/inertial.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/hex.h"
#include "test/support/inertial_labs_frames.h"
#include "test/support/packet_log.h"
#include "test/support/talk.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::inertial_labs;

namespace {

void vector_is(const ImuSample::Vector& expected, const std::optional<ImuSample::Vector>& actual,
               double tolerance = 1e-7) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}
void orientation_is(double x, double y, double z, double w,
                    const std::optional<std::array<double, 4>>& q, double tolerance = 1e-4) {
  CHECK_TRUE(q.has_value());
  DOUBLES_EQUAL(x, (*q)[0], tolerance);
  DOUBLES_EQUAL(y, (*q)[1], tolerance);
  DOUBLES_EQUAL(z, (*q)[2], tolerance);
  DOUBLES_EQUAL(w, (*q)[3], tolerance);
}

Octets info() {
  Octets content(166, std::byte{0});
  const std::string_view name = "F2050123", firmware = "INS v3.1";
  std::memcpy(content.data(), name.data(), name.size());
  std::memcpy(content.data() + 8, firmware.data(), firmware.size());
  return frame(0x12, content);
}
Octets parameters(unsigned hz) { return frame(0x41, joined(little(hz, 2), Octets(58))); }

}  // namespace

TEST_GROUP(InertialLabs) {
  Options options{InertialLabs::options()};
  test::PacketLog log;
  hal::Time now{1000s};

  DecoderStats feed(const std::vector<Octets>& frames) {
    DeviceDecoder<InertialLabs> decoder(options, 0, log);
    for (const Octets& f : frames) decoder.feed({f, now += 10ms});
    return decoder.stats();
  }
  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
  }
};

TEST(InertialLabs, UserDefinedDataAreReadAsTheVendorReadsThem) {
  feed({hex(kUdd)});
  LONGS_EQUAL(1, log.samples.size());
  const ImuSample& s = log.samples[0];
  CHECK_TRUE(1'500'000'000 == s.device_ns.value_or(-1));
  vector_is({-0.0200001, -0.0100000, 0.0300000}, s.gyro);
  vector_is({-0.196133, -0.0980665, 9.80665}, s.accel);
  // Its axes a quarter turn from East, so forward a half.
  orientation_is(0, 0, 1, 0, s.orientation);
  DOUBLES_EQUAL(25.5, *s.temperature, 1e-9);
}

TEST(InertialLabs, TheFixedSetIsReadAsTheVendorReadsIt) {
  feed({hex(kOrientation)});
  const ImuSample& s = log.samples.at(0);
  CHECK_FALSE(s.device_ns.has_value());
  const double deg = inertial::kRadPerDeg;
  vector_is({-1 * deg, -0.5 * deg, 2 * deg}, s.gyro);
  vector_is({-0.196133, -0.0980665, 9.80665}, s.accel);
  vector_is({-50e-9, -200e-9, 400e-9}, s.mag, 1e-15);
  DOUBLES_EQUAL(25.5, *s.temperature, 1e-9);
  // Heading East: no turn; roll 2.5, pitch -1.5 degrees, which is 1.5 about the left axis.
  orientation_is(std::sin(1.25 * deg), std::sin(0.75 * deg), 0, 1, s.orientation, 5e-4);
}

TEST(InertialLabs, TheImusTimeIsPreferred) {
  const Octets accel = hex("10 27 00 00 E0 B1 FF FF 40 42 0F 00");
  feed({frame(0x95, joined(joined(hex("04 01 02 03 23"), joined(little(7, 4), little(8, 8))),
                           joined(little(9, 8), accel))),
        frame(0x95, joined(hex("02 01 23"), joined(little(1234, 4), accel)))});
  CHECK_TRUE(9 == log.samples.at(0).device_ns.value_or(-1));
  CHECK_TRUE(1'234'000'000 == log.samples.at(1).device_ns.value_or(-1));
}

TEST(InertialLabs, TimeGoesOnOverTheEndOfTheWeek) {
  const std::int64_t week = 604'800'000'000'000;
  feed({sample(week - 5'000'000), sample(5'000'000)});
  CHECK_TRUE(week + 5'000'000 == log.samples.at(1).device_ns.value_or(-1));
}

TEST(InertialLabs, TimeThatJumpsWithTheFirstSatellitesGoesOn) {
  feed({sample(10'000'000'000), sample(10'010'000'000), sample(200'000'000'000'000),
        sample(200'000'010'000'000)});
  LONGS_EQUAL(4, log.samples.size());
  for (std::size_t i = 1; i < 4; ++i) CHECK_TRUE(log.samples[i - 1].at < log.samples[i].at);
}

TEST(InertialLabs, WhatOneGIsAndTheCoarseScalesAreTheUsers) {
  set("gravity", "9.8106");
  set("gyro_scale", "50");
  set("accel_scale", "2000");
  feed({hex(kUdd), hex(kOrientation)});
  DOUBLES_EQUAL(9.8106, (*log.samples.at(0).accel)[2], 1e-9);
  DOUBLES_EQUAL(2 * 9.8106, (*log.samples.at(1).accel)[2], 1e-9);
  DOUBLES_EQUAL(0.4 * inertial::kRadPerDeg, (*log.samples.at(1).gyro)[2], 1e-9);
}

TEST(InertialLabs, TheRawSetHasCoarserUnits) {
  const Octets content =
      joined(joined(joined(little(1, 8), little(2, 8)),
                    joined(little(10'000, 4), little(0, 8))),  // 1 deg/s to the right
             joined(joined(little(0, 8), little(10'000, 4)), Octets(2 + 12 + 20 + 12 + 2 + 1 + 1)));
  const auto stats = feed({frame(0x66, content)});
  LONGS_EQUAL(0, stats.undecodable);
  vector_is({0, -inertial::kRadPerDeg, 0}, log.samples.at(0).gyro);
  vector_is({0, 0, 9.80665}, log.samples.at(0).accel);
}

TEST(InertialLabs, AttitudesOf32BitAreReadToo) {
  feed({frame(0x95, joined(hex("01 0A"),
                           joined(joined(little(1'000'000, 4), little(0, 4)), little(0, 8)))),
        frame(0x95, joined(hex("01 08"), joined(little(90'000, 4), little(0, 8))))});
  orientation_is(0, 0, std::sqrt(0.5), std::sqrt(0.5), log.samples.at(0).orientation);
  orientation_is(0, 0, 0, 1, log.samples.at(1).orientation);
}

TEST(InertialLabs, WhatMakesNoSenseIsUndecodable) {
  const Octets accel = hex("10 27 00 00 E0 B1 FF FF 40 42 0F 00");
  const std::vector<Octets> broken{
      frame(0x95, joined(hex("02 F6 23"), Octets(50, std::byte{1}))),  // of a type not known
      frame(0x95, joined(hex("01 23"), joined(accel, hex("00")))),     // a byte too many
      frame(0x95, joined(hex("01 23"), hex("10 27 00"))),              // too few
      frame(0x95, hex("00 01 02")),
      frame(0x95, hex("FF 01 02")),
      frame(0x95, joined(hex("01 23"), Octets(12))),  // has not measured yet
      frame(0x33, Octets(30, std::byte{1})),
  };
  const auto stats = feed(broken);
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(broken.size(), stats.undecodable);
}

TEST(InertialLabs, WhatIsNoMeasurementGivesNothing) {
  const auto stats =
      feed({hex(kStart), frame(0x95, hex("9C 00")), frame(0x95, Octets(0x32)),
            frame(0x33, Octets(0x80)), info(), parameters(100), frame(0x46, Octets(20))});
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(0, stats.undecodable);
  LONGS_EQUAL(7, stats.framing.frames);
}

TEST(InertialLabs, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  const std::vector<Octets> good{hex(kUdd), hex(kOrientation), hex(kStart), info(), sample(7)};
  test::check_garbage_and_splits(InertialLabs::Framing{}, good);
  test::check_torn_frames(InertialLabs::Framing{}, sample(5), sample(6));
  std::vector<Octets> many;
  for (std::int64_t i = 0; i < 300; ++i) many.push_back(sample(i * 1'000'000));
  test::check_damaged_stream(InertialLabs::Framing{}, many);
}

TEST(InertialLabs, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other;
  DeviceDecoder<InertialLabs> one(options, 0, log), two(options, 0, other);
  const Octets a = sample(1'000'000), b = sample(2'000'000);
  for (std::size_t i = 0; i < a.size(); ++i) {
    one.feed({std::span(a).subspan(i, 1), now});
    two.feed({std::span(b).subspan(i, 1), now});
  }
  CHECK_TRUE(1'000'000 == log.samples.at(0).device_ns.value_or(-1));
  CHECK_TRUE(2'000'000 == other.samples.at(0).device_ns.value_or(-1));
}

TEST(InertialLabs, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<InertialLabs> decoder(options, 115'200, counter);
  std::vector<Octets> frames;
  for (std::int64_t i = 0; i < 100; ++i) frames.push_back(sample(i * 10'000'000));
  test::AllocationCounter allocations;
  for (const Octets& f : frames) decoder.feed({f, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST_GROUP(InertialLabsDialogue) {
  bool streams = false;  // as it is found: then it hears nothing but a stop
  unsigned hz = 100;
  int line_rate = 0;
  Octets alignment = frame(0x95, Octets(0x32));
  test::Talk<InertialLabs> talk{[this](const Octets& r) { return answer(r); }};

  Octets answer(const Octets& r) {
    if (r == hex(kStop)) streams = false;
    if (streams) return sample(1'000'000);
    if (r == hex(kAskInfo)) return info();
    if (r == hex(kAskParameters)) return parameters(hz);
    if (r == hex(kStart)) return joined(frame(0x95, hex("9C 00")), alignment);
    return {};
  }
};

TEST(InertialLabsDialogue, ItIsStoppedAskedAndStarted) {
  talk.start();
  talk.run(500ms);
  for (const char* text : {kAskInfo, kAskParameters, kStart}) CHECK_TRUE(talk.wrote(text));
  talk.port->deliver(sample(5'000'000));
  CHECK_TRUE(talk.health().state == State::streaming);
  STRCMP_EQUAL("F2050123, firmware INS v3.1", talk.health().about.c_str());
}

TEST(InertialLabsDialogue, OneThatStreamsIsStoppedFirst) {
  streams = true;
  talk.start();
  talk.run(1s);
  talk.port->deliver(sample(5'000'000));
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(InertialLabsDialogue, ItIsAwaitedWhileItAligns) {
  alignment.clear();
  talk.start();
  talk.run(50s);
  CHECK_TRUE(talk.health().state == State::starting);
  LONGS_EQUAL(1, talk.port->opens);
  talk.port->deliver(frame(0x95, Octets(0x80)));
  talk.run(1s);
  talk.port->deliver(sample(5'000'000));
  LONGS_EQUAL(1, talk.log.samples.size());
  CHECK_TRUE(talk.health().state == State::streaming);
}

TEST(InertialLabsDialogue, AnotherRateThanIsConfiguredIsNamed) {
  hz = 200;
  talk.start();
  talk.run(500ms);
  STRCMP_CONTAINS("it is set up to send 200 Hz: write 'rate_hz: 200'", talk.health().why.c_str());
}

TEST(InertialLabsDialogue, DataWithoutAMeasurementAreNamed) {
  talk.start();
  talk.run(500ms);
  for (int i = 0; i < 300; ++i) {
    talk.port->deliver(frame(0x95, joined(hex("01 12"), Octets(12))));
    talk.run(10ms);
  }
  STRCMP_CONTAINS("hold no acceleration, rate or attitude", talk.health().why.c_str());
}

TEST(InertialLabsDialogue, FaultsOfTheUnitAreNamed) {
  talk.start();
  talk.run(500ms);
  talk.port->deliver(frame(0x95, joined(joined(hex("02 53 23"), hex("04 01")),
                                        hex("10 27 00 00 E0 B1 FF FF 40 42 0F 00"))));
  talk.run(20ms);
  STRCMP_CONTAINS("gyroscope failed, supply too low", talk.health().why.c_str());
}

TEST(InertialLabsDialogue, ItIsFoundAtAnotherRate) {
  talk.start();
  talk.run(100ms);
  // A device at another rate answers nothing at this one.
  test::Talk<InertialLabs> other(
      [&](const Octets& r) { return line_rate == 460'800 ? answer(r) : Octets{}; });
  other.start();
  for (int i = 0; i < 600; ++i) {
    line_rate = other.port->bauds.empty() ? 115'200 : other.port->bauds.back();
    other.run(10ms);
  }
  LONGS_EQUAL(460'800, line_rate);
  other.port->deliver(sample(5'000'000));
  CHECK_TRUE(other.health().state == State::streaming);
}

TEST(InertialLabsDialogue, ItIsStoppedAtTheEnd) {
  talk.start();
  talk.run(500ms);
  const std::size_t before = talk.port->writes.size();
  talk.driver->stop(talk.clock.now());
  talk.run(300ms);
  CHECK_TRUE(talk.port->writes.size() > before);
  CHECK_TRUE(talk.port->writes.back() == hex(kStop));
}
