#include "test/sim/ldrobot.h"

#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;
using sim_test::hex_of;

namespace {

struct Point {
  double angle;  // degrees clockwise, as the frame has it
  double mm;
  unsigned intensity;
};

std::vector<Point> points_of(const sim::ByteVector& frame) {
  const double start = static_cast<double>(sim::get_le(frame, 4, 2)) / 100.0;
  const double end = static_cast<double>(sim::get_le(frame, 42, 2)) / 100.0;
  const double span = end < start ? end + 360.0 - start : end - start;
  std::vector<Point> points;
  for (std::size_t i = 0; i < 12; ++i)
    points.push_back({start + span * static_cast<double>(i) / 11.0,
                      static_cast<double>(sim::get_le(frame, 6 + 3 * i, 2)),
                      sim::u8_at(frame, 8 + 3 * i)});
  return points;
}

// Another formulation of the same CRC: long division, one message bit at a time.
unsigned crc_of(hal::Bytes bytes) {
  unsigned rest = 0;
  for (std::size_t bit = 0; bit < bytes.size() * 8 + 8; ++bit) {
    const bool in = bit < bytes.size() * 8 && ((sim::u8_at(bytes, bit / 8) >> (7 - bit % 8)) & 1U);
    rest = (rest << 1) | (in ? 1U : 0U);
    if (rest & 0x100U) rest ^= 0x14DU;
  }
  return rest;
}

}  // namespace

TEST_GROUP(SimLdrobot){};

TEST(SimLdrobot, TheFirstFrameIsLaidOutAsTheManualSays) {
  Bench bench("ldrobot");
  bench.run_for(0.003);
  CHECK_EQUAL(1, bench.out.frames.size());
  const sim::ByteVector& frame = bench.out.frames[0].bytes;
  CHECK_EQUAL(47, frame.size());
  // 3600 deg/s, from 0.00 to 8.80 degrees, the front wall at 4000 mm, stamp 2 ms.
  STRCMP_EQUAL("54 2C 10 0E 00 00 A0 0F", hex_of(hal::Bytes(frame).first(8)).c_str());
  CHECK_TRUE(sim::u8_at(frame, 8) >= 0x96 && sim::u8_at(frame, 8) <= 0x98);
  STRCMP_EQUAL("70 03 02 00", hex_of(hal::Bytes(frame).subspan(42, 4)).c_str());
  CHECK_EQUAL(crc_of(hal::Bytes(frame).first(46)), sim::u8_at(frame, 46));
  // The last of 12 beams, 222.2 us apart, was measured when the frame left.
  CHECK_TRUE(bench.out.frames[0].at == sim_test::kStart + hal::Duration(2'444'444));
}

TEST(SimLdrobot, TheManualFrameHasTheCheckByteOfThisCrc) {
  const auto frame = sim_test::bytes_of(
      "54 2C 68 08 AB 7E E0 00 E4 DC 00 E2 D9 00 E5 D5 00 E3 D3 00 E4 D0 00 E9 CD 00 E4 CA 00 E2 "
      "C7 00 E9 C5 00 E5 C2 00 E5 C0 00 E5 BE 82 3A 1A 50");
  CHECK_EQUAL(0x50, crc_of(hal::Bytes(frame).first(46)));
}

TEST(SimLdrobot, EachModelSendsAtItsRate) {
  const struct {
    const char* model;
    std::size_t frames;
    unsigned baud, speed;
  } kRows[] = {{"LD06", 375, 230400, 3600},    {"LD19", 375, 230400, 3600},
               {"STL-06P", 416, 230400, 3600}, {"STL-19P", 416, 230400, 3600},
               {"STL-26", 416, 230400, 3600},  {"STL-27L", 1800, 921600, 3600},
               {"LD14", 191, 115200, 2160},    {"LD14P", 333, 230400, 2160}};
  for (const auto& row : kRows) {
    Bench bench("ldrobot", {{"model", row.model}});
    bench.run_for(1.0);
    CHECK_EQUAL(row.frames, bench.out.frames.size());
    CHECK_EQUAL(row.baud, bench.model->baud());
    CHECK_EQUAL(row.speed, sim::get_le(bench.out.frames[0].bytes, 2, 2));
  }
}

TEST(SimLdrobot, EveryBeamShowsTheRoomClockwise) {
  Bench bench("ldrobot");
  bench.run_for(0.25);
  std::size_t silent = 0;
  for (const sim::Frame& frame : bench.out.frames) {
    for (const Point& p : points_of(frame.bytes)) {
      if (p.mm == 0.0) ++silent;
      if (p.mm == 0.0) CHECK_EQUAL(40, p.intensity);
      const double counter_clockwise = std::fmod(360.0 - p.angle, 360.0);
      if (std::abs(counter_clockwise - 100.0) < 0.02) continue;
      if (std::abs(counter_clockwise - 110.0) < 0.02) continue;
      DOUBLES_EQUAL(sim::Room::range(sim::radians(-p.angle)) * 1000.0, p.mm, 1.6);
    }
  }
  CHECK_TRUE(silent > 20);
}

