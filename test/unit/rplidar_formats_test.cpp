#include "drivers/rplidar/formats.h"

#include <array>
#include <cmath>
#include <numbers>

#include "test/support/harness.h"
#include "test/support/rplidar_frames.h"

using namespace drivers;
using namespace drivers::rplidar;
namespace device = test::rplidar;

TEST_GROUP(RplidarFormats) {
  std::array<Beam, kMostSamples> beams{};

  static const Format& format(unsigned answer) { return *find_format(answer); }
  void check(const Beam& beam, double clockwise_deg, double mm) {
    const double deg = -static_cast<double>(beam.angle) * 180 / std::numbers::pi;
    DOUBLES_EQUAL(0, std::remainder(deg - clockwise_deg, 360), 1e-3);
    DOUBLES_EQUAL(mm, static_cast<double>(beam.range) * 1000, 0.01);
  }
  void check(const Beam& beam, double clockwise_deg, double mm, double quality) {
    check(beam, clockwise_deg, mm);
    DOUBLES_EQUAL(quality, static_cast<double>(beam.intensity), 0);
  }
};

TEST(RplidarFormats, StandardNodesOfTheProtocol) {
  check(decode_node(device::hex("3D 01 2D A0 0F")), 90, 1000, 15);
  check(decode_node(device::hex("52 C1 3D A5 24")), 123.5, 2345.25, 20);
  check(decode_node(device::hex("02 8F 63 00 00")), 199.109, 0, 0);
  check(decode_node(device::hex("BD 01 00 A0 0F")), 0, 1000, 47);
  check(decode_node(device::hex("BE 81 00 A4 0F")), 1, 1001, 47);
}

TEST(RplidarFormats, AStandardNodeHasItsStartFlagAndItsInverse) {
  CHECK_TRUE(has_start_flag(format(0x81), device::hex("3D 01 2D A0 0F")));
  CHECK_FALSE(has_start_flag(format(0x81), device::hex("52 C1 3D A5 24")));
  CHECK_TRUE(may_start(format(0x81), device::hex("3D 01")));
  CHECK_FALSE(may_start(format(0x81), device::hex("3F 01")));
  CHECK_FALSE(may_start(format(0x81), device::hex("3C 01")));
  CHECK_FALSE(may_start(format(0x81), device::hex("3D 00")));
}

TEST(RplidarFormats, ExpressCabinOfTheProtocol) {
  auto capsule = device::express(324.28125, 0);
  const auto cabin = device::hex("7E 09 72 09 DE");
  std::ranges::copy(cabin, capsule.begin() + 4);
  const double step = (339.421875 - 324.28125) / 32;
  decode_capsule(format(0x82), capsule, capsule, step, beams);
  check(beams[0], 318.53125, 607);
  check(beams[1], 319.1294, 604);
}

TEST(RplidarFormats, UltraCabinOfTheProtocol) {
  auto capsule = device::ultra(74.96875, {0x00001115, 0x116});
  decode_capsule(format(0x84), capsule, capsule, 0.381673, beams);
  check(beams[0], 71.898, 277);
  DOUBLES_EQUAL(0.278, static_cast<double>(beams[1].range), 1e-6);
  DOUBLES_EQUAL(0.278, static_cast<double>(beams[2].range), 1e-6);
}

TEST(RplidarFormats, UltraMajorsGrowCoarserWithDistance) {
  const std::array coded{511u, 512u, 1000u, 1279u, 1280u, 1500u, 1792u, 2000u, 3328u, 4095u};
  const std::array mm{511.0,  512.0,  1488.0, 2046.0,  2048.0,
                      2928.0, 4096.0, 5760.0, 16384.0, 28656.0};
  for (std::size_t i = 0; i < coded.size(); ++i) {
    const auto capsule = device::ultra(0, {device::cabin(coded[i], 1, -1)});
    decode_capsule(format(0x84), capsule, capsule, 0, beams);
    DOUBLES_EQUAL(mm[i], static_cast<double>(beams[0].range) * 1000, 0.01);
  }
}

TEST(RplidarFormats, UltraPredictionsAreScaledByTheLevelOfTheirBase) {
  // 1000 -> 1488 mm at level 1, 1500 -> 2928 mm at level 2
  const auto capsule = device::ultra(0, {device::cabin(1000, 10, -10), device::cabin(1500, 0, 0)});
  decode_capsule(format(0x84), capsule, capsule, 0, beams);
  DOUBLES_EQUAL(1488 + 20, static_cast<double>(beams[1].range) * 1000, 0.01);
  DOUBLES_EQUAL(2928 - 40, static_cast<double>(beams[2].range) * 1000, 0.01);
}

