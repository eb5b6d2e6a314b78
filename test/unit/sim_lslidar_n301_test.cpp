// The simulated LSLIDAR N301: datagrams read byte by byte, in both protocols.
#include "test/unit/sim_lidar_points.h"

namespace {

using sim::get_le;
using sim::u8_at;

struct Protocol {
  const char* name;
  std::size_t per_group;
  double unit_mm;
};
constexpr Protocol kProtocols[] = {{"1.7", 15, 4.0}, {"1.6", 1, 2.0}};

}  // namespace

TEST_GROUP(SimLslidarN301){};

TEST(SimLslidarN301, PointsLieClockwiseBetweenTheAzimuthsOfTheirBlocks) {
  for (const Protocol& protocol : kProtocols) {
    sim_test::Bench bench("lslidar_n301", {{"protocol", protocol.name}});
    bench.run_for(0.25);
    const double block_deg = protocol.per_group == 15 ? 0.6 : 0.36;
    const auto per_block = static_cast<double>(2 * protocol.per_group);
    CHECK_TRUE(bench.out.frames.size() > 50);
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
      const hal::Bytes b = bench.out.frames[f].bytes;
      CHECK_EQUAL(1206, b.size());
      std::vector<sim_test::LidarPoint> points;
      for (std::size_t block = 0; block < 12; ++block) {
        CHECK_EQUAL(0xEEFF, get_le(b, 100 * block, 2));
        const double azimuth = static_cast<double>(get_le(b, 100 * block + 2, 2)) / 100.0;
        for (std::size_t i = 0; i < 2 * protocol.per_group; ++i) {
          const std::size_t group = i / protocol.per_group, k = i % protocol.per_group;
          points.push_back(
              {-(azimuth + block_deg / per_block * static_cast<double>(i)),
               static_cast<double>(get_le(b, 100 * block + 4 + 48 * group + 3 * k, 2)) *
                   protocol.unit_mm,
               0});
        }
      }
      sim_test::check_points(points, bench.out.scans[f], 0.0, protocol.unit_mm / 2.0);
      CHECK_EQUAL(static_cast<std::uint64_t>(bench.out.scans[f].device_ns % 1'000'000'000 / 1000),
                  get_le(b, 1200, 4));
    }
  }
}

TEST(SimLslidarN301, TheDateStandsInBytesThatNoPointUses) {
  const struct {
    const char* protocol;
    std::size_t date, time;
  } cases[] = {{"1.7", 49, 97}, {"1.6", 94, 97}};
  for (const auto& c : cases) {
    // 2026-12-01 12:34:56
    sim_test::Bench bench("lslidar_n301", {{"protocol", c.protocol}, {"unix_s", "1796128496"}});
    bench.run_for(1.5);
    CHECK_TRUE(!bench.out.frames.empty());
    for (std::size_t block = 0; block < 12; ++block) {
      const hal::Bytes b = hal::Bytes(bench.out.frames.front().bytes).subspan(100 * block, 100);
      STRCMP_EQUAL("1A 0C 01", sim_test::hex_of(b.subspan(c.date, 3)).c_str());
      STRCMP_EQUAL("0C 22 38", sim_test::hex_of(b.subspan(c.time, 3)).c_str());
      const hal::Bytes later = hal::Bytes(bench.out.frames.back().bytes).subspan(100 * block, 100);
      STRCMP_EQUAL("0C 22 39", sim_test::hex_of(later.subspan(c.time, 3)).c_str());
    }
  }
}

TEST(SimLslidarN301, TurnsAtTheRateItIsGiven) {
  sim_test::Bench bench("lslidar_n301", {{"protocol", "1.6"}}, 20.0);
  bench.run_for(1.0);
  std::size_t turns = 0;
  for (const sim::Frame& frame : bench.out.frames)
    for (std::size_t at = 0; at < 1200; at += 100) turns += get_le(frame.bytes, at + 2, 2) == 0;
  DOUBLES_EQUAL(20.0, static_cast<double>(turns), 1.0);
}
