#include "drivers/fdilink/fdilink.h"

#include <cmath>
#include <limits>
#include <memory>

#include "test/support/allocation_counter.h"
#include "test/support/fake_port.h"
#include "test/support/fdilink_frame.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/packet_log.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using namespace test::fdilink;

namespace {

const Octets kInertial = hex(
    "FC 40 38 07 8A 65 22 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C CD CC CC 3D CD CC 4C BE C3 F5 1C C1 "
    "00 00 48 43 00 00 48 C2 00 00 C8 43 00 00 C8 41 80 E6 C5 47 00 00 C8 41 60 E3 16 00 00 00 00 "
    "00 FD");
const Octets kAttitude = hex(
    "FC 41 30 08 16 2C 49 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C CD CC CC 3D CD CC 4C BE 00 00 C0 3F "
    "F3 04 35 3F 00 00 00 00 00 00 00 00 F3 04 35 3F 60 E3 16 00 00 00 00 00 FD");

void vectors_equal(const ImuSample::Vector& expected,
                   const std::optional<ImuSample::Vector>& actual, double tolerance = 1e-6) {
  CHECK_TRUE(actual.has_value());
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(expected[i], (*actual)[i], tolerance);
}

// Some instants of both frames, the attitude behind.
std::vector<Octets> stream(int instants, unsigned number = 0, double from = 1) {
  std::vector<Octets> frames;
  for (int i = 0; i < instants; ++i) {
    frames.push_back(inertial(number++, from + 0.01 * i));
    frames.push_back(attitude(number++, from + 0.01 * i));
  }
  return frames;
}

}  // namespace

TEST_GROUP(Fdilink) {
  Options options{Fdilink::options()};
  test::PacketLog log;
  std::unique_ptr<DeviceDecoder<Fdilink>> decoder =
      std::make_unique<DeviceDecoder<Fdilink>>(options, 0, log);
  hal::Time now{1000s};

  void set(std::string_view key, std::string_view value) {
    CHECK_TRUE(static_cast<bool>(options.set(key, value)));
    decoder = std::make_unique<DeviceDecoder<Fdilink>>(options, 0, log);
  }
  void feed(const Octets& bytes) { decoder->feed({bytes, now += 5ms}); }
  void feed_all(const std::vector<Octets>& frames) {
    for (const Octets& f : frames) feed(f);
  }
};

