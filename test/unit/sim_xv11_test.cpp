#include "test/unit/sim_lidar_points.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;
using sim_test::LidarPoint;

namespace {

// The same sum in closed form: word i weighs 2^(9 - i).
unsigned checksum_of(hal::Bytes packet) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < 10; ++i) sum += sim::get_le(packet, 2 * i, 2) << (9 - i);
  return static_cast<unsigned>((sum % 32768 + sum / 32768) % 32768);
}

bool is_intact(hal::Bytes packet) {
  return packet[0] == std::byte{0xFA} && checksum_of(packet) == sim::get_le(packet, 20, 2);
}

LidarPoint point_of(hal::Bytes reading, double angle) {
  const std::uint64_t word = sim::get_le(reading, 0, 2);
  return {angle, (word & 0x8000U) != 0 ? 0.0 : static_cast<double>(word & 0x3FFFU),
          static_cast<double>(sim::get_le(reading, 2, 2))};
}

std::vector<LidarPoint> points_of(hal::Bytes packet) {
  std::vector<LidarPoint> points;
  for (std::size_t k = 0; k < 4; ++k)
    points.push_back(point_of(packet.subspan(4 + 4 * k, 4),
                              (sim::u8_at(packet, 1) - 160.0) * 4.0 + static_cast<double>(k)));
  return points;
}

}  // namespace

TEST_GROUP(SimXv11){};

TEST(SimXv11, RecordedPacketsHaveThisChecksum) {
  CHECK_TRUE(
      is_intact(bytes_of("fa da 43 4a 3d 02 29 01 34 02 20 01 2d 02 2c 01 24 02 36 01 da 17")));
  CHECK_TRUE(
      is_intact(bytes_of("fa ef 49 4a c0 01 5a 01 b8 01 63 01 b1 01 6b 01 aa 01 86 01 15 5d")));
}

TEST(SimXv11, ARecordedStreamIsReadAsTheSimulatedOne) {
  const sim::ByteVector real = sim_test::bytes_of_capture("neato-xv11/hand_in_box_head_22k.bin");
  if (real.empty()) {
    std::puts("skipped: no captures/neato-xv11");
    return;
  }
  CHECK_EQUAL(999, sim_test::frames_in(real, 22, is_intact).size());
  Bench bench("xv11");
  bench.run_for(1.0);
  sim::ByteVector stream;
  for (const sim::Frame& frame : bench.out.frames)
    stream.insert(stream.end(), frame.bytes.begin(), frame.bytes.end());
  CHECK_EQUAL(450, sim_test::frames_in(stream, 22, is_intact).size());
}

TEST(SimXv11, TheFirstPacketIsLaidOutAsDescribed) {
  Bench bench("xv11");
  bench.run_for(0.002);
  CHECK_EQUAL(1, bench.out.frames.size());
  // Index 0, 19200 / 64 rpm, the front wall at 4000 mm with signal 300, then 4001, 4002, 4005.
  STRCMP_EQUAL("FA A0 00 4B A0 0F 2C 01 A1 0F 2C 01 A2 0F 2C 01 A5 0F 2C 01",
               hex_of(hal::Bytes(bench.out.frames[0].bytes).first(20)).c_str());
  CHECK_TRUE(is_intact(bench.out.frames[0].bytes));
  // The fourth of readings that are 1/1800 s apart.
  CHECK_TRUE(bench.out.frames[0].at == sim_test::kStart + hal::Duration(1'666'666));
}

TEST(SimXv11, ATurnHasNinetyPacketsAndAReadingPerDegree) {
  Bench bench("xv11", {{"model", "LDS02RR"}});
  bench.run_for(1.0);
  CHECK_EQUAL(450, bench.out.frames.size());
  for (std::size_t f = 0; f < bench.out.frames.size(); ++f) {
    const sim::ByteVector& packet = bench.out.frames[f].bytes;
    CHECK_TRUE(is_intact(packet));
    CHECK_EQUAL(0xA0 + f % 90, sim::u8_at(packet, 1));
    sim_test::check_points(points_of(packet), bench.out.scans[f], 0.0, 0.5);
  }
}

TEST(SimXv11, WhereNothingComesBackTheReadingIsInvalidAndHoldsACode) {
  Bench bench("xv11");
  bench.run_for(0.2);
  std::size_t invalid = 0, warned = 0;
  for (const sim::Frame& frame : bench.out.frames)
    for (std::size_t k = 0; k < 4; ++k) {
      const std::uint64_t word = sim::get_le(frame.bytes, 4 + 4 * k, 2);
      if ((word & 0x8000U) != 0) CHECK_EQUAL(0x8002, word);
      invalid += word >> 15U;
      warned += word >> 14U & 1U;
    }
  CHECK_EQUAL(11, invalid);  // 100 to 110 degrees
  CHECK_TRUE(warned > 0);    // the far corner
}

TEST(SimXv11, AMotorOutsideItsSpeedsMakesEveryReadingInvalid) {
  for (const char* rpm : {"239", "120"}) {
    Bench bench("xv11", {{"rpm", rpm}});
    bench.run_for(0.5);
    for (std::size_t f = 0; f < bench.out.frames.size(); ++f)
      for (const LidarPoint& point : points_of(bench.out.frames[f].bytes))
        CHECK_EQUAL(0.0, point.mm);
    for (const sim::ScanTruth& truth : bench.out.scans)
      for (const sim::TrueBeam& beam : truth.beams) CHECK_EQUAL(0.0, beam.range);
    CHECK_EQUAL(std::stoul(rpm) * 64, sim::get_le(bench.out.frames[0].bytes, 2, 2));
  }
  Bench slowest("xv11", {{"rpm", "240"}});
  slowest.run_for(0.01);
  CHECK_EQUAL(4000.0, points_of(slowest.out.frames[0].bytes)[0].mm);
}

TEST(SimXv11, OldFirmwareSendsWholeTurnsWithoutAChecksum) {
  Bench bench("xv11", {{"firmware", "2.1"}});
  bench.run_for(1.0);
  CHECK_EQUAL(5, bench.out.frames.size());
  for (std::size_t f = 0; f < 5; ++f) {
    const hal::Bytes turn(bench.out.frames[f].bytes);
    CHECK_EQUAL(1446, turn.size());
    STRCMP_EQUAL("5A A5 00 C0 00 4B", hex_of(turn.first(6)).c_str());
    std::vector<LidarPoint> points;
    for (std::size_t k = 0; k < 360; ++k)
      points.push_back(point_of(turn.subspan(6 + 4 * k, 4), static_cast<double>(k)));
    sim_test::check_points(points, bench.out.scans[f], 0.0, 0.5);
  }
}

TEST(SimXv11, AFalsifiedPacketKeepsItsPlaceAndAGoodChecksum) {
  Bench bench("xv11");
  bench.run_for(0.01);
  sim::ByteVector packet = bench.out.frames[2].bytes;
  sim::Random random(7);
  bench.model->falsify(packet, random);
  CHECK_TRUE(packet != bench.out.frames[2].bytes);
  CHECK_TRUE(is_intact(packet));
  CHECK_EQUAL(0xA2, sim::u8_at(packet, 1));
}
