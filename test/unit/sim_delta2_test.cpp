#include "test/unit/sim_lidar_points.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;
using sim_test::LidarPoint;

namespace {

// Lengths agree with each other and with the bytes, and the last word is the sum of all before it.
bool is_intact(hal::Bytes frame) {
  if (frame.size() < 11 || sim::get_be(frame, 0, 1) != 0xAA) return false;
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i + 2 < frame.size(); ++i) sum += sim::u8_at(frame, i);
  return sim::get_be(frame, 1, 2) == frame.size() - 2 && sim::get_be(frame, 3, 2) == 0x0161 &&
         sim::get_be(frame, 6, 2) == frame.size() - 10 &&
         sim::get_be(frame, frame.size() - 2, 2) == sum % 65536;
}

std::size_t samples_of(hal::Bytes frame) { return (sim::get_be(frame, 6, 2) - 5) / 3; }

// The device counts clockwise.
std::vector<LidarPoint> points_of(hal::Bytes frame, double packets, double unit_mm) {
  std::vector<LidarPoint> points;
  const std::size_t n = samples_of(frame);
  const double start = static_cast<double>(sim::get_be(frame, 11, 2)) / 100.0;
  for (std::size_t i = 0; i < n; ++i) {
    const double along = 360.0 / packets * static_cast<double>(i) / static_cast<double>(n);
    points.push_back({-(start + along),
                      static_cast<double>(sim::get_be(frame, 14 + 3 * i, 2)) * unit_mm,
                      static_cast<double>(sim::u8_at(frame, 13 + 3 * i))});
  }
  return points;
}

}  // namespace

TEST_GROUP(SimDelta2){};

TEST(SimDelta2, TheRecordedSpeedFrameIsIntactForTheseTests) {
  CHECK_TRUE(is_intact(bytes_of("AA 00 09 01 61 AE 00 01 A2 02 66")));
}

TEST(SimDelta2, TheRecordedHeadIsReadWithTheLayoutOfTheseTests) {
  sim::ByteVector head =
      bytes_of("AA 00 4C 01 61 AD 00 44 7B FF DC 57 E4 41 05 95 3C 05 B8 39 05 CE");
  head.resize(78);
  CHECK_EQUAL(21, samples_of(head));
  const auto points = points_of(head, 16, 1.0);
  DOUBLES_EQUAL(-226.071, points[1].ccw_deg, 1e-3);
  DOUBLES_EQUAL(-227.143, points[2].ccw_deg, 1e-3);
  CHECK_EQUAL(1429.0, points[0].mm);
  CHECK_EQUAL(60.0, points[1].strength);
  CHECK_EQUAL(357.25, points_of(head, 16, 0.25)[0].mm);
}

TEST(SimDelta2, TheFirstFrameHasTheShapeOfTheRecordedOne) {
  Bench bench("delta2");
  bench.run_for(0.010);
  CHECK_EQUAL(1, bench.out.frames.size());
  const sim::ByteVector& frame = bench.out.frames[0].bytes;
  // 21 samples at 6.15 turns/s from 0.00 degrees; 4000 mm in quarters, quality 250 / 5.
  STRCMP_EQUAL("AA 00 4C 01 61 AD 00 44 7B FF DC 00 00 32 3E 80",
               hex_of(hal::Bytes(frame).first(16)).c_str());
  CHECK_EQUAL(78, frame.size());
  CHECK_TRUE(is_intact(frame));
}

TEST(SimDelta2, EachModelHasItsPacketsPerTurnAndItsLine) {
  const struct {
    const char* model;
    std::size_t packets;
    unsigned baud;
  } kRows[] = {{"2A", 16, 115200},
               {"2B", 16, 230400},
               {"2D", 16, 115200},
               {"2G", 15, 115200},
               {"LDS08RR", 16, 115200}};
  for (const auto& row : kRows) {
    Bench bench("delta2", {{"model", row.model}}, 5.0);
    bench.run_for(1.0);
    CHECK_EQUAL(row.baud, bench.model->baud());
    CHECK_EQUAL(5 * row.packets, bench.out.frames.size());
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      const sim::ByteVector& frame = bench.out.frames[f].bytes;
      CHECK_TRUE(is_intact(frame));
      CHECK_EQUAL(36000 / row.packets * (f % row.packets), sim::get_be(frame, 11, 2));
      CHECK_EQUAL(100, sim::u8_at(frame, 8));
      sim_test::check_points(points_of(frame, static_cast<double>(row.packets), 0.25),
                             bench.out.scans[f], 0.0, 0.125);
    }
  }
}

TEST(SimDelta2, ABeamWithoutReturnIsZero) {
  Bench bench("delta2");
  bench.run_for(0.1627);
  std::size_t silent = 0;
  for (const sim::Frame& frame : bench.out.frames)
    for (const LidarPoint& point : points_of(frame.bytes, 16, 0.25)) {
      if (point.mm == 0.0) CHECK_EQUAL(0.0, point.strength);
      if (point.mm == 0.0) ++silent;
    }
  CHECK_EQUAL(9, silent);  // 10 degrees of 1.071 degrees each
}

TEST(SimDelta2, TheUnitMayBeAMillimetre) {
  Bench bench("delta2", {{"unit_mm", "1"}});
  bench.run_for(0.1);
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f)
    sim_test::check_points(points_of(bench.out.frames[f].bytes, 16, 1.0), bench.out.scans[f], 0.0,
                           0.5);
}

TEST(SimDelta2, ASlowMotorGetsOnlyItsSpeedReported) {
  Bench bench("delta2", {{"rpm", "210"}});
  bench.run_for(1.0);
  CHECK_EQUAL(56, bench.out.frames.size());
  CHECK_EQUAL(0, bench.out.scans.size());
  for (const sim::Frame& frame : bench.out.frames) {
    CHECK_TRUE(is_intact(frame.bytes));
    STRCMP_EQUAL("AA 00 09 01 61 AE 00 01 46", hex_of(hal::Bytes(frame.bytes).first(9)).c_str());
  }
}

TEST(SimDelta2, OnlyThe2AExistsWithTwoLineRates) {
  Bench fast("delta2", {{"baud", "230400"}});
  CHECK_EQUAL(230400, fast.model->baud());
  const sim::ModelRow& row = *sim::find_model("delta2");
  const sim::Settings settings =
      *sim::Settings::check(row.options, {{"model", "2G"}, {"baud", "230400"}});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 0.0, 1})));
}

TEST(SimDelta2, AFalsifiedFrameHasAGoodSum) {
  Bench bench("delta2");
  bench.run_for(0.010);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(7);
  bench.model->falsify(frame, random);
  CHECK_TRUE(frame != bench.out.frames[0].bytes);
  CHECK_TRUE(is_intact(frame));
}
