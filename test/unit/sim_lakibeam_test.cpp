// The simulated Lakibeam: datagrams read byte by byte, as the description lays them out.
#include "test/unit/sim_lidar_points.h"

namespace {

using sim::get_le;
using sim::u8_at;

class LakibeamBench : public sim_test::Bench {
 public:
  explicit LakibeamBench(const sim::Options& set) : Bench("lakibeam", set) {
    run_for(0.3);
    for (const sim::Frame& frame : out.frames) {
      CHECK_EQUAL(1206, frame.bytes.size());
      STRCMP_EQUAL("37 40", sim_test::hex_of(hal::Bytes(frame.bytes).subspan(1204)).c_str());
      for (std::size_t at = 0; at < 1200; at += 100)
        CHECK_EQUAL(0xEEFF, get_le(frame.bytes, at, 2));
    }
  }
};

}  // namespace

TEST_GROUP(SimLakibeam){};

TEST(SimLakibeam, PointsLieBehindTheAzimuthOfTheirBlock) {
  const struct {
    const char* mode;
    double step_deg;
  } cases[] = {{"normal", 0.25}, {"fine", 0.1}};
  for (const auto& c : cases) {
    LakibeamBench bench(sim::Options{{"mode", c.mode}});
    CHECK_EQUAL(bench.out.frames.size(), bench.out.scans.size());
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      const hal::Bytes b = bench.out.frames[f].bytes;
      std::vector<sim_test::LidarPoint> points;
      for (std::size_t block = 0; block < 12; ++block)
        for (std::size_t i = 0; i < 16; ++i) {
          const std::size_t at = 100 * block + 4 + 6 * i;
          CHECK_EQUAL(0, get_le(b, at + 3, 3));
          points.push_back({static_cast<double>(get_le(b, 100 * block + 2, 2)) / 100.0 - 180.0 +
                                c.step_deg * static_cast<double>(i),
                            static_cast<double>(get_le(b, at, 2)), 0});
        }
      sim_test::check_points(points, bench.out.scans[f], 0.0, 0.5);
      CHECK_EQUAL(static_cast<std::uint64_t>(bench.out.scans[f].device_ns),
                  get_le(b, 1200, 4) * 1000);
    }
  }
}

TEST(SimLakibeam, ATurnHasSixtyNineBlocksThatAreSeen) {
  for (const char* blind : {"absent", "unused"}) {
    LakibeamBench bench(sim::Options{{"blind", blind}});
    std::size_t turn = 0, blocks = 0, unused = 0;
    for (const sim::Frame& frame : bench.out.frames)
      for (std::size_t at = 0; at < 1200; at += 100) {
        const std::size_t azimuth = get_le(frame.bytes, at + 2, 2);
        if (azimuth == 0 && ++turn == 3) CHECK_EQUAL(138, blocks);
        if (azimuth == 0xFFFF)
          ++unused;
        else
          ++blocks;
      }
    CHECK_EQUAL(std::string_view(blind) == "unused", unused > 0);
    CHECK_TRUE(turn > 3);
  }
}

TEST(SimLakibeam, ASecondReturnIsFartherAndWeaker) {
  LakibeamBench bench(sim::Options{{"returns", "2"}});
  for (const sim::Frame& frame : bench.out.frames)
    for (std::size_t at = 4; at < 100; at += 6) {
      const std::size_t first = get_le(frame.bytes, at, 2);
      DOUBLES_EQUAL(first == 0 ? 0.0 : static_cast<double>(first) + 250.0,
                    static_cast<double>(get_le(frame.bytes, at + 3, 2)), 1.0);
      CHECK_TRUE(u8_at(frame.bytes, at + 5) <= u8_at(frame.bytes, at + 2));
    }
}

TEST(SimLakibeam, TheTimeMayBeMissing) {
  LakibeamBench bench(sim::Options{{"stamps", "off"}});
  for (const sim::Frame& frame : bench.out.frames) CHECK_EQUAL(0, get_le(frame.bytes, 1200, 4));
}
