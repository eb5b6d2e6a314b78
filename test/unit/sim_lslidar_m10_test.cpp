#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

struct Point {
  double angle;  // degrees clockwise
  double mm;     // of the first echo; 0 = none
  unsigned intensity;
  bool strong;
};

unsigned sum_of(hal::Bytes bytes) {
  unsigned sum = 0;
  for (const std::byte b : bytes) sum = (sum + std::to_integer<unsigned>(b)) % 256;
  return sum;
}

double range_of(std::uint64_t raw) { return raw == 0xFFFF ? 0.0 : static_cast<double>(raw); }

std::vector<Point> n10_points(const sim::ByteVector& frame, std::size_t stride = 3) {
  const double start = static_cast<double>(sim::get_be(frame, 5, 2)) / 100.0;
  const double end = static_cast<double>(sim::get_be(frame, frame.size() - 3, 2)) / 100.0;
  const double span = end < start ? end + 360.0 - start : end - start;
  std::vector<Point> points;
  for (std::size_t i = 0; i < 16; ++i)
    points.push_back({start + span * static_cast<double>(i) / 15.0,
                      range_of(sim::get_be(frame, 7 + stride * i, 2)),
                      sim::u8_at(frame, 9 + stride * i), false});
  return points;
}

std::vector<Point> m10_points(const sim::ByteVector& frame, std::size_t start, std::size_t data,
                              std::size_t count, bool masks) {
  const double angle = static_cast<double>(sim::get_be(frame, start, 2)) / 100.0;
  std::vector<Point> points;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t raw = sim::get_be(frame, data + 2 * i, 2);
    const bool strong = masks && raw != 0xFFFF && (raw & 0x8000U) != 0;
    points.push_back({angle + 15.0 * static_cast<double>(i) / static_cast<double>(count),
                      range_of(strong ? raw & 0x7FFFU : raw), 0, strong});
  }
  return points;
}

std::string command(unsigned what, unsigned value, unsigned at = 0, unsigned byte = 0) {
  sim::ByteVector bytes(188);
  bytes[0] = std::byte{0xA5}, bytes[1] = std::byte{0x5A}, bytes[2] = std::byte{0x55};
  bytes[186] = std::byte{0xFA}, bytes[187] = std::byte{0xFB};
  bytes[184] = static_cast<std::byte>(what), bytes[185] = static_cast<std::byte>(value);
  if (at != 0) bytes[at] = static_cast<std::byte>(byte);
  return hex_of(bytes);
}

void compare(const std::vector<Point>& points, const sim::ScanTruth& truth) {
  CHECK_EQUAL(truth.beams.size(), points.size());
  for (std::size_t i = 0; i < points.size(); ++i) {
    const sim::TrueBeam& beam = truth.beams[i];
    DOUBLES_EQUAL(0.0, std::remainder(sim::degrees(beam.angle) + points[i].angle, 360.0), 0.011);
    DOUBLES_EQUAL(beam.range * 1000.0, points[i].mm, 0.501);
    DOUBLES_EQUAL(sim::Room::range(beam.angle), beam.range, 1e-9);
  }
}

}  // namespace

TEST_GROUP(SimLslidarM10){};

TEST(SimLslidarM10, ThePublishedN10FrameHasThisSumAndTheseAngles) {
  const auto frame = bytes_of(
      "A5 5A 3A 12 34 88 B8 03 E8 00 04 4C 01 04 B0 02 05 14 03 05 78 04 05 DC 05 06 40 06 06 A4 "
      "07 "
      "07 08 08 07 6C 09 07 D0 0A 08 34 0B 08 98 0C 08 FC 0D 09 60 0E 09 C4 0F 01 F4 F1");
  CHECK_EQUAL(58, frame.size());
  CHECK_EQUAL(0xF1, sum_of(hal::Bytes(frame).first(57)));
  const auto points = n10_points(frame);
  DOUBLES_EQUAL(350.0, points[0].angle, 1e-9);
  DOUBLES_EQUAL(365.0, points[15].angle, 1e-9);
  CHECK_EQUAL(2500.0, points[15].mm);
}

