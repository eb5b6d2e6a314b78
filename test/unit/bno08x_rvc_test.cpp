#include "drivers/bno08x_rvc/bno08x_rvc.h"

#include <cmath>

#include "drivers/inertial.h"
#include "drivers/recognise.h"
#include "test/sim/motion.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/packet_log.h"

#include "test/support/rvc_frames.h"
#include "test/support/sim_line.h"
#include "test/support/talk.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using namespace test::rvc;

namespace {

const Octets kDataSheet = hex("AA AA DE 01 00 92 FF 25 08 8D FE EC FF D1 03 00 00 00 E7");
const Octets kWorked = hex("AA AA 05 28 23 6A FF FA 00 0A 00 EC FF E8 03 00 00 00 93");

// What the world's `up` is to the body whose attitude this is.
ImuSample::Vector up_of(const std::array<double, 4>& q) {
  const auto [x, y, z, w] = q;
  return {2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)};
}
// Of a body's x axis, counter-clockwise from the world's; rad.
double azimuth_of(const std::array<double, 4>& q) {
  const auto [x, y, z, w] = q;
  return std::atan2(2 * (x * y + w * z), 1 - 2 * (y * y + z * z));
}

}  // namespace

TEST_GROUP(Bno08xRvc) {
  Options options{Bno08xRvc::options()};
  test::PacketLog log;
  DeviceDecoder<Bno08xRvc> decoder{options, 0, log};
  hal::Time now{1000s};

  void feed(const Octets& bytes, hal::Duration later = 10ms) {
    decoder.feed({bytes, now += later});
  }
};

TEST(Bno08xRvc, AccelerationsAreInThousandthsOfG) {
  feed(kDataSheet);
  feed(kWorked);
  LONGS_EQUAL(2, log.samples.size());
  const double expected[2][3] = {{-3.638267, -0.196133, 9.581097}, {0.0980665, -0.196133, 9.80665}};
  for (std::size_t n = 0; n < 2; ++n) {
    for (std::size_t i = 0; i < 3; ++i) {
      DOUBLES_EQUAL(expected[n][i], (*log.samples[n].accel)[i], 1e-6);
    }
    CHECK_FALSE(log.samples[n].gyro.has_value());
    CHECK_FALSE(log.samples[n].device_ns.has_value());
  }
}

TEST(Bno08xRvc, TheAttitudeAgreesWithTheGravityOfTheDataSheetsExample) {
  feed(kDataSheet);
  const ImuSample& s = log.samples.at(0);
  const auto up = up_of(*s.orientation);
  const double g = std::hypot((*s.accel)[0], (*s.accel)[1], (*s.accel)[2]);
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL((*s.accel)[i] / g, up[i], 1e-3);
}

TEST(Bno08xRvc, YawGrowsClockwiseUnlessItIsToldOtherwise) {
  feed(frame(0, {.yaw = 3000}));
  DOUBLES_EQUAL(-30 * inertial::kRadPerDeg, azimuth_of(*log.samples.at(0).orientation), 1e-9);
  CHECK_TRUE(static_cast<bool>(options.set("yaw", "counter_clockwise")));
  DeviceDecoder<Bno08xRvc> other(options, 0, log);
  other.feed({frame(0, {.yaw = 3000}), now});
  DOUBLES_EQUAL(30 * inertial::kRadPerDeg, azimuth_of(*log.samples.at(1).orientation), 1e-9);
}

TEST(Bno08xRvc, PitchIsAboutXAndRollAboutY) {
  feed(frame(0, {.pitch = 3000}));
  feed(frame(1, {.roll = 3000}));
  const auto pitched = up_of(*log.samples.at(0).orientation);
  const auto rolled = up_of(*log.samples.at(1).orientation);
  DOUBLES_EQUAL(0.5, pitched[1], 1e-9);
  DOUBLES_EQUAL(0, pitched[0], 1e-9);
  DOUBLES_EQUAL(-0.5, rolled[0], 1e-9);
  DOUBLES_EQUAL(0, rolled[1], 1e-9);
}

TEST(Bno08xRvc, TimeIsCountedByTheIndexAlsoWhereItWraps) {
  for (unsigned i = 0; i < 1000; ++i) feed(frame((250 + i) % 256));
  LONGS_EQUAL(1000, log.samples.size());
  for (std::size_t i = 1; i < 1000; ++i) {
    CHECK_TRUE(log.samples[i].at - log.samples[i - 1].at == 10ms);
  }
}

