// The points that the simulated YDLIDAR sends, decoded and compared with the truth.
#include "test/sim/ydlidar.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/ydlidar_packet.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"
#include "test/unit/sim_ydlidar_decoder.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;
using ydlidar_test::checksum_holds;
using ydlidar_test::Layout;
using ydlidar_test::Point;
using ydlidar_test::points_of;

namespace {

struct Row {
  const char* model;
  unsigned baud;
  double samples_per_s, turns_per_s;
  Layout layout;
  bool one_way;
};
constexpr Layout kPlain{}, kEight{3, 4.0, true, false}, kTen{3, 4.0, true, true},
    kHalf{2, 2.0, true, false}, kTof{2, 1.0, false, false}, kTmini{3, 4.0, false, false},
    kSh{4, 1.0, false, false};
constexpr Row kRows[] = {
    {"X2", 115200, 3000, 7, kPlain, true},         {"X3", 115200, 3000, 7, kPlain, true},
    {"X4", 128000, 5000, 7, kPlain, false},        {"X4Pro", 128000, 5000, 7, kPlain, true},
    {"S2", 115200, 3000, 7, kPlain, true},         {"S4", 115200, 4000, 7, kPlain, false},
    {"S4B", 153600, 4000, 7, kEight, false},       {"G1", 230400, 9000, 7, kPlain, false},
    {"G2", 230400, 5000, 7, kEight, false},        {"G2A", 230400, 5000, 7, kPlain, false},
    {"G2C", 115200, 4000, 7, kPlain, false},       {"G4", 230400, 9000, 7, kPlain, false},
    {"G4B", 512000, 10000, 7, kTen, false},        {"G6", 512000, 18000, 7, kHalf, false},
    {"F4", 115200, 4000, 7, kPlain, false},        {"R2", 230400, 5000, 7, kPlain, false},
    {"TG15", 512000, 20000, 10, kTof, false},      {"TG30", 512000, 20000, 10, kTof, false},
    {"TG50", 512000, 20000, 10, kTof, false},      {"TX", 115200, 4000, 6, kTof, true},
    {"TminiPro", 230400, 4000, 10, kTmini, false}, {"TminiPlus", 230400, 4000, 10, kTmini, false},
    {"TminiPlusSH", 230400, 4000, 10, kSh, false},
};

void start(Bench& bench) {
  (void)bench.ask("A5 60");  // a one-way model does not hear it
}

bool is_zero(const sim::ByteVector& packet) { return (sim::u8_at(packet, 2) & 1U) != 0; }

void compare(const Bench& bench, const Layout& layout) {
  CHECK_EQUAL(bench.out.frames.size(), bench.out.scans.size());
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const sim::ByteVector& packet = bench.out.frames[f].bytes;
    const sim::ScanTruth& truth = bench.out.scans[f];
    CHECK_TRUE(checksum_holds(packet, layout.sample));
    CHECK_EQUAL(1, sim::u8_at(packet, 4) & sim::u8_at(packet, 6) & 1U);
    const std::vector<Point> points = points_of(packet, layout);
    CHECK_EQUAL(truth.beams.size(), points.size());
    CHECK_EQUAL(10 + layout.sample * points.size(), packet.size());
    for (std::size_t i = 0; i < points.size(); ++i) {
      const sim::TrueBeam& beam = truth.beams[i];
      DOUBLES_EQUAL(0.0, std::remainder(sim::degrees(beam.angle) + points[i].angle, 360.0), 1e-6);
      DOUBLES_EQUAL(beam.range * 1000.0, points[i].mm, 0.75);
      if (beam.range > 0.0) DOUBLES_EQUAL(sim::Room::range(beam.angle), beam.range, 1e-9);
    }
    CHECK_TRUE(bench.out.frames[f].at == truth.beams.back().at);
  }
}

}  // namespace

TEST_GROUP(SimYdlidar){};

TEST(SimYdlidar, TheZeroPacketOfTheManualIsMadeByteByByte) {
  const sim::ydlidar::Sample none[1];
  STRCMP_EQUAL(
      "AA 55 01 01 53 AE 53 AE AB 54 00 00",
      hex_of(sim::ydlidar::point_packet({true, 0, 0x5729, 0x5729}, none, sim::ydlidar::Form::plain))
          .c_str());
}

TEST(SimYdlidar, TheZeroPacketOfARealDeviceIsMadeByteByByte) {
  const sim::ydlidar::Sample none[1];
  const auto q6 = static_cast<unsigned>(351.1875 * 64.0);
  STRCMP_EQUAL(
      "AA 55 01 01 99 AF 99 AF AB 54 00 00",
      hex_of(sim::ydlidar::point_packet({true, 0, q6, q6}, none, sim::ydlidar::Form::plain))
          .c_str());
}

