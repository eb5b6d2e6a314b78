// The simulated Leuze RSL: the worked example of the description, datagrams read byte by byte.
#include "test/unit/sim_lidar_points.h"

namespace {

using sim::get_le;
using sim::u8_at;

constexpr std::size_t kHead = 20;

struct Played {
  const char* model;
  std::size_t device, beams, blocks;
  double unit_deg, hz;
};
constexpr Played kPlayed[] = {{"RSL400", 0, 2700, 8, 0.1, 25.0}, {"RSL200", 1, 1351, 4, 0.2, 40.0}};

void check_head(hal::Bytes b, std::size_t kind, std::size_t device, std::size_t scan) {
  CHECK_EQUAL(b.size(), get_le(b, 0, 4));
  STRCMP_EQUAL("08 00 AF FE 04 15 02 C8", sim_test::hex_of(b.subspan(4, 8)).c_str());
  CHECK_EQUAL(kind, u8_at(b, 12));
  CHECK_EQUAL(device, u8_at(b, 13));
  CHECK_EQUAL(scan, get_le(b, 16, 4));
}

}  // namespace

TEST_GROUP(SimLeuzeRsl){};

TEST(SimLeuzeRsl, AScanIsAStatusAndBlocksOfOneNumber) {
  for (const Played& played : kPlayed) {
    sim_test::Bench bench("leuze_rsl", {{"model", played.model}});
    bench.run_for(3.5 / played.hz);
    std::size_t at = 0, truth = 0;
    for (std::size_t scan = 1; scan <= 3; ++scan) {
      const hal::Bytes status = bench.out.frames[at++].bytes;
      check_head(status, 1, played.device, scan);
      CHECK_EQUAL(played.device == 0 ? 48 : 56, status.size());
      CHECK_EQUAL(scan, get_le(status, played.device == 0 ? 28 : 36, 4));
      const std::size_t tail = status.size() - 8;
      CHECK_EQUAL(0, get_le(status, tail, 2));
      CHECK_EQUAL(played.device == 0 ? 2699 : 1350, get_le(status, tail + 2, 2));
      CHECK_EQUAL(1, get_le(status, tail + 4, 2));
      std::size_t beams = 0;
      for (std::size_t block = 0; block < played.blocks; ++block) {
        const sim::Frame& frame = bench.out.frames[at++];
        const hal::Bytes b = frame.bytes;
        check_head(b, 3, played.device, scan);
        CHECK_EQUAL(block, get_le(b, 14, 2));
        const std::size_t n = (b.size() - kHead) / 4;
        CHECK_EQUAL(block + 1 < played.blocks ? 360 : played.beams - 360 * block, n);
        std::vector<sim_test::LidarPoint> points;
        for (std::size_t i = 0; i < n; ++i)
          points.push_back({135.0 - played.unit_deg * static_cast<double>(beams + i),
                            static_cast<double>(get_le(b, kHead + 4 * i, 2)), 0});
        sim_test::check_points(points, bench.out.scans[truth], 0.0, 0.5);
        CHECK_TRUE(bench.out.scans[truth].beams.back().at == frame.at);
        ++truth;
        beams += n;
      }
      CHECK_EQUAL(played.beams, beams);
    }
  }
}

TEST(SimLeuzeRsl, TurnsAtItsOwnRateWhateverTheField) {
  sim_test::Bench bench("leuze_rsl", {{"start", "100"}, {"stop", "201"}, {"interval", "2"}});
  bench.run_for(1.0);
  const hal::Bytes status = bench.out.frames[0].bytes;
  CHECK_EQUAL(100, get_le(status, 40, 2));
  CHECK_EQUAL(201, get_le(status, 42, 2));
  CHECK_EQUAL(2, get_le(status, 44, 2));
  CHECK_EQUAL(kHead + 4 * 52, bench.out.frames[1].bytes.size());  // 1 + ceil(101 / 2)
  DOUBLES_EQUAL(125.0, sim::degrees(bench.out.scans[0].beams[0].angle), 1e-9);
  CHECK_EQUAL(25, bench.out.scans.size());
  CHECK_TRUE(bench.out.scans[1].beams[0].at - bench.out.scans[0].beams[0].at ==
             std::chrono::milliseconds(40));
}

TEST(SimLeuzeRsl, DistancesMayComeAlone) {
  sim_test::Bench bench("leuze_rsl", {{"amplitude", "off"}});
  bench.run_for(0.02);
  const hal::Bytes b = bench.out.frames[1].bytes;
  check_head(b, 6, 0, 1);
  CHECK_EQUAL(kHead + 2 * 360, b.size());
  DOUBLES_EQUAL(bench.out.scans[0].beams[7].range * 1000.0,
                static_cast<double>(get_le(b, kHead + 14, 2)), 0.5);
}

TEST(SimLeuzeRsl, ATurnMayLeaveAtOnce) {
  sim_test::Bench bench("leuze_rsl", {{"report", "turn"}});
  bench.run_for(0.035);
  CHECK_EQUAL(9, bench.out.frames.size());
  for (const sim::Frame& frame : bench.out.frames)
    CHECK_TRUE(frame.at == bench.out.scans.back().beams.back().at);
}

TEST(SimLeuzeRsl, AFieldThatItsModelHasNotIsRefused) {
  const sim::ModelRow& row = *sim::find_model("leuze_rsl");
  const auto settings = sim::Settings::check(row.options, {{"model", "RSL200"}, {"stop", "1351"}});
  sim::DeviceClock clock(1);
  CHECK_FALSE(row.make({*settings, clock}));
}
