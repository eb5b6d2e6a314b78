// Decodes what the simulated RPLIDAR sends with small decoders written from the protocol text
// alone, and compares every sample with the recorded truth.
#include "test/support/harness.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <memory>
#include <vector>

#include "test/sim/room.h"
#include "test/sim/rplidar_model.h"

using namespace std::chrono_literals;
using sim::ByteVector;

namespace {

struct Point {
  double deg;  // clockwise
  double mm;   // 0 = no return
  double tolerance_mm;
};

unsigned u(const ByteVector& b, std::size_t at, unsigned count) {
  unsigned v = 0;
  for (unsigned i = 0; i < count; ++i) v |= std::to_integer<unsigned>(b[at + i]) << (8 * i);
  return v;
}

int signed10(unsigned v) { return v < 512 ? static_cast<int>(v) : static_cast<int>(v) - 1024; }

void check_capsule(const ByteVector& b) {
  unsigned check = 0;
  for (std::size_t i = 2; i < b.size(); ++i) check ^= u(b, i, 1);
  LONGS_EQUAL(0xA0 | (check & 15), u(b, 0, 1));
  LONGS_EQUAL(0x50 | (check >> 4), u(b, 1, 1));
}

double start_deg(const ByteVector& b, std::size_t at) { return (u(b, at, 2) & 0x7FFF) / 64.0; }

double step_deg(const ByteVector& b, const ByteVector& next, std::size_t at, double samples) {
  const double advance = start_deg(next, at) - start_deg(b, at);
  return (advance < 0 ? advance + 360.0 : advance) / samples;
}

std::vector<Point> decode_standard(const ByteVector& b) {
  std::vector<Point> points;
  for (std::size_t at = 0; at + 5 <= b.size(); at += 5) {
    LONGS_EQUAL(1, (u(b, at, 1) ^ (u(b, at, 1) >> 1)) & 1);
    LONGS_EQUAL(1, u(b, at + 1, 1) & 1);
    points.push_back({(u(b, at + 1, 2) >> 1) / 64.0, u(b, at + 3, 2) / 4.0, 0.125});
  }
  return points;
}

std::vector<Point> decode_express(const ByteVector& b, const ByteVector& next) {
  check_capsule(b);
  std::vector<Point> points;
  for (unsigned k = 0; k < 32; ++k) {
    const std::size_t cabin = 4 + 5 * (k / 2);
    const unsigned word = u(b, cabin + 2 * (k % 2), 2);
    const unsigned low = (u(b, cabin + 4, 1) >> (4 * (k % 2))) & 15;
    const double offset = (low | (word & 3) << 4) / 8.0;
    points.push_back(
        {start_deg(b, 2) + k * step_deg(b, next, 2, 32) - offset, double(word >> 2), 0.5});
  }
  return points;
}

struct Major {
  int mm;
  int level;
};

Major decode_major(unsigned cabin) {
  const int m = static_cast<int>(cabin & 0xFFF);
  if (m < 512) return {m, 0};
  if (m < 1280) return {512 + ((m - 512) << 1), 1};
  if (m < 1792) return {2048 + ((m - 1280) << 2), 2};
  if (m < 3328) return {4096 + ((m - 1792) << 3), 3};
  return {16384 + ((m - 3328) << 4), 4};
}

double ultra_offset(int mm) {
  const int q2 = 4 * mm;
  if (q2 < 200) return 7.5;
  const int k = 98361 / q2;
  return (9150 - 64 * k - k * k * k / 98304) * 180.0 / sim::kPi / 65536.0;
}

std::vector<Point> decode_ultra(const ByteVector& b, const ByteVector& next) {
  check_capsule(b);
  std::vector<Point> points;
  const auto add = [&](int mm, int level) {
    const auto k = static_cast<double>(points.size());
    const double nominal = start_deg(b, 2) + k * step_deg(b, next, 2, 96);
    points.push_back({nominal - ultra_offset(mm), static_cast<double>(mm), 0.5 * (1 << level)});
  };
  for (unsigned i = 0; i < 32; ++i) {
    const unsigned cabin = u(b, 4 + 4 * i, 4);
    const Major major1 = decode_major(cabin);
    const Major base2 = decode_major(i < 31 ? u(b, 8 + 4 * i, 4) : u(next, 4, 4));
    const Major base1 = major1.mm == 0 && base2.mm != 0 ? base2 : major1;
    const int p1 = signed10((cabin >> 12) & 0x3FF), p2 = signed10(cabin >> 22);
    const auto predicted = [](Major base, int p) {
      return p == -512 || p == 511 ? 0 : base.mm + p * (1 << base.level);
    };
    add(major1.mm, major1.level);
    add(predicted(base1, p1), base1.level);
    add(predicted(base2, p2), base2.level);
  }
  return points;
}

std::vector<Point> decode_dense(const ByteVector& b, const ByteVector& next) {
  check_capsule(b);
  std::vector<Point> points;
  for (unsigned k = 0; k < 40; ++k)
    points.push_back(
        {start_deg(b, 2) + k * step_deg(b, next, 2, 40), double(u(b, 4 + 2 * k, 2)), 0.5});
  return points;
}

std::vector<Point> decode_ultra_dense(const ByteVector& b, const ByteVector& next) {
  check_capsule(b);
  std::vector<Point> points;
  for (unsigned k = 0; k < 64; ++k) {
    const std::size_t cabin = 10 + 5 * (k / 2);
    const unsigned high = (u(b, cabin + 4, 1) >> (4 * (k % 2))) & 15;
    const unsigned v = u(b, cabin + 2 * (k % 2), 2) | high << 16;
    const double mm[] = {(v & 0xFFC) / 4 * 2.0, (v & 0x1FFC) / 4 * 3.0 + 2046,
                         (v & 0x3FFC) / 4 * 4.0 + 8187, (v & 0x7FFC) / 4 * 5.0 + 24567};
    points.push_back(
        {start_deg(b, 8) + k * step_deg(b, next, 8, 64), mm[v & 3], 1.0 + (v & 3) / 2.0});
  }
  return points;
}

std::vector<Point> decode_hq(const ByteVector& b) {
  LONGS_EQUAL(0xA5, u(b, 0, 1));
  std::vector<Point> points;
  for (std::size_t k = 0; k < 96; ++k)
    points.push_back({u(b, 9 + 8 * k, 2) * 90.0 / 16384, u(b, 11 + 8 * k, 4) / 4.0, 0.125});
  return points;
}

std::vector<Point> decode(unsigned answer, const ByteVector& b, const ByteVector& next) {
  switch (answer) {
    case 0x81:
      return decode_standard(b);
    case 0x82:
      return decode_express(b, next);
    case 0x83:
      return decode_hq(b);
    case 0x84:
      return decode_ultra(b, next);
    case 0x85:
      return decode_dense(b, next);
    default:
      return decode_ultra_dense(b, next);
  }
}

}  // namespace

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
      const std::vector<Point> points = decode(answer, packets[i], packets[i + 1]);
      LONGS_EQUAL(truth[i].beams.size(), points.size());
      for (std::size_t k = 0; k < points.size(); ++k) compare(points[k], truth[i].beams[k]);
      CHECK_TRUE(std::chrono::abs(sent[i] - truth[i].beams.back().at) <= 1ns);
    }
  }
  void compare(const Point& point, const sim::TrueBeam& beam) {
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

TEST(SimRplidarTruth, SamplesFollowEachOtherAtTheModesPeriod) {
  start({}, 3);
  const hal::Time started = now;
  collect(1s);
  std::int64_t sample = 0;
  for (const sim::ScanTruth& t : truth)
    for (const sim::TrueBeam& b : t.beams)
      CHECK_TRUE(b.at == started + hal::Duration(127'000 * sample++));
}

TEST(SimRplidarTruth, SamplingFollowsTheCrystal) {
  clock.set_drift(now, 1000.0);
  start({}, 3);
  const hal::Time started = now;
  collect(1s);
  const double expected = 96.0 * 127e-6 * double(truth.size() - 1) / 1.001;
  DOUBLES_EQUAL(expected, hal::to_seconds(truth.back().beams[0].at - started), 1e-6);
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
    LONGS_EQUAL(i == 0 ? 1 : 0, u(packets[i], 3, 1) >> 7);
}

TEST(SimRplidarTruth, TheStandardFlagFallsSomeDegreesBeforeTheFront) {
  start({}, 0);
  double sum = 0.0, lowest = 360.0;
  unsigned turns = 0;
  for (int second = 0; second < 60; ++second) {
    packets.clear(), sent.clear(), truth.clear();
    collect(1s);
    for (const ByteVector& b : packets) {
      if ((u(b, 0, 1) & 1) == 0) continue;
      const double deg = decode_standard(b)[0].deg;
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
      const double deg = u(b, 9 + 8 * k, 2) * 90.0 / 16384;
      LONGS_EQUAL(deg < before, u(b, 16 + 8 * k, 1));
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
      LONGS_EQUAL(exact / 1000, u(packets[i], at, 4));
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
  CHECK_TRUE(u(packets.front(), 2, 4) > 0xFFFF0000U);
  CHECK_TRUE(u(packets.back(), 2, 4) < 0x10000U);
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