TEST(RplidarFormats, UltraExtremePredictionsAreNoReturns) {
  const auto capsule = device::ultra(0, {device::cabin(1000, -512, 511)});
  decode_capsule(format(0x84), capsule, capsule, 0, beams);
  check(beams[1], -7.5, 0);
  check(beams[2], -7.5, 0);
}

TEST(RplidarFormats, UltraPredictsFromTheNextMajorWhenItsOwnIsMissing) {
  const auto capsule = device::ultra(0, {device::cabin(0, 5, 5), device::cabin(300, 0, 0)});
  decode_capsule(format(0x84), capsule, capsule, 0, beams);
  DOUBLES_EQUAL(0, static_cast<double>(beams[0].range), 0);
  DOUBLES_EQUAL(0.305, static_cast<double>(beams[1].range), 1e-6);
}

TEST(RplidarFormats, UltraNeverPredictsANegativeRange) {
  const auto capsule = device::ultra(0, {device::cabin(3, -100, -100)});
  decode_capsule(format(0x84), capsule, capsule, 0, beams);
  DOUBLES_EQUAL(0, static_cast<double>(beams[1].range), 0);
  DOUBLES_EQUAL(0, static_cast<double>(beams[2].range), 0);
}

TEST(RplidarFormats, UltraTakesItsLastBaseFromTheNextCapsule) {
  const auto capsule = device::ultra(0, {device::cabin(100, 0, 7)});
  const auto next = device::ultra(10, {device::cabin(400, 0, 0)});
  decode_capsule(format(0x84), capsule, next, 0, beams);
  DOUBLES_EQUAL(0.107, static_cast<double>(beams[92].range), 1e-6);
  DOUBLES_EQUAL(0.407, static_cast<double>(beams[95].range), 1e-6);
}

TEST(RplidarFormats, DenseCapsuleOfTheProtocol) {
  const auto capsule = device::dense(90, 1000, true);
  CHECK_TRUE(test::Stream(capsule.begin(), capsule.begin() + 6) ==
             device::hex("A6 51 80 96 E8 03"));
  CHECK_TRUE(has_start_flag(format(0x85), capsule));
  decode_capsule(format(0x85), capsule, capsule, 0.1125, beams);
  for (std::size_t k = 0; k < 40; ++k) check(beams[k], 90 + 0.1125 * static_cast<double>(k), 1000);
}

TEST(RplidarFormats, UltraDenseScalesOfTheProtocol) {
  auto capsule = device::ultra_dense(45, 0xC87D0, 0xC8F61);
  CHECK_TRUE(test::Stream(capsule.begin() + 10, capsule.begin() + 15) ==
             device::hex("D0 87 61 8F CC"));
  decode_capsule(format(0x86), capsule, capsule, 0.1, beams);
  check(beams[0], 45, 1000, 200);
  check(beams[1], 45.1, 4998, 200);
  check(beams[63], 45 + 6.3, 4998, 200);
  capsule = device::ultra_dense(45, 0xCAE26, 0xC90FB);
  decode_capsule(format(0x86), capsule, capsule, 0.1, beams);
  check(beams[0], 45, 19999, 200);
  check(beams[1], 45.1, 29997, 200);
}

TEST(RplidarFormats, HqChecksumCountsThreeZeroBytesMore) {
  test::Stream frame = device::hex("A5");
  frame.resize(777);
  device::put(frame, 0x92C940B9, 4);
  CHECK_TRUE(is_intact(format(0x83), frame));
  frame.resize(777);
  device::put(frame, 0x61F31548, 4);
  CHECK_FALSE(is_intact(format(0x83), frame));
}

TEST(RplidarFormats, HqCarriesWholeSamples) {
  const auto frame = device::hq(350, 0.5, 1234.25, 33, 20);
  CHECK_TRUE(is_intact(format(0x83), frame));
  LONGS_EQUAL(20, decode_hq(frame, beams));
  DOUBLES_EQUAL(1.23425, static_cast<double>(beams[5].range), 1e-6);
  DOUBLES_EQUAL(33, static_cast<double>(beams[5].intensity), 0);
  DOUBLES_EQUAL(-352.5 * std::numbers::pi / 180, static_cast<double>(beams[5].angle), 1e-4);
  LONGS_EQUAL(drivers::rplidar::kMostSamples, decode_hq(device::hq(100, 0.5, 1, 0, -1), beams));
}
