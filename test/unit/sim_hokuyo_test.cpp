// The scans that the simulated Hokuyo sends, decoded and compared with the truth.
#include <cmath>
#include <string>

#include "test/sim/room.h"
#include "test/sim/scip_text.h"
#include "test/support/harness.h"
#include "test/unit/sim_hokuyo_bench.h"

using hokuyo_test::HokuyoBench;
using hokuyo_test::Scan;
using hokuyo_test::scan_of;

namespace {

struct Geometry {
  int front, steps_per_turn;
};
constexpr Geometry kUrg{384, 1024}, kUtm{540, 1440};

// Every value of the scan against the truth; `start` is the step of the first.
void compare(const Scan& scan, const sim::ScanTruth& truth, const Geometry& g, int start,
             int cluster, double least_mm) {
  CHECK_EQUAL(truth.beams.size(), scan.mm.size());
  for (std::size_t i = 0; i < scan.mm.size(); ++i) {
    const double angle = 360.0 * (start + cluster * int(i) - g.front) / g.steps_per_turn;
    DOUBLES_EQUAL(angle, sim::degrees(truth.beams[i].angle), 1e-9);
    const double mm = scan.mm[i] < least_mm ? 0.0 : scan.mm[i];
    DOUBLES_EQUAL(truth.beams[i].range * 1000.0, mm, 0.501);
  }
}

}  // namespace

TEST_GROUP(SimHokuyo){};

TEST(SimHokuyo, NumbersAndChecksAreThoseOfTheManual) {
  using namespace sim::hokuyo_scip;
  STRCMP_EQUAL("CB", encode(1234, 2).c_str());
  STRCMP_EQUAL("1Dh", encode(5432, 3).c_str());
  STRCMP_EQUAL("m2@0", encode(16000000, 4).c_str());
  STRCMP_EQUAL("0H4", encode(1540, 3).c_str());
  STRCMP_EQUAL("7D`", encode(30000, 3).c_str());
  STRCMP_EQUAL("?om", encode(65533, 3).c_str());
  STRCMP_EQUAL("4]J7B\n", line(encode(1234567, 4)).c_str());
  CHECK_EQUAL('o', check_char("Hokuyo"));
  for (const char* status : {"00P", "99b", "0Ee", "02R"})
    CHECK_EQUAL(status[2], check_char(std::string(status, 2)));
}

TEST(SimHokuyo, TheWorkedScanIsMadeByteByByte) {
  using namespace sim::hokuyo_scip;
  STRCMP_EQUAL("0N90W\n", line(encode(123456, 4)).c_str());
  STRCMP_EQUAL("0O@0GL007I\n",
               data_lines(encode(2000, 3) + encode(1500, 3) + encode(7, 3)).c_str());
  STRCMP_EQUAL("O@GL079\n", data_lines(encode(2000, 2) + encode(1500, 2) + encode(7, 2)).c_str());
}

TEST(SimHokuyo, AFullUtmScanHasTheLinesOfTheManualsExample) {
  HokuyoBench bench(sim::Options{{"model", "UTM-30LX"}});
  STRCMP_EQUAL("MD0000108001000\n00P\n\n", bench.ask("MD0000108001000\n").c_str());
  const auto scans = bench.texts(0.06);
  CHECK_EQUAL(2, scans.size());
  CHECK_EQUAL(0, scans[0].find("MD0000108001000\n99b\n"));
  // Echo, status, stamp; 50 full lines and one of 43; the empty line.
  CHECK_EQUAL(16 + 4 + 6 + 50 * 66 + 45 + 1, scans[0].size());
  compare(scan_of(scans[0]), bench.out.scans[0], kUtm, 0, 1, 23.0);
}

TEST(SimHokuyo, EveryModelStreamsTheTruthAtItsSpeed) {
  const struct {
    const char *model, *request;
    Geometry geometry;
    int start;
    std::size_t scans;  // in a second
    double least_mm;
  } kRows[] = {{"URG-04LX-UG01", "MD0044072501000\n", kUrg, 44, 10, 20},
               {"UBG-04LX", "MD0044072501000\n", kUrg, 44, 36, 20},
               {"UTM-30LX", "MD0000108000000\n", kUtm, 0, 40, 23}};
  for (const auto& row : kRows) {
    HokuyoBench bench(sim::Options{{"model", row.model}});
    CHECK_EQUAL(0, bench.model().baud());
    bench.ask(row.request);
    const auto scans = bench.texts(1.0);
    CHECK_EQUAL(row.scans, scans.size());
    for (std::size_t i = 0; i < scans.size(); ++i)
      compare(scan_of(scans[i]), bench.out.scans[i], row.geometry, row.start, 1, row.least_mm);
  }
}