TEST(SimYdlidar, ARealTminiPacketIsMadeAgainFromItsPoints) {
  const auto real = bytes_of(
      "AA 55 B0 27 E3 28 F3 39 0E 61 79 B6 05 6F 4E 06 61 06 06 7A 9A 02 9E 5E 02 A6 0A 02 A7 E6 "
      "01 "
      "AE D6 01 BA D6 01 B8 D2 01 B2 D6 01 BD D2 01 DF DA 01 E1 DA 01 DF DA 01 DC DE 01 DE DE 01 "
      "D8 "
      "E2 01 D4 DE 01 BA DE 01 84 DF 01 2F AB 01 17 EE 01 0F 22 02 0C 7E 02 0A 02 00 0C 9E 02 16 "
      "A6 "
      "02 21 A2 02 3A 32 03 55 4E 0A 87 46 0A 85 5A 0A 8A 6E 0A 84 9A 0A 7E CE 0A 4E 7E 04 51 6E "
      "03 "
      "66 A6 02");
  CHECK_TRUE(checksum_holds(real, 3));
  const std::vector<Point> points = points_of(real, kTmini);
  CHECK_EQUAL(39, points.size());
  DOUBLES_EQUAL(115.890625, points[38].angle, 1e-9);
  CHECK_EQUAL(365.0, points[0].mm);
  CHECK_EQUAL(121, points[0].intensity);
  std::vector<sim::ydlidar::Sample> samples;
  for (const Point& p : points)
    samples.push_back({static_cast<unsigned>(p.mm * 4.0), p.intensity, p.flag});
  const auto again = sim::ydlidar::point_packet({false, 88, static_cast<unsigned>(81.765625 * 64.0),
                                                 static_cast<unsigned>(115.890625 * 64.0)},
                                                samples, sim::ydlidar::Form::intensity8);
  STRCMP_EQUAL(hex_of(real).c_str(), hex_of(again).c_str());
}

TEST(SimYdlidar, TheCorrectionIsThatOfTheWorkedFigures) {
  const double kFigures[][2] = {
      {1000, -6.7622}, {8000, -7.8374}, {300, -3.8734}, {100, 4.4388}, {12000, -7.8885}};
  for (const auto& [mm, degrees] : kFigures)
    DOUBLES_EQUAL(degrees, sim::ydlidar::correction_deg(mm), 0.00005);
}

TEST(SimYdlidar, EveryModelSendsTheTruthAtItsRateAndSpeed) {
  for (const Row& row : kRows) {
    Bench bench("ydlidar", {{"model", row.model}});
    start(bench);
    CHECK_EQUAL(row.baud, bench.model->baud());
    bench.run_for(2.0);
    compare(bench, row.layout);
    double samples = 0, zeros = 0;
    for (const sim::Frame& frame : bench.out.frames) {
      samples += sim::u8_at(frame.bytes, 3);
      zeros += is_zero(frame.bytes);
    }
    DOUBLES_EQUAL(2.0 * row.samples_per_s, samples, 80.0);
    DOUBLES_EQUAL(2.0 * row.turns_per_s, zeros, 1.0);
  }
}

TEST(SimYdlidar, ATurnBeginsWithAPacketOfOneSampleThatTellsTheFrequency) {
  for (const char* model : {"X4", "TminiPro", "TG30"}) {
    Bench bench("ydlidar", {{"model", model}, {"frequency", "8.2"}});
    start(bench);
    bench.run_for(1.0);
    const double index = model[0] == 'X' ? 351.1875 : 0.0;
    std::size_t zeros = 0;
    for (const sim::Frame& frame : bench.out.frames) {
      const double raw = ydlidar_test::raw_angle(frame.bytes, 4);
      const double last = ydlidar_test::raw_angle(frame.bytes, 6);
      if (!is_zero(frame.bytes)) {
        // No other packet holds the beginning of a turn.
        const double left = 360.0 - std::fmod(raw - index + 720.0, 360.0);
        CHECK_TRUE(std::fmod(last - raw + 360.0, 360.0) <= left + 1.0 / 64.0);
        continue;
      }
      ++zeros;
      CHECK_EQUAL(1, sim::u8_at(frame.bytes, 3));
      CHECK_EQUAL(model[1] == 'G' ? 52 : 82, sim::u8_at(frame.bytes, 2) >> 1);
      CHECK_EQUAL(raw, last);
      const double past = std::remainder(raw - index, 360.0);
      CHECK_TRUE(past >= -0.01 && past < 1.0);
    }
    CHECK_EQUAL(9, zeros);
  }
}