TEST(SimLslidarM10, AnN10WaitsForTheStartCommandAndThenStreams) {
  Bench bench("lslidar_m10");
  bench.run_for(0.5);
  CHECK_EQUAL(0, bench.out.frames.size());
  CHECK_EQUAL(0, bench.ask(command(1, 1)).size());
  bench.run_for(1.0);
  CHECK_EQUAL(281, bench.out.frames.size());  // 4500 / 16
  CHECK_EQUAL(230400, bench.model->baud());
}

TEST(SimLslidarM10, AnN10FrameIsLaidOutAsDescribed) {
  Bench bench("lslidar_m10", {{"running", "on"}});
  bench.run_for(0.004);
  CHECK_EQUAL(1, bench.out.frames.size());
  const sim::ByteVector& frame = bench.out.frames[0].bytes;
  CHECK_EQUAL(58, frame.size());
  // 24 periods of 4167 us are a turn; the front wall at 4000 mm; 15 steps of 0.8 degrees.
  STRCMP_EQUAL("A5 5A 3A 10 47 00 00 0F A0 96", hex_of(hal::Bytes(frame).first(10)).c_str());
  STRCMP_EQUAL("04 B0", hex_of(hal::Bytes(frame).subspan(55, 2)).c_str());
  CHECK_EQUAL(sum_of(hal::Bytes(frame).first(57)), sim::u8_at(frame, 57));
  CHECK_TRUE(bench.out.frames[0].at == bench.out.scans[0].beams[15].at);
  CHECK_TRUE(bench.out.frames[0].at == sim_test::kStart + hal::Duration(3'333'333));
}

TEST(SimLslidarM10, EveryN10BeamIsTheTruth) {
  for (const char* model : {"N10", "L10"}) {
    Bench bench("lslidar_m10", {{"model", model}, {"running", "on"}}, 7.3);
    bench.run_for(0.4);
    CHECK_TRUE(bench.out.frames.size() > 100);
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      const sim::ByteVector& frame = bench.out.frames[f].bytes;
      CHECK_EQUAL(sum_of(hal::Bytes(frame).first(57)), sim::u8_at(frame, 57));
      compare(n10_points(frame), bench.out.scans[f]);
    }
  }
}

TEST(SimLslidarM10, AnN10PHasTwoEchoesOfThreeBytesPerPoint) {
  Bench bench("lslidar_m10", {{"model", "N10P"}, {"running", "on"}, {"second_echo", "behind"}});
  bench.run_for(0.4);
  CHECK_EQUAL(460800, bench.model->baud());
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const sim::ByteVector& frame = bench.out.frames[f].bytes;
    CHECK_EQUAL(108, frame.size());
    CHECK_EQUAL(0x6C, sim::u8_at(frame, 2));
    CHECK_EQUAL(sum_of(hal::Bytes(frame).first(107)), sim::u8_at(frame, 107));
    const auto points = n10_points(frame, 6);
    compare(points, bench.out.scans[f]);
    for (std::size_t i = 0; i < 16; ++i) {
      const double second = static_cast<double>(sim::get_be(frame, 10 + 6 * i, 2));
      CHECK_EQUAL(points[i].mm == 0.0 ? 0.0 : points[i].mm + 500.0, second);
    }
  }
}

TEST(SimLslidarM10, TheM10HeadOfTheExampleHasThisMeaning) {
  sim::ByteVector frame = bytes_of("A5 5A 23 28 02 58 04 D2 84 D2");
  frame.resize(92);
  const auto points = m10_points(frame, 2, 6, 42, true);
  CHECK_EQUAL(1234.0, points[0].mm);
  CHECK_FALSE(points[0].strong);
  CHECK_EQUAL(1234.0, points[1].mm);
  CHECK_TRUE(points[1].strong);
  DOUBLES_EQUAL(97.5, points[21].angle, 1e-9);
}