TEST(SimHokuyo, StepsAreEvenlySpacedAndTheStampIsTheFirstOne) {
  HokuyoBench bench(sim::Options{{"model", "URG-04LX-UG01"}});
  bench.texts(0.95);
  bench.ask("MD0044072501000\n");
  const auto scans = bench.texts(0.3);
  CHECK_EQUAL(2, scans.size());
  const sim::ScanTruth& first = bench.out.scans[0];
  CHECK_EQUAL(1000, scan_of(scans[0]).stamp_ms);
  CHECK_EQUAL(1'000'000'000, first.device_ns);
  CHECK_EQUAL(1'000'000'000, (first.beams[0].at - sim_test::kStart).count());
  for (std::size_t i = 0; i < first.beams.size(); ++i)
    DOUBLES_EQUAL(97'656.25 * double(i), double((first.beams[i].at - first.beams[0].at).count()),
                  1.0);
  CHECK_EQUAL(100'000'000, (bench.out.scans[1].beams[0].at - first.beams[0].at).count());
  CHECK_TRUE(bench.out.frames[0].at >= first.beams.back().at);
}

TEST(SimHokuyo, TheStampMayBeThatOfTheEnd) {
  HokuyoBench bench(sim::Options{{"model", "UTM-30LX"}, {"stamp", "end"}});
  bench.ask("MD0000108000000\n");
  CHECK_EQUAL(18, scan_of(bench.first_text(0.1)).stamp_ms);  // 1080 steps of 17.36 us
}

TEST(SimHokuyo, TheStampWrapsAtTwentyFourBitsAndTheTruthDoesNot) {
  HokuyoBench bench(sim::Options{{"model", "UTM-30LX"}});
  CHECK_TRUE(bench.model().clock_period() == hal::Duration(16'777'216'000'000));
  bench.clock().restart(bench.now(), bench.model().clock_period().count() - 40'000'000);
  bench.ask("MD0000000000000\n");
  const auto scans = bench.texts(0.1);
  CHECK_EQUAL(4, scans.size());
  CHECK_EQUAL(16'777'176, scan_of(scans[0]).stamp_ms);
  CHECK_EQUAL(10, scan_of(scans[2]).stamp_ms);
  CHECK_EQUAL(16'777'226'000'000, bench.out.scans[2].device_ns);
}

TEST(SimHokuyo, TwoCharactersReachAsFarAsTwelveBits) {
  HokuyoBench bench(sim::Options{{"model", "URG-04LX-UG01"}});
  bench.ask("MS0044072501000\n");
  const Scan scan = scan_of(bench.first_text(0.1), 2);
  const sim::ScanTruth& truth = bench.out.scans[0];
  compare(scan, truth, kUrg, 44, 1, 20.0);
  for (const sim::TrueBeam& beam : truth.beams) {
    const double room = sim::Room::range(beam.angle);
    DOUBLES_EQUAL(room > 4.0955 ? 0.0 : room, beam.range, 1e-9);
  }
}

TEST(SimHokuyo, IntensitiesStandBehindTheDistances) {
  HokuyoBench bench(sim::Options{{"model", "UTM-30LX"}});
  bench.ask("ME0000108001000\n");
  const Scan both = scan_of(bench.first_text(0.03), 3, true);
  CHECK_EQUAL(1081, both.intensity.size());
  compare(both, bench.out.scans[0], kUtm, 0, 1, 23.0);
  for (std::size_t i = 0; i < both.mm.size(); ++i)
    CHECK_EQUAL(both.mm[i] < 23.0 ? 0.0 : 12000.0 - both.mm[i], both.intensity[i]);
}

TEST(SimHokuyo, AClusterIsTheShortestOfItsRangesWithoutErrors) {
  HokuyoBench bench(sim::Options{{"model", "URG-04LX-UG01"}});
  bench.ask("MD0044072505000\n");
  const Scan scan = scan_of(bench.first_text(0.1));
  const sim::ScanTruth& truth = bench.out.scans[0];
  CHECK_EQUAL(137, scan.mm.size());
  for (std::size_t i = 0; i < scan.mm.size(); ++i) {
    double shortest = 0.0;
    for (int s = 44 + 5 * int(i); s < 49 + 5 * int(i) && s <= 725; ++s) {
      const double one = sim::Room::range(sim::kTurn * (s - 384) / 1024.0);
      if (one > 0.0 && (shortest == 0.0 || one < shortest)) shortest = one;
    }
    DOUBLES_EQUAL(shortest * 1000.0, scan.mm[i] < 20 ? 0.0 : scan.mm[i], 0.501);
    DOUBLES_EQUAL(360.0 * (44 + 5 * double(i) - 384) / 1024.0, sim::degrees(truth.beams[i].angle),
                  1e-9);
  }
}

TEST(SimHokuyo, StepsThatAreNotMeasuredAreErrors) {
  HokuyoBench bench(sim::Options{{"model", "URG-04LX-UG01"}});
  bench.ask("MD0000076801000\n");
  const Scan scan = scan_of(bench.first_text(0.1));
  CHECK_EQUAL(769, scan.mm.size());
  bool seven = false;
  for (std::size_t i = 0; i < scan.mm.size(); ++i) {
    if (i < 44 || i > 725) CHECK_TRUE(scan.mm[i] < 20);
    seven = seven || scan.mm[i] == 7;
  }
  CHECK_TRUE(seven);
  compare(scan, bench.out.scans[0], kUrg, 0, 1, 20.0);
}

TEST(SimHokuyo, OnASlowLineScansAreLeftOut) {
  HokuyoBench bench(sim::Options{});
  bench.ask("SCIP2.0\n");
  bench.ask("MD0044072501000\n");
  const auto scans = bench.texts(5.0);
  CHECK_EQUAL(5, scans.size());  // 2.1 kB at 1920 bytes/s
  for (std::size_t i = 1; i < scans.size(); ++i) {
    const auto apart = bench.out.frames[i].at - bench.out.frames[i - 1].at;
    CHECK_TRUE(apart.count() >= std::int64_t(scans[i - 1].size()) * 10'000'000'000 / 19200);
    compare(scan_of(scans[i]), bench.out.scans[i], kUrg, 44, 1, 20.0);
  }
}

TEST(SimHokuyo, AFalsifiedScanStillHasGoodCheckCharacters) {
  HokuyoBench bench(sim::Options{{"model", "UTM-30LX"}});
  bench.ask("MD0000108001000\n");
  bench.texts(0.03);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(7);
  bench.model().falsify(frame, random);
  CHECK_EQUAL(bench.out.frames[0].bytes.size(), frame.size());
  CHECK_TRUE(frame != bench.out.frames[0].bytes);
  CHECK_EQUAL(1081, scan_of(hokuyo_test::text_of(frame)).mm.size());
}