TEST(Fdilink, TheWorkedFramesAreReadFieldByField) {
  feed(kInertial);
  feed(kAttitude);
  decoder->finish();
  LONGS_EQUAL(2, log.samples.size());
  const ImuSample& s = log.samples[0];
  vectors_equal({0.01, 0.02, -0.03}, s.gyro);
  vectors_equal({0.1, 0.2, 9.81}, s.accel);
  vectors_equal({2e-5, 0.5e-5, -4e-5}, s.mag, 1e-11);
  DOUBLES_EQUAL(25, *s.temperature, 1e-6);
  DOUBLES_EQUAL(101325, *s.pressure, 1e-3);
  CHECK_TRUE(1'500'000'000 == s.device_ns.value_or(-1));
  CHECK_TRUE(s.at == now - 5ms);
  // Heading East is no turn in east-north-up.
  const auto q = *log.samples[1].orientation;
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL(0, q[i], 1e-6);
  DOUBLES_EQUAL(1, q[3], 1e-6);
  CHECK_TRUE(1'500'000'000 == log.samples[1].device_ns.value_or(-1));
}

TEST(Fdilink, BothFramesOfAnInstantAreOneSample) {
  feed_all(stream(10));
  LONGS_EQUAL(12, log.samples.size());
  for (std::size_t i = 4; i < 12; ++i) {
    CHECK_TRUE(log.samples[i].accel && log.samples[i].orientation);
    CHECK_TRUE(log.samples[i].at > log.samples[i - 1].at);
  }
  DOUBLES_EQUAL(std::sqrt(0.5), (*log.samples[11].orientation)[2], 1e-6);  // North
}

TEST(Fdilink, ADeviceThatTellsGravityInsteadOfTheForceAgainstItIsFoundOut) {
  feed(inertial(0, 1, 9.8));
  feed(inertial(1, 1.01, 9.8));
  for (const ImuSample& s : log.samples) vectors_equal({0, 0, 9.8}, s.accel);
  LONGS_EQUAL(2, log.samples.size());
}

TEST(Fdilink, AnAttitudeTellsWhereUpIsHoweverItIsMounted) {
  feed(attitude(0, 1, true));
  feed(
      inertial(1, 1.01, 9.8));  // upside down, the force against gravity is forward-right-down's +z
  vectors_equal({0, 0, -9.8}, log.samples.at(1).accel);
  // What was taken as upright is corrected when the attitude comes, and then it stays.
  log.samples.clear();
  set("rate_hz", "100");
  feed(inertial(0, 1, 9.8));
  vectors_equal({0, 0, 9.8}, log.samples.at(0).accel);
  feed(attitude(1, 1, true));
  feed(inertial(2, 1.01, 9.8));
  vectors_equal({0, 0, -9.8}, log.samples.at(2).accel);
  feed(attitude(3, 1.01));
  feed(inertial(4, 1.02, 9.8));
  decoder->finish();
  vectors_equal({0, 0, -9.8}, log.samples.back().accel);
}

TEST(Fdilink, TheSignCanBeSaid) {
  set("accel_sign", "gravity");
  feed(inertial(0, 1, -9.8));
  vectors_equal({0, 0, -9.8}, log.samples.at(0).accel);
  log.samples.clear();
  set("accel_sign", "specific_force");
  feed(inertial(0, 1, 9.8));
  vectors_equal({0, 0, -9.8}, log.samples.at(0).accel);
}

TEST(Fdilink, WhileItIsShakenFromTheStartTheAccelerationIsLeftOut) {
  feed(inertial(0, 1, -14));
  CHECK_FALSE(log.samples.at(0).accel.has_value());
  vectors_equal({0.01, 0.02, -0.03}, log.samples.at(0).gyro);
  feed(inertial(1, 1.01, -9.8));
  feed(inertial(2, 1.02, -14));
  vectors_equal({0, 0, 14}, log.samples.at(2).accel);
}

TEST(Fdilink, SensorsThatAModelDoesNotHaveAreLeftOut) {
  Octets data = floats({0, 0, 0, 0, 0, -9.8, 0, 0, 0, 25, 0, 0});
  put(data, 1'000'000, 8);
  feed(frame(0x40, 1, data));
  CHECK_FALSE(log.samples.at(0).mag || log.samples.at(0).pressure);
}

TEST(Fdilink, OtherFramesAreNoMeasurement) {
  feed(frame(0x42, 1, Octets(72)));
  feed(frame(0x42, 2, Octets(84)));
  feed(frame(0x5C, 3, Octets(32)));
  feed(frame(0xF0, 4, Octets(255)));
  feed(frame(0x50, 5, {}));
  decoder->finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(5, decoder->stats().framing.frames);
  LONGS_EQUAL(0, decoder->stats().undecodable);
}

TEST(Fdilink, UndecodableIsWhatMakesNoSense) {
  const auto data = [](double x, double down, std::uint64_t us) {
    Octets d = floats({x, 0, 0, 0, 0, down, 0, 0, 0, 25, 0, 0});
    put(d, us, 8);
    return d;
  };
  feed(frame(0x40, 1, data(std::numeric_limits<double>::quiet_NaN(), -9.8, 1)));
  feed(frame(0x40, 2, data(0, 0, 1)));  // has not measured yet
  feed(frame(0x40, 3, data(0, -9.8, ~std::uint64_t{0})));
  feed(frame(0x40, 4, Octets(48)));
  feed(frame(0x41, 5, Octets(56)));
  decoder->finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(5, decoder->stats().undecodable);
}

TEST(Fdilink, AnAttitudeThatHasNotSettledIsLeftOut) {
  feed(frame(0x41, 1, Octets(48)));
  decoder->finish();
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(0, decoder->stats().undecodable);
}

TEST(Fdilink, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog other_log;
  DeviceDecoder<Fdilink> other{options, 0, other_log};
  const auto one = stream(20), two = stream(20, 100, 7);
  Octets a, b;
  for (const Octets& f : one) a = joined(a, f);
  for (const Octets& f : two) b = joined(b, f);
  for (std::size_t i = 0; i < a.size(); ++i) {
    decoder->feed({std::span(a).subspan(i, 1), now});
    other.feed({std::span(b).subspan(i, 1), now});
  }
  LONGS_EQUAL(22, log.samples.size());
  LONGS_EQUAL(22, other_log.samples.size());
  CHECK_TRUE(1'190'000'000 == log.samples.back().device_ns.value_or(-1));
  CHECK_TRUE(7'190'000'000 == other_log.samples.back().device_ns.value_or(-1));
}

TEST(Fdilink, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Fdilink> quiet{options, 921600, counter};
  const auto frames = stream(50);
  test::AllocationCounter allocations;
  for (const Octets& f : frames) quiet.feed({f, now += 5ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(52, counter.packets);
}

TEST(Fdilink, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(
      fdilink::Framing{}, {kInertial, kAttitude, frame(0x50, 1, {}), frame(0xF0, 2, Octets(255))});
}

TEST(Fdilink, ATornFrameHidesNothing) {
  test::check_torn_frames(fdilink::Framing{}, inertial(1, 1), inertial(2, 2));
}

TEST(Fdilink, NoBitMayTurnOver) {
  test::check_bit_flips(fdilink::Framing{}, attitude(1, 1), inertial(2, 1), inertial(3, 2));
}

TEST(Fdilink, OfADamagedStreamEveryIntactFrameComesOut) {
  test::check_damaged_stream(fdilink::Framing{}, stream(200));
}

TEST_GROUP(FdilinkLine) {
  test::ManualClock clock;
  test::PacketLog log;
  Options options{Fdilink::options()};
  std::unique_ptr<Driver> driver;
  test::FakePort* port = nullptr;
  unsigned number = 0;

  void setup() override {
    DriverSetup setup;
    auto owned = std::make_unique<test::FakePort>(clock);
    port = owned.get();
    setup.ports[0] = std::move(owned);
    setup.baud = 921600;
    setup.sink = &log;
    driver = make_driver<Fdilink>(options, std::move(setup));
    driver->start(clock.now());
  }
  template <class Say>
  void run(hal::Duration d, Say && say) {
    for (const hal::Time end = clock.now() + d; clock.now() < end;) {
      driver->tick(clock.advance(10ms));
      const Octets bytes = say(hal::to_seconds(clock.now() - hal::Time{}));
      if (!bytes.empty()) port->deliver(bytes);
    }
  }
  void why_is(const char* expected) { STRCMP_EQUAL(expected, driver->health().why.c_str()); }
};

TEST(FdilinkLine, ItStreamsUntoldAndNothingIsWritten) {
  run(1s, [this](double t) {
    const Octets one = inertial(number++, t);
    return joined(one, attitude(number++, t));
  });
  CHECK_TRUE(driver->health().state == State::streaming);
  CHECK_TRUE(driver->health().cause == Cause::none);
  CHECK_TRUE(driver->health().balances());
  LONGS_EQUAL(0, port->writes.size());
  driver->stop(clock.now());
  CHECK_TRUE(driver->stopped());
}

TEST(FdilinkLine, FramesThatNeverCameAreCountedByTheirNumberAndRepeatedOnesDropped) {
  for (const unsigned n : {254U, 1U, 1U}) {
    driver->tick(clock.advance(10ms));
    port->deliver(inertial(n, n == 254 ? 1 : 1.01));
  }
  LONGS_EQUAL(2, driver->health().lost);
  LONGS_EQUAL(1, driver->health().stale);
  LONGS_EQUAL(2, log.samples.size());
}

TEST(FdilinkLine, WhoSendsNoInertialDataIsToldSoWithTheRemedy) {
  run(2s, [this](double t) { return attitude(number++, t); });
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  CHECK_TRUE(driver->health().why.view().find(
                 "it sends 0x41, but no inertial data (0x40): '#fmsg 0x40 100'") !=
             std::string_view::npos);
}

TEST(FdilinkLine, WhoIsNeverAtRestIsToldWhatToSay) {
  run(3s, [this](double t) { return inertial(number++, t, -14); });
  CHECK_TRUE(driver->health().cause == Cause::device_fault);
  CHECK_TRUE(driver->health().why.view().find("set accel_sign") != std::string_view::npos);
}

TEST(FdilinkLine, BytesAtAnotherRateAreNamed) {
  run(2s, [](double) { return Octets(60, std::byte{0xE6}); });
  CHECK_TRUE(driver->health().cause == Cause::mismatch);
}

TEST(FdilinkLine, AClockThatBeganAnewGoesOn) {
  run(1s, [this](double t) { return inertial(number++, t); });
  const std::size_t before = log.samples.size();
  run(1s, [this](double t) { return inertial(number++, t - 1001.0); });
  LONGS_EQUAL(before + 100, log.samples.size());
  LONGS_EQUAL(1, driver->health().clock.epoch);
}