TEST(Bno08xRvc, AClockThatIsFourPerCentFastIsFollowed) {
  // Arrivals are up to 3 ms late; a stamp is not, once the rate is known.
  double worst = 0;
  for (unsigned i = 0; i < 3000; ++i) {
    const hal::Time measured = now + std::chrono::nanoseconds(9'615'385) * i;
    decoder.feed({frame(i % 256), measured + std::chrono::microseconds(i * 7919 % 3000)});
    if (i < 1000) continue;
    worst = std::max(worst, std::abs(hal::to_seconds(log.samples.back().at - measured)));
  }
  CHECK_TRUE(worst < 0.3e-3);
}

TEST(Bno08xRvc, TimeGoesOnOverLostFrames) {
  for (unsigned i = 0; i < 400; ++i) feed(frame(i % 256));
  now += 1500ms;  // 150 frames
  feed(frame((400 + 150) % 256));
  CHECK_TRUE(log.samples[400].at - log.samples[399].at == 1510ms);
}

TEST(Bno08xRvc, LostFramesAreCounted) {
  test::Talk<Bno08xRvc> talk([](const Octets&) { return Octets{}; });
  talk.start();
  for (const unsigned index : {3U, 4U, 7U, 7U, 8U}) {
    talk.run(10ms);
    talk.port->deliver(frame(index));
  }
  CHECK_TRUE(talk.health().state == State::streaming);
  LONGS_EQUAL(2, talk.health().lost);
  LONGS_EQUAL(4, talk.log.samples.size());
  CHECK_TRUE(talk.health().balances());
}

