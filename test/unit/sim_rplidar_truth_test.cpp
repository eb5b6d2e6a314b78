// Every sample that the simulated RPLIDAR sends, decoded and compared with the recorded truth.
#include "test/support/harness.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <vector>

#include "test/sim/room.h"
#include "test/sim/rplidar_model.h"
#include "test/unit/sim_rplidar_decoders.h"

using namespace std::chrono_literals;
using rplidar_test::decode_rplidar;
using rplidar_test::field;
using rplidar_test::RplidarPoint;
using sim::ByteVector;

TEST_GROUP(SimRplidarTruth) {
  sim::DeviceClock clock{1};
  std::unique_ptr<sim::DeviceModel> device;
  hal::Time now = hal::from_ns(5'000'000'000);
  std::vector<ByteVector> packets;
  std::vector<hal::Time> sent;
  std::vector<sim::ScanTruth> truth;

  void start(sim::Options options, unsigned mode) {
    const auto settings = sim::Settings::check(sim::rplidar::options(), options);
    CHECK_TRUE(static_cast<bool>(settings));
    device = std::move(*sim::rplidar::make({*settings, clock, 0.0, 3}));
    sim::Output out;
    clock.restart(now);
    device->power_up(now, out);
    ByteVector request{std::byte{0xA5}, std::byte{0x20}};
    if (mode != 0) {
      request = {std::byte{0xA5}, std::byte{0x82}, std::byte{5}, static_cast<std::byte>(mode)};
      request.resize(8);
      request.push_back(static_cast<std::byte>(0x22 ^ mode));
    }
    ByteVector turn{std::byte{0xA5}, std::byte{0xF0}, std::byte{2},
                    std::byte{0x94}, std::byte{2},    std::byte{0xC1}};
    now += 37ms;  // the rotor stands anywhere when the scan starts
    device->receive(sim::Channel::data, turn, now, out);
    device->receive(sim::Channel::data, request, now, out);
  }
  void collect(hal::Duration d) {
    const hal::Time end = now + d;
    sim::Output out;
    for (hal::Time next = now; next <= end;) {
      now = next;
      out.clear();
      next = device->advance(now, out);
      for (sim::Frame& f : out.frames) packets.push_back(f.bytes), sent.push_back(f.at);
      for (sim::ScanTruth& t : out.scans) truth.push_back(t);
    }
    LONGS_EQUAL(packets.size(), truth.size());
  }
  // Every sample of every packet but the last, which has no next one.
  void compare(unsigned answer) {
    CHECK_TRUE(packets.size() > 3);
    for (std::size_t i = 0; i + 1 < packets.size(); ++i) {
      const std::vector<RplidarPoint> points = decode_rplidar(answer, packets[i], packets[i + 1]);
      LONGS_EQUAL(truth[i].beams.size(), points.size());
      for (std::size_t k = 0; k < points.size(); ++k) compare(points[k], truth[i].beams[k]);
      CHECK_TRUE(std::chrono::abs(sent[i] - truth[i].beams.back().at) <= 1ns);
    }
  }
  void compare(const RplidarPoint& point, const sim::TrueBeam& beam) {
    const double apart = std::remainder(beam.angle + sim::radians(point.deg), sim::kTurn);
    DOUBLES_EQUAL(0.0, apart, 1e-9);
    DOUBLES_EQUAL(1000.0 * beam.range, point.mm, point.tolerance_mm + 1e-6);
    if (beam.range > 0.0) DOUBLES_EQUAL(sim::Room::range(beam.angle), beam.range, 1e-9);
  }
  double share_of_zeros() const {
    double zeros = 0, all = 0;
    for (const sim::ScanTruth& t : truth)
      for (const sim::TrueBeam& b : t.beams) ++all, zeros += b.range == 0.0;
    return zeros / all;
  }
};

TEST(SimRplidarTruth, StandardNodesCarryTheTruth) {
  start({}, 0);
  collect(1s);
  compare(0x81);
}

TEST(SimRplidarTruth, StandardNodesInDatagramsCarryTheTruth) {
  start({{"model", "S2E"}}, 0);
  collect(500ms);
  compare(0x81);
}

TEST(SimRplidarTruth, ExpressCapsulesCarryTheTruth) {
  start({}, 1);
  collect(1s);
  compare(0x82);
}

TEST(SimRplidarTruth, UltraCapsulesCarryTheTruth) {
  start({}, 3);
  collect(1s);
  compare(0x84);
}

TEST(SimRplidarTruth, UltraCapsulesOfEverySpeedCarryTheTruth) {
  for (const char* rpm : {"60", "317", "733", "2000"}) {
    packets.clear(), sent.clear(), truth.clear();
    start({{"model", "A3"}, {"rpm", rpm}, {"zeros", "10"}}, 2);
    collect(1s);
    compare(0x84);
  }
}

TEST(SimRplidarTruth, DenseCapsulesCarryTheTruth) {
  start({{"model", "S2"}}, 1);
  collect(500ms);
  compare(0x85);
}

TEST(SimRplidarTruth, UltraDenseCapsulesCarryTheTruth) {
  start({{"model", "S2E"}}, 2);
  collect(500ms);
  compare(0x86);
}

TEST(SimRplidarTruth, HqPacketsCarryTheTruth) {
  start({{"model", "T1"}}, 2);
  collect(500ms);
  compare(0x83);
}

TEST(SimRplidarTruth, OnlyTheRoomAndFewUnsettledSamplesHaveNoReturn) {
  start({{"model", "S2"}}, 1);
  collect(1s);
  DOUBLES_EQUAL(10.0 / 360.0, share_of_zeros(), 0.002);
  packets.clear(), sent.clear(), truth.clear();
  start({{"model", "A3"}}, 3);
  collect(1s);
  DOUBLES_EQUAL(10.0 / 360.0, share_of_zeros(), 0.01);
}

TEST(SimRplidarTruth, ZerosAreAddedAsConfigured) {
  start({{"zeros", "68"}}, 1);
  collect(2s);
  compare(0x82);
  DOUBLES_EQUAL(0.69, share_of_zeros(), 0.04);
}

TEST(SimRplidarTruth, AnUltraPredictionLeansOnTheNextMajorWhenItsOwnIsMissing) {
  start({{"zeros", "50"}}, 3);
  collect(5s);
  // Of three samples the major is there in 1/2, the first prediction in 1/2 * 3/4, the second in
  // 1/2 * 1/2; the room takes 10 degrees of each turn.
  DOUBLES_EQUAL(1.0 - (0.5 + 0.375 + 0.25) / 3.0 * 350.0 / 360.0, share_of_zeros(), 0.01);
}

TEST(SimRplidarTruth, QualityIsNoValidityFlag) {
  start({{"zeros", "30"}}, 0);
  collect(1s);
  for (const ByteVector& b : packets) {
    const RplidarPoint point = decode_rplidar(0x81, b, b)[0];
    const bool is_wall = sim::Room::range(-sim::radians(point.deg)) > 0.0;
    LONGS_EQUAL(point.mm > 0.0 ? 47 : (is_wall ? 15 : 0), field(b, 0, 1) >> 2);
  }
}

TEST(SimRplidarTruth, SamplesFollowEachOtherAtTheModesPeriod) {
  start({}, 3);
  const hal::Time started = now;
  collect(1s);
  std::int64_t sample = 0;
  for (const sim::ScanTruth& t : truth)
    for (const sim::TrueBeam& b : t.beams)
      CHECK_TRUE(b.at == started + hal::Duration(127'000 * sample++));
}

TEST(SimRplidarTruth, SamplingFollowsTheCrystalWithoutRoundingAway) {
  clock.set_drift(now, 1000.0);
  start({}, 0);
  const hal::Time started = now;
  collect(1s);
  const double expected = 508e-6 * double(truth.size() - 1) / 1.001;
  DOUBLES_EQUAL(expected, hal::to_seconds(truth.back().beams[0].at - started), 3e-9);
}

TEST(SimRplidarTruth, TheRotorTurnsAtTheConfiguredSpeed) {
  start({{"model", "S2"}, {"rpm", "600"}}, 1);
  collect(1s);
  double turned = 0.0;
  const sim::TrueBeam* before = nullptr;
  for (const sim::ScanTruth& t : truth)
    for (const sim::TrueBeam& b : t.beams) {
      if (before != nullptr) turned -= std::remainder(b.angle - before->angle, sim::kTurn);
      before = &b;
    }
  DOUBLES_EQUAL(10.0, turned / sim::kTurn, 0.02);
}

TEST(SimRplidarTruth, OnlyTheFirstCapsuleCarriesTheFirstFlag) {
  start({}, 3);
  collect(1s);
  for (std::size_t i = 0; i < packets.size(); ++i)
    LONGS_EQUAL(i == 0 ? 1 : 0, field(packets[i], 3, 1) >> 7);
}

TEST(SimRplidarTruth, TheStandardFlagFallsSomeDegreesBeforeTheFront) {
  start({}, 0);
  double sum = 0.0, lowest = 360.0;
  unsigned turns = 0;
  for (int second = 0; second < 60; ++second) {
    packets.clear(), sent.clear(), truth.clear();
    collect(1s);
    for (const ByteVector& b : packets) {
      if ((field(b, 0, 1) & 1) == 0) continue;
      const double deg = decode_rplidar(0x81, b, b)[0].deg;
      CHECK_TRUE(deg > 351.0 && deg <= 359.5);
      lowest = std::min(lowest, deg);
      sum += deg;
      ++turns;
    }
  }
  LONGS_EQUAL(438, turns);
  DOUBLES_EQUAL(358.6, sum / turns, 0.3);
  CHECK_TRUE(lowest < 357.0);
}

TEST(SimRplidarTruth, AnglesFallBackAsConfigured) {
  start({{"backwards", "12"}}, 0);
  collect(3s);
  compare(0x81);
  double backwards = 0;
  for (std::size_t i = 1; i < truth.size(); ++i)
    backwards +=
        std::remainder(truth[i].beams[0].angle - truth[i - 1].beams[0].angle, sim::kTurn) > 0;
  DOUBLES_EQUAL(0.12, backwards / double(truth.size()), 0.02);
}

TEST(SimRplidarTruth, TheHqFlagIsOnTheFirstNodeOfEachTurn) {
  start({{"model", "T1"}}, 2);
  collect(1s);
  double before = 0.0;
  unsigned turns = 0;
  for (const ByteVector& b : packets)
    for (std::size_t k = 0; k < 96; ++k) {
      const double deg = field(b, 9 + 8 * k, 2) * 90.0 / 16384;
      LONGS_EQUAL(deg < before, field(b, 16 + 8 * k, 1));
      turns += deg < before;
      before = deg;
    }
  LONGS_EQUAL(15, turns);
}

TEST(SimRplidarTruth, StampsAreTheDeviceClockAtTheFirstSampleInMicroseconds) {
  const auto check = [&](const char* model, unsigned mode, std::size_t at) {
    packets.clear(), sent.clear(), truth.clear();
    start({{"model", model}}, mode);
    const std::int64_t started = hal::to_ns(now) - 37'000'000;
    collect(100ms);
    for (std::size_t i = 0; i < packets.size(); ++i) {
      const std::int64_t exact = hal::to_ns(truth[i].beams[0].at) - started;
      LONGS_EQUAL(exact / 1000, field(packets[i], at, 4));
      LONGS_EQUAL(exact / 1000 * 1000, truth[i].device_ns);
    }
  };
  check("S2E", 2, 2);
  check("T1", 2, 1);
}

TEST(SimRplidarTruth, TheUltraDenseStampWrapsAtThirtyTwoBitsAndTheTruthDoesNot) {
  start({{"model", "S2E"}}, 2);
  CHECK_TRUE(device->clock_period() == hal::Duration(4'294'967'296'000));
  clock.restart(now, device->clock_period().count() - 10'000'000);
  collect(30ms);
  CHECK_TRUE(field(packets.front(), 2, 4) > 0xFFFF0000U);
  CHECK_TRUE(field(packets.back(), 2, 4) < 0x10000U);
  for (std::size_t i = 1; i < truth.size(); ++i)
    CHECK_TRUE(truth[i].device_ns > truth[i - 1].device_ns);
}

TEST(SimRplidarTruth, TheSameSeedGivesTheSameBytes) {
  start({{"zeros", "50"}}, 3);
  collect(200ms);
  const std::vector<ByteVector> before = packets;
  packets.clear(), sent.clear(), truth.clear();
  now = hal::from_ns(5'000'000'000);
  start({{"zeros", "50"}}, 3);
  collect(200ms);
  CHECK_TRUE(before == packets);
}