TEST(SimLslidarM10, EveryM10PacketCoversFifteenDegreesOfTheTruth) {
  const struct {
    const char* model;
    unsigned baud;
    std::size_t bytes, points, start, data;
    bool masks;
  } kRows[] = {{"M10", 460800, 92, 42, 2, 6, true},
               {"M10GPS", 460800, 102, 42, 2, 6, true},
               {"M10P", 500000, 160, 70, 4, 8, false},
               {"M10PLUS", 921600, 104, 42, 4, 8, false}};
  for (const auto& row : kRows) {
    Bench bench("lslidar_m10", {{"model", row.model}, {"running", "on"}});
    bench.run_for(1.0);
    CHECK_EQUAL(row.baud, bench.model->baud());
    CHECK_EQUAL(240, bench.out.frames.size());  // 24 a turn
    bool any_strong = false;
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      const sim::ByteVector& frame = bench.out.frames[f].bytes;
      CHECK_EQUAL(row.bytes, frame.size());
      if (row.start == 4) CHECK_EQUAL(row.bytes, sim::get_be(frame, 2, 2));
      CHECK_EQUAL(1500 * (f % 24), sim::get_be(frame, row.start, 2));
      CHECK_EQUAL(600, sim::get_be(frame, row.start + 2, 2));
      const auto points = m10_points(frame, row.start, row.data, row.points, row.masks);
      compare(points, bench.out.scans[f]);
      for (const Point& p : points) {
        const double off = std::abs(std::remainder(p.angle, 360.0));
        if (std::abs(off - 5.0) > 0.01) CHECK_EQUAL(row.masks && off < 5.0, p.strong);
        any_strong = any_strong || p.strong;
      }
    }
    CHECK_EQUAL(row.masks, any_strong);
  }
}

TEST(SimLslidarM10, TheDateGoesOnFromFrameToFrameAndIsTheStampOfTheTruth) {
  Bench bench("lslidar_m10", {{"model", "M10P"}, {"running", "on"}});
  bench.run_for(62.5);
  const sim::ByteVector& first = bench.out.frames.front().bytes;
  STRCMP_EQUAL("19 01 01 00 00 00 00 00 00 00", hex_of(hal::Bytes(first).subspan(148, 10)).c_str());
  const sim::ByteVector& last = bench.out.frames.back().bytes;
  STRCMP_EQUAL("19 01 01 00 01 02", hex_of(hal::Bytes(last).subspan(148, 6)).c_str());
  const std::int64_t us = 62'000'000 + static_cast<std::int64_t>(sim::get_be(last, 154, 2) * 1000) +
                          static_cast<std::int64_t>(sim::get_be(last, 156, 2));
  CHECK_EQUAL(
      hal::to_ns(bench.out.scans.back().beams[0].at - sim_test::kStart.time_since_epoch()) / 1000,
      us);
  CHECK_EQUAL(1'735'689'600'000'000'000 + us * 1000, bench.out.scans.back().device_ns);
}

TEST(SimLslidarM10, ABeamWithoutReturnIsSentAsConfigured) {
  for (const char* none : {"zero", "ffff"}) {
    for (const char* model : {"N10", "M10"}) {
      Bench bench("lslidar_m10", {{"model", model}, {"running", "on"}, {"no_return", none}});
      bench.run_for(0.1);
      std::size_t seen = 0, expected = 0;
      for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
        const bool n10 = bench.out.frames[f].bytes.size() == 58;
        for (std::size_t i = 0; i < bench.out.scans[f].beams.size(); ++i) {
          const std::size_t at = n10 ? 7 + 3 * i : 6 + 2 * i;
          const std::uint64_t raw = sim::get_be(bench.out.frames[f].bytes, at, 2);
          seen += raw == (none[0] == 'z' ? 0U : 0xFFFFU);
          expected += bench.out.scans[f].beams[i].range == 0.0;
        }
      }
      CHECK_TRUE(seen > 8);
      CHECK_EQUAL(expected, seen);
    }
  }
}

