#include "test/unit/sim_lidar_points.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;
using sim_test::LidarPoint;

namespace {

// Adding the check byte to the sum of the forty bytes before it gives 0xFF; it stands there twice.
bool is_intact(hal::Bytes packet) {
  unsigned sum = sim::u8_at(packet, 40);
  for (std::size_t i = 0; i < 40; ++i) sum += sim::u8_at(packet, i);
  return packet[0] == std::byte{0xFA} && packet[40] == packet[41] && sum % 256 == 255;
}

std::vector<LidarPoint> points_of(hal::Bytes packet) {
  std::vector<LidarPoint> points;
  for (std::size_t k = 0; k < 6; ++k) {
    const double index = (sim::u8_at(packet, 1) - 160.0) * 6.0 + static_cast<double>(k);
    points.push_back({359.0 - index, static_cast<double>(sim::get_le(packet, 6 + 6 * k, 2)),
                      static_cast<double>(sim::get_le(packet, 4 + 6 * k, 2))});
  }
  return points;
}

}  // namespace

TEST_GROUP(SimHldsLds01){};

TEST(SimHldsLds01, TheWorkedExampleIsReadWithTheLayoutOfTheseTests) {
  const auto packet = bytes_of(
      "fa a0 b8 0b b0 04 e8 03 00 00 b1 04 f2 03 00 00 b2 04 fc 03 00 00 b3 04 06 04 00 00 b4 04 "
      "10 "
      "04 00 00 b5 04 1a 04 00 00 40 40");
  CHECK_TRUE(is_intact(packet));
  const auto points = points_of(packet);
  for (std::size_t k = 0; k < 6; ++k) {
    const auto n = static_cast<double>(k);
    CHECK_EQUAL(359.0 - n, points[k].ccw_deg);
    CHECK_EQUAL(1000.0 + 10.0 * n, points[k].mm);
    CHECK_EQUAL(1200.0 + n, points[k].strength);
  }
}

TEST(SimHldsLds01, TheFirstPacketIsLaidOutAsDescribed) {
  Bench bench("hlds_lds01");
  bench.run_for(0.004);
  CHECK_EQUAL(1, bench.out.frames.size());
  const hal::Bytes packet(bench.out.frames[0].bytes);
  // 3000 tenths of a turn a minute; 4001 mm at -1 degree, intensity 12000 / 5.
  STRCMP_EQUAL("FA A0 B8 0B 60 09 A1 0F 00 00", hex_of(packet.first(10)).c_str());
  CHECK_EQUAL(42, packet.size());
  CHECK_TRUE(bench.out.frames[0].at == sim_test::kStart + hal::Duration(2'777'777));
}

TEST(SimHldsLds01, ATurnHasSixtyPacketsThatShowTheRoomClockwise) {
  Bench bench("hlds_lds01");
  bench.run_for(1.0);
  CHECK_EQUAL(300, bench.out.frames.size());
  std::size_t silent = 0;
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const sim::ByteVector& packet = bench.out.frames[f].bytes;
    CHECK_TRUE(is_intact(packet));
    CHECK_EQUAL(0xA0 + f % 60, sim::u8_at(packet, 1));
    sim_test::check_points(points_of(packet), bench.out.scans[f], 0.0, 0.5);
    for (const LidarPoint& point : points_of(packet)) {
      if (point.mm == 0.0) CHECK_TRUE(point.ccw_deg >= 100.0 && point.ccw_deg <= 110.0);
      if (point.mm == 0.0) CHECK_EQUAL(0.0, point.strength);
      if (point.mm == 0.0) ++silent;
    }
  }
  CHECK_EQUAL(5 * 11, silent);
}

TEST(SimHldsLds01, LettersStartAndStopItWithoutAnAnswer) {
  Bench bench("hlds_lds01", {{"running", "off"}});
  bench.run_for(0.5);
  CHECK_EQUAL(0, bench.out.frames.size());
  CHECK_EQUAL(0, bench.ask("62").size());
  bench.run_for(0.5);
  CHECK_EQUAL(150, bench.out.frames.size());
  CHECK_EQUAL(0, bench.ask("65").size());
  bench.run_for(0.5);
  CHECK_EQUAL(0, bench.out.frames.size());
}

TEST(SimHldsLds01, AStartWhileItRunsAndOtherLettersChangeNothing) {
  Bench bench("hlds_lds01"), other("hlds_lds01");
  bench.run_for(0.1005);
  CHECK_EQUAL(0, bench.ask("62 42 45 00 FF 0D 0A").size());
  bench.run_for(0.1);
  other.run_for(0.1005);
  other.out.clear();
  other.run_for(0.1);
  CHECK_EQUAL(other.out.frames.size(), bench.out.frames.size());
  CHECK_TRUE(other.out.frames[0].bytes == bench.out.frames[0].bytes);
  CHECK_TRUE(other.out.frames[0].at == bench.out.frames[0].at);
}

TEST(SimHldsLds01, AfterAStopTheSamePacketIsMeasuredAgain) {
  Bench bench("hlds_lds01");
  bench.run_for(0.0102);  // three packets and a part of the fourth
  (void)bench.ask("65");
  bench.run_for(0.3);
  (void)bench.ask("62");
  bench.run_for(0.003);
  CHECK_EQUAL(1, bench.out.frames.size());
  CHECK_EQUAL(0xA3, sim::u8_at(bench.out.frames[0].bytes, 1));
  CHECK_TRUE(bench.out.scans[0].beams[0].at == sim_test::kStart + hal::from_seconds(0.3102));
}

TEST(SimHldsLds01, AFalsifiedPacketHasGoodCheckBytes) {
  Bench bench("hlds_lds01");
  bench.run_for(0.004);
  sim::ByteVector packet = bench.out.frames[0].bytes;
  sim::Random random(7);
  bench.model->falsify(packet, random);
  CHECK_TRUE(packet != bench.out.frames[0].bytes);
  CHECK_TRUE(is_intact(packet));
}