TEST(SimLdrobot, TheTruthIsWhatTheFrameSays) {
  Bench bench("ldrobot", {{"model", "STL-27L"}}, 7.3);
  bench.run_for(0.3);
  CHECK_EQUAL(bench.out.frames.size(), bench.out.scans.size());
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const std::vector<Point> points = points_of(bench.out.frames[f].bytes);
    const sim::ScanTruth& truth = bench.out.scans[f];
    CHECK_TRUE(truth.beams.back().at == bench.out.frames[f].at);
    for (std::size_t i = 0; i < 12; ++i) {
      DOUBLES_EQUAL(truth.beams[i].range * 1000.0, points[i].mm, 0.51);
      const double off = sim::degrees(truth.beams[i].angle) + points[i].angle;
      DOUBLES_EQUAL(0.0, std::remainder(off, 360.0), 0.011);
    }
    const auto stamp = sim::get_le(bench.out.frames[f].bytes, 44, 2);
    CHECK_EQUAL(static_cast<std::int64_t>(stamp) * 1'000'000, truth.device_ns);
  }
}

TEST(SimLdrobot, TheCorrectedPointsOfALd14ShowTheRoom) {
  Bench bench("ldrobot", {{"model", "LD14P"}});
  bench.run_for(0.4);
  double shift = 0.0;
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const std::vector<Point> points = points_of(bench.out.frames[f].bytes);
    for (std::size_t i = 0; i < points.size(); ++i) {
      const double d = points[i].mm;
      if (d > 0.0) shift = sim::degrees(std::atan((0.11923 * d - 18.975571) / (d + 5.9)));
      const double corrected = points[i].angle - shift;
      const sim::TrueBeam& beam = bench.out.scans[f].beams[i];
      DOUBLES_EQUAL(0.0, std::remainder(sim::degrees(beam.angle) + corrected, 360.0), 0.011);
      DOUBLES_EQUAL(beam.range * 1000.0, d, 0.6);
      if (d > 0.0) DOUBLES_EQUAL(sim::Room::range(beam.angle) * 1000.0, d, 0.6);
    }
  }
}

TEST(SimLdrobot, TheStampWrapsAt30000Milliseconds) {
  Bench bench("ldrobot");
  bench.clock.restart(bench.now, 29'999'000'000);
  bench.run_for(0.02);
  const auto& frames = bench.out.frames;
  CHECK_EQUAL(1, sim::get_le(frames[0].bytes, 44, 2));
  CHECK_EQUAL(30'001'000'000, bench.out.scans[0].device_ns);
  CHECK_TRUE(bench.model->clock_period() == std::chrono::seconds(30));
}

TEST(SimLdrobot, StartAndStopAreAcknowledgedInTheSameShape) {
  Bench bench("ldrobot", {{"model", "LD14P"}, {"running", "off"}});
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
  const auto started = bench.ask("54 A0 04 00 00 00 00 5E");
  CHECK_EQUAL(1, started.size());
  STRCMP_EQUAL("54 A0 04 00 00 00 00 5E", started[0].c_str());
  bench.run_for(0.1);
  CHECK_EQUAL(33, bench.out.frames.size());
  STRCMP_EQUAL("54 A1 04 00 00 00 00 4A", bench.ask("54 A1 04 00 00 00 00 4A")[0].c_str());
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimLdrobot, TheSpeedCommandSetsTheSpeedWithinTheModelsRange) {
  Bench bench("ldrobot", {{"model", "LD14P"}});
  STRCMP_EQUAL("54 A2 04 08 07 00 00 D2", bench.ask("54 A2 04 08 07 00 00 D2")[0].c_str());
  bench.run_for(0.01);
  CHECK_EQUAL(1800, sim::get_le(bench.out.frames[0].bytes, 2, 2));
  const auto points = points_of(bench.out.frames[0].bytes);
  DOUBLES_EQUAL(11.0 * 1800.0 / 4000.0, points[11].angle, 0.01);
  sim::ByteVector fast = sim_test::bytes_of("54 A2 04 10 0E 00 00");  // 10 turns a second
  fast.push_back(static_cast<std::byte>(crc_of(fast)));
  CHECK_EQUAL(0, bench.ask(hex_of(fast)).size());
}

TEST(SimLdrobot, ACommandIsFoundBetweenJunkAndInPieces) {
  Bench bench("ldrobot", {{"model", "LD14P"}, {"running", "off"}});
  CHECK_EQUAL(0, bench.ask("00 54 A0 04 00").size());
  CHECK_EQUAL(0, bench.ask("00 00 00").size());
  CHECK_EQUAL(1, bench.ask("5E").size());
  CHECK_EQUAL(1, bench.ask("54 54 A1 04 00 00 00 00 4A").size());
  CHECK_EQUAL(0, bench.ask("54 A1 04 00 00 00 00 4B").size());
}

TEST(SimLdrobot, AnLd06HasNoReceiver) {
  Bench bench("ldrobot", {{"model", "LD06"}});
  CHECK_EQUAL(0, bench.ask("54 A1 04 00 00 00 00 4A").size());
  bench.run_for(0.1);
  CHECK_EQUAL(37, bench.out.frames.size());
}

TEST(SimLdrobot, AFalsifiedFrameStillHasAGoodCheckByte) {
  Bench bench("ldrobot");
  bench.run_for(0.003);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(7);
  bench.model->falsify(frame, random);
  CHECK_TRUE(frame != bench.out.frames[0].bytes);
  CHECK_EQUAL(crc_of(hal::Bytes(frame).first(46)), sim::u8_at(frame, 46));
}

TEST(SimLdrobot, AnImpossibleRateIsRefused) {
  const sim::ModelRow& row = *sim::find_model("ldrobot");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 50.0, 1})));
}