TEST(SimLslidarM10, StartAndStopMayBeRepeated) {
  Bench bench("lslidar_m10");
  for (int i = 0; i < 10; ++i) CHECK_EQUAL(0, bench.ask(command(1, 1)).size());
  bench.run_for(0.1);
  const std::size_t before = bench.out.frames.size();
  CHECK_EQUAL(28, before);
  bench.model->receive(sim::Channel::data, bytes_of(command(1, 1)), bench.now, bench.out);
  bench.run_for(0.1);
  CHECK_EQUAL(56, bench.out.frames.size());  // a start while it streams changes nothing
  const auto apart = (bench.out.frames[28].at - bench.out.frames[27].at).count();
  DOUBLES_EQUAL(16e9 / 4500.0, double(apart), 2.0);
  for (int i = 0; i < 10; ++i) CHECK_EQUAL(0, bench.ask(command(1, 0)).size());
  bench.run_for(0.5);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimLslidarM10, ACommandIsFoundInPiecesAndBehindADamagedOne) {
  Bench bench("lslidar_m10");
  std::string damaged = command(1, 1);
  damaged.back() = 'C';  // FA FC
  bench.ask("00 A5 A5 5A " + damaged);
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
  const std::string good = command(1, 1);
  bench.ask(good.substr(0, 300));
  bench.ask(good.substr(300));
  bench.run_for(0.1);
  CHECK_EQUAL(28, bench.out.frames.size());
}

TEST(SimLslidarM10, TheDevicePacketIsGivenAlsoWhileStreaming) {
  Bench bench("lslidar_m10", {{"running", "on"}});
  bench.run_for(0.1);
  const auto answers = bench.ask(command(8, 1));
  CHECK_EQUAL(1, answers.size());
  const sim::ByteVector packet = bytes_of(answers[0]);
  CHECK_EQUAL(188, packet.size());
  CHECK_EQUAL(0xA55A5500U, sim::get_be(packet, 0, 4));
  CHECK_EQUAL(0xFAFB, sim::get_be(packet, 186, 2));
}

TEST(SimLslidarM10, TheSpeedIsSetWithinItsLimits) {
  Bench bench("lslidar_m10");
  bench.ask(command(0x0A, 1, 172, 8));
  bench.ask(command(1, 1));
  bench.run_for(0.01);
  CHECK_EQUAL(5208, sim::get_be(bench.out.frames[0].bytes, 3, 2));  // 1e6 / (24 * 8)
  bench.ask(command(0x0A, 1, 172, 13));
  bench.run_for(0.01);
  CHECK_EQUAL(5208, sim::get_be(bench.out.frames.back().bytes, 3, 2));

  Bench plus("lslidar_m10", {{"model", "M10PLUS"}, {"running", "on"}});
  sim::ByteVector fast = bytes_of(command(0x0A, 1, 141, 0x04));
  fast[142] = std::byte{0xB0};
  plus.ask(hex_of(fast));
  plus.run_for(1.0);
  CHECK_EQUAL(1200, sim::get_be(plus.out.frames.back().bytes, 6, 2));
  CHECK_EQUAL(479, plus.out.frames.size());  // the packet in the making was a slow one
}

TEST(SimLslidarM10, AFalsifiedFrameStillHasAGoodSum) {
  Bench bench("lslidar_m10", {{"running", "on"}});
  bench.run_for(0.004);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(7);
  bench.model->falsify(frame, random);
  CHECK_TRUE(frame != bench.out.frames[0].bytes);
  CHECK_EQUAL(sum_of(hal::Bytes(frame).first(57)), sim::u8_at(frame, 57));
}

TEST(SimLslidarM10, ASpeedThatTheLineCannotCarryIsRefused) {
  const sim::ModelRow& row = *sim::find_model("lslidar-m10");
  const sim::Settings settings = *sim::Settings::check(row.options, {{"model", "M10P"}});
  sim::DeviceClock clock(1);
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 13.0, 1})));
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 13.1, 1})));
}