TEST(Bno08xRvc, WhatItCannotMeasureIsUndecodable) {
  feed(frame(0, {.z = 0}));
  feed(frame(1, {.x = 32'767}));
  feed(frame(2, {.x = -32'768}));
  feed(frame(3, {.yaw = 18'001}));
  feed(frame(4, {.pitch = -9001}));
  feed(frame(5, {.roll = -18'001}));
  LONGS_EQUAL(0, log.samples.size());
  LONGS_EQUAL(6, decoder.stats().undecodable);
  feed(frame(6, {.yaw = -18'000, .pitch = 9000, .roll = 18'000, .x = 16'000}));
  LONGS_EQUAL(1, log.samples.size());
}

TEST(Bno08xRvc, WhereYIsForwardTheBodyIsTurned) {
  CHECK_TRUE(static_cast<bool>(options.set("axes", "rfu")));
  DeviceDecoder<Bno08xRvc> turned(options, 0, log);
  turned.feed({kDataSheet, now});
  const ImuSample& s = log.samples.at(0);
  DOUBLES_EQUAL(-0.196133, (*s.accel)[0], 1e-6);
  DOUBLES_EQUAL(3.638267, (*s.accel)[1], 1e-6);
  const auto up = up_of(*s.orientation);
  for (std::size_t i = 0; i < 3; ++i) DOUBLES_EQUAL((*s.accel)[i] / 10.2505, up[i], 1e-3);
  // Ahead is now what was to the left.
  DOUBLES_EQUAL(89.99 * inertial::kRadPerDeg, azimuth_of(*s.orientation), 0.01);
}

TEST(Bno08xRvc, ItsSimulatorIsMeasuredAsItMoves) {
  for (const auto& [axes, turn] : {std::pair{"printed", "clockwise"},
                                   {"rfu", "clockwise"},
                                   {"printed", "counter_clockwise"}}) {
    test::SimLine line("bno08x_rvc", {{"axes", axes}, {"yaw", turn}},
                       {{"axes", axes}, {"yaw", turn}}, 115200);
    line.run_for(20s);
    LONGS_EQUAL(0, line.health().lost + line.health().undecodable);
    CHECK_TRUE(line.health().balances());
    CHECK_TRUE(line.log.samples.size() > 1900);
    for (std::size_t i = 1000; i < line.log.samples.size(); ++i) {
      const ImuSample& s = line.log.samples[i];
      const sim::ImuTruth& truth = line.truth.samples[i];
      CHECK_TRUE(std::chrono::abs(s.at - truth.at) < 2us);
      for (std::size_t k = 0; k < 3; ++k) DOUBLES_EQUAL(truth.accel[k], (*s.accel)[k], 5e-3);
      const double t = hal::to_seconds(truth.at - line.truth.samples[0].at) + 0.01;
      const sim::Motion m = sim::motion_at(t, sim::MotionKind::swing);
      for (std::size_t k = 0; k < 4; ++k) {
        DOUBLES_EQUAL(m.orientation[(k + 1) % 4], (*s.orientation)[k], 3e-4);
      }
    }
  }
}

TEST(Bno08xRvc, AnotherBaudRateAndSilenceAreNamed) {
  test::Talk<Bno08xRvc> silent([](const Octets&) { return Octets{}; });
  silent.start();
  silent.run(2s);
  CHECK_TRUE(Cause::no_bytes == silent.health().cause);
  test::Talk<Bno08xRvc> garbled([](const Octets&) { return Octets{}; });
  garbled.start();
  for (int i = 0; i < 100; ++i) {
    garbled.port->deliver(hex("78 80 F8 66 98 E6 78 1E 00 66 18"));
    garbled.run(10ms);
  }
  CHECK_TRUE(Cause::mismatch == garbled.health().cause);
}

TEST(Bno08xRvc, TwoDevicesInOneProgramDoNotMeet) {
  test::PacketLog one_log, other_log, alone_log;
  DeviceDecoder<Bno08xRvc> one(options, 0, one_log), other(options, 0, other_log),
      alone(options, 0, alone_log);
  for (unsigned i = 0; i < 300; ++i) {
    now += 10ms;
    one.feed({frame(i % 256), now});
    other.feed({frame((i * 2 + 100) % 256, {.yaw = 100}), now});
    alone.feed({frame(i % 256), now});
  }
  LONGS_EQUAL(300, one_log.samples.size());
  for (std::size_t i = 0; i < 300; ++i) {
    CHECK_TRUE(one_log.samples[i].at == alone_log.samples[i].at);
    CHECK_TRUE(one_log.samples[i].orientation == alone_log.samples[i].orientation);
  }
}

TEST(Bno08xRvc, DecodingAllocatesNothing) {
  test::PacketCounter counter;
  DeviceDecoder<Bno08xRvc> quiet(options, 115200, counter);
  std::vector<Octets> frames;
  for (unsigned i = 0; i < 100; ++i) frames.push_back(frame(i));
  test::AllocationCounter allocations;
  for (const Octets& f : frames) quiet.feed({f, now += 10ms});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(100, counter.packets);
}

TEST(Bno08xRvc, FramesAreFoundInGarbageHoweverTheyAreSplit) {
  test::check_garbage_and_splits(Bno08xRvc::Framing{},
                                 {kDataSheet, kWorked, frame(0xAA, {.yaw = 0x2AAA})});
}

TEST(Bno08xRvc, ATornFrameHidesNothing) {
  test::check_torn_frames(Bno08xRvc::Framing{}, kDataSheet, kWorked);
}

TEST(Bno08xRvc, NoBitMayTurnOver) {
  test::check_bit_flips(Bno08xRvc::Framing{}, kDataSheet, kWorked, frame(7, {.yaw = 123}));
}

TEST(Bno08xRvc, OfADamagedStreamEveryIntactFrameComesOut) {
  std::vector<Octets> frames;
  for (unsigned i = 0; i < 400; ++i) {
    frames.push_back(frame(i % 256, {.yaw = static_cast<int>(i), .roll = 7}));
  }
  test::check_damaged_stream(Bno08xRvc::Framing{}, frames);
}

TEST(Bno08xRvc, ItsBytesAreRecognised) {
  Octets stream;
  for (unsigned i = 0; i < 20; ++i) stream = test::joined(std::move(stream), frame(i));
  CHECK_TRUE("bno08x_rvc" == recognise(stream).driver);
}

TEST(Bno08xRvc, BytesLikeItsHeadBetweenTheFramesHideFewOfThem) {
  // Three of four frames have false heads before them, of which one in 256 has a good sum.
  test::SimLine line("bno08x_rvc", {{"junk", "on"}}, {}, 115200);
  line.run_for(20s);
  CHECK_TRUE(line.log.samples.size() > 1950);
  CHECK_TRUE(line.health().state == State::streaming);
  CHECK_TRUE(line.health().balances());
}