TEST(SimYdlidar, SamplesFollowEachOtherWithoutAGap) {
  Bench bench("ydlidar", {{"model", "TG15"}});
  start(bench);
  bench.run_for(0.5);
  std::int64_t n = 0;
  const sim::TrueBeam* before = nullptr;
  for (const sim::ScanTruth& scan : bench.out.scans)
    for (const sim::TrueBeam& beam : scan.beams) {
      CHECK_EQUAL(50'000 * n, (beam.at - sim_test::kStart).count());
      ++n;
      if (before != nullptr)
        DOUBLES_EQUAL(-0.18, sim::degrees(std::remainder(beam.angle - before->angle, sim::kTurn)),
                      0.02);
      before = &beam;
    }
}

TEST(SimYdlidar, ASampleWithoutReturnKeepsItsRawAngle) {
  Bench bench("ydlidar");
  start(bench);
  bench.run_for(1.0);
  std::size_t silent = 0;
  for (const sim::Frame& frame : bench.out.frames)
    for (const Point& p : points_of(frame.bytes, kPlain)) {
      if (p.mm > 0.0 || is_zero(frame.bytes)) continue;
      ++silent;
      // The ray went 7.9 degrees beside, into the sector that swallows the light.
      const double went = std::fmod(720.0 - p.angle + 7.95, 360.0);
      CHECK_TRUE(went > 99.5 && went < 110.5);
    }
  DOUBLES_EQUAL(5000.0 * 10.0 / 360.0, double(silent), 10.0);
}

TEST(SimYdlidar, FormAndUnitAreAsConfigured) {
  const struct {
    const char *intensity, *unit;
    Layout layout;
  } kForms[] = {{"none", "half_mm", {2, 2.0, true, false}},
                {"8", "mm", {3, 1.0, true, false}},
                {"10", "auto", {3, 4.0, true, true}},
                {"16", "auto", {4, 4.0, true, false}},
                {"16", "mm", {4, 1.0, true, false}}};
  for (const auto& form : kForms) {
    Bench bench("ydlidar", {{"model", "G2"}, {"intensity", form.intensity}, {"unit", form.unit}});
    start(bench);
    bench.run_for(0.5);
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      const sim::ByteVector& packet = bench.out.frames[f].bytes;
      CHECK_TRUE(checksum_holds(packet, form.layout.sample));
      const auto points = points_of(packet, form.layout);
      for (std::size_t i = 0; i < points.size(); ++i) {
        DOUBLES_EQUAL(bench.out.scans[f].beams[i].range * 1000.0, points[i].mm, 4.0);
        if (form.layout.sample != 2) CHECK_TRUE(points[i].intensity >= 10);
        if (form.layout.ten_bits && points[i].mm > 0.0 && points[i].mm < 6000.0)
          CHECK_TRUE(points[i].intensity > 255);
      }
    }
  }
}

TEST(SimYdlidar, ATminiMarksItsSamplesAsARealOneDoes) {
  Bench bench("ydlidar", {{"model", "TminiPro"}});
  start(bench);
  bench.run_for(0.2);
  for (const sim::Frame& frame : bench.out.frames)
    for (const Point& p : points_of(frame.bytes, kTmini)) CHECK_EQUAL(2, p.flag);
}

TEST(SimYdlidar, AStampPacketComesBeforeEachTurn) {
  Bench bench("ydlidar", {{"model", "TG30"}, {"stamps", "on"}});
  start(bench);
  bench.run_for(1.05);
  std::size_t stamps = 0, scan = 0;
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const sim::ByteVector& bytes = bench.out.frames[f].bytes;
    if (bytes.size() != 8) {
      ++scan;
      continue;
    }
    std::byte sum{};
    for (const std::byte b : bytes) sum ^= b;
    CHECK_TRUE(sum == std::byte{});
    CHECK_EQUAL(0x66, sim::u8_at(bytes, 1));
    CHECK_EQUAL(100 * stamps, sim::get_le(bytes, 3, 4));
    ++stamps;
    CHECK_TRUE(is_zero(bench.out.frames[f + 1].bytes));
    CHECK_EQUAL(sim::get_le(bytes, 3, 4) * 1'000'000, bench.out.scans[scan].device_ns);
  }
  CHECK_EQUAL(11, stamps);
  CHECK_TRUE(bench.model->clock_period() == hal::Duration(4'294'967'296'000'000));
}

TEST(SimYdlidar, AFalsifiedPacketStillHasAGoodChecksum) {
  Bench bench("ydlidar", {{"model", "TminiPro"}});
  start(bench);
  bench.run_for(0.05);
  sim::ByteVector packet = bench.out.frames[2].bytes;
  sim::Random random(7);
  bench.model->falsify(packet, random);
  CHECK_TRUE(packet != bench.out.frames[2].bytes);
  CHECK_TRUE(checksum_holds(packet, 3));
}
