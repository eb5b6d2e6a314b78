#include "test/unit/sim_lidar_points.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;
using sim_test::LidarPoint;

namespace {

// The same sum in closed form: word i weighs 2^(16 - i).
bool is_intact(hal::Bytes packet) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 17; ++i) sum += sim::get_le(packet, 2 * i, 2) << (16 - i);
  sum &= 0xFFFFFFFFU;
  return sim::get_be(packet, 0, 4) == 0x55AA0308U &&
         (sum % 32768 + sum / 32768) % 32768 == sim::get_le(packet, 34, 2);
}

double angle_at(hal::Bytes packet, std::size_t at) {
  return static_cast<double>(sim::get_le(packet, at, 2)) / 64.0 - 640.0;
}

// Clockwise as the device counts.
std::vector<LidarPoint> points_of(hal::Bytes packet) {
  const double start = angle_at(packet, 6);
  const double span = std::fmod(angle_at(packet, 32) - start + 360.0, 360.0);
  std::vector<LidarPoint> points;
  for (std::size_t i = 0; i < 8; ++i) {
    const std::uint64_t word = sim::get_le(packet, 8 + 3 * i, 2);
    points.push_back({-(start + static_cast<double>(i) * span / 7.0),
                      (word & 0x8000U) != 0 ? 0.0 : static_cast<double>(word),
                      static_cast<double>(sim::u8_at(packet, 10 + 3 * i))});
  }
  return points;
}

}  // namespace

TEST_GROUP(SimCamsenseX1){};

TEST(SimCamsenseX1, ARecordedPacketIsReadWithTheLayoutOfTheseTests) {
  const auto packet = bytes_of(
      "55 aa 03 08 ec 4d 6c c4 00 80 00 00 80 00 00 80 00 00 80 00 00 80 00 81 06 14 7e 06 33 7d "
      "06 "
      "33 f6 c5 49 3c");
  CHECK_TRUE(is_intact(packet));
  const auto points = points_of(packet);
  DOUBLES_EQUAL(-145.6875, points[0].ccw_deg, 1e-9);
  DOUBLES_EQUAL(-150.085, points[5].ccw_deg, 1e-3);
  DOUBLES_EQUAL(-151.84375, points[7].ccw_deg, 1e-9);
  CHECK_EQUAL(0.0, points[4].mm);
  CHECK_EQUAL(1665.0, points[5].mm);
  CHECK_EQUAL(20.0, points[5].strength);
}

TEST(SimCamsenseX1, TheFirstPacketIsLaidOutAsDescribed) {
  Bench bench("camsense_x1");
  bench.run_for(0.004);
  CHECK_EQUAL(1, bench.out.frames.size());
  const hal::Bytes packet(bench.out.frames[0].bytes);
  CHECK_EQUAL(36, packet.size());
  // 312 rpm, 0 degrees, 4000 mm with quality 28; the end at 6.3 degrees.
  STRCMP_EQUAL("55 AA 03 08 00 4E 00 A0 A0 0F 1C", hex_of(packet.first(11)).c_str());
  DOUBLES_EQUAL(6.3, angle_at(packet, 32), 0.5 / 64.0);
  CHECK_TRUE(bench.out.frames[0].at == sim_test::kStart + hal::Duration(3'365'384));
}

TEST(SimCamsenseX1, PacketsStepByAboutSevenDegreesAndShowTheRoom) {
  Bench bench("camsense_x1");
  bench.run_for(1.0);
  CHECK_EQUAL(260, bench.out.frames.size());
  double before = -7.2;
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const sim::ByteVector& packet = bench.out.frames[f].bytes;
    CHECK_TRUE(is_intact(packet));
    const double start = angle_at(packet, 6);
    CHECK_TRUE(start >= 0.0 && start <= 360.0);
    const double step = std::fmod(start - before + 360.0, 360.0);
    CHECK_TRUE(step > 6.9 && step < 7.6);
    before = start;
    sim_test::check_points(points_of(packet), bench.out.scans[f], 0.5 / 64.0, 0.5);
  }
}

TEST(SimCamsenseX1, ABeamWithoutReturnIs8000WithQualityZero) {
  Bench bench("camsense_x1");
  bench.run_for(0.2);
  std::size_t silent = 0;
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f)
    for (std::size_t i = 0; i < 8; ++i) {
      if (bench.out.scans[f].beams[i].range > 0.0) continue;
      ++silent;
      STRCMP_EQUAL("00 80 00",
                   hex_of(hal::Bytes(bench.out.frames[f].bytes).subspan(8 + 3 * i, 3)).c_str());
    }
  CHECK_TRUE(silent > 8 && silent < 16);
}

TEST(SimCamsenseX1, TheZeroTurnsTheRoomUnderTheDevicesAngles) {
  Bench bench("camsense_x1", {{"zero_deg", "196"}});
  bench.run_for(0.3);
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    auto points = points_of(bench.out.frames[f].bytes);
    for (LidarPoint& point : points) point.ccw_deg -= 196.0;
    sim_test::check_points(points, bench.out.scans[f], 0.5 / 64.0, 0.5);
  }
}

TEST(SimCamsenseX1, AnotherSpeedChangesTheStepAndNotTheSampling) {
  Bench bench("camsense_x1", {}, 6.5);
  bench.run_for(1.0);
  CHECK_EQUAL(260, bench.out.frames.size());
  CHECK_EQUAL(24960, sim::get_le(bench.out.frames[0].bytes, 4, 2));
  DOUBLES_EQUAL(9.0, angle_at(bench.out.frames[1].bytes, 6), 1e-9);
}

TEST(SimCamsenseX1, AFalsifiedPacketHasAGoodChecksum) {
  Bench bench("camsense_x1");
  bench.run_for(0.004);
  sim::ByteVector packet = bench.out.frames[0].bytes;
  sim::Random random(7);
  bench.model->falsify(packet, random);
  CHECK_TRUE(packet != bench.out.frames[0].bytes);
  CHECK_TRUE(is_intact(packet));
}
