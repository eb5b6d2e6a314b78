#include "test/sim/fdilink.h"

#include <cmath>
#include <cstring>

#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;

namespace {

double f32_at(hal::Bytes bytes, std::size_t at) {
  const auto bits = static_cast<std::uint32_t>(sim::get_le(bytes, at, 4));
  float value = 0;
  std::memcpy(&value, &bits, 4);
  return static_cast<double>(value);
}

constexpr const char* kWorked[] = {
    "FC 40 38 07 8A 65 22 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C CD CC CC 3D CD CC 4C BE C3 F5 1C C1 "
    "00 00 48 43 00 00 48 C2 00 00 C8 43 00 00 C8 41 80 E6 C5 47 00 00 C8 41 60 E3 16 00 00 00 00 "
    "00 FD",
    "FC 41 30 08 16 2C 49 0A D7 23 3C 0A D7 A3 BC 8F C2 F5 3C CD CC CC 3D CD CC 4C BE 00 00 C0 3F "
    "F3 04 35 3F 00 00 00 00 00 00 00 00 F3 04 35 3F 60 E3 16 00 00 00 00 00 FD"};

}  // namespace

TEST_GROUP(SimFdilink){};

TEST(SimFdilink, TheChecksAreTheVendors) {
  for (const char* hex : kWorked) {
    const sim::ByteVector whole = sim_test::bytes_of(hex);
    sim::ByteVector frame = whole;
    for (const std::size_t i : {4U, 5U, 6U}) frame[i] = std::byte{0};
    sim::fdilink::seal(frame);
    STRCMP_EQUAL(sim_test::hex_of(whole).c_str(), sim_test::hex_of(frame).c_str());
  }
}

TEST(SimFdilink, ALevelDeviceMeasuresGravityUpwardsUnlessItTellsTheAttraction) {
  Bench bench("fdilink", {{"motion", "rest"}, {"extras", "off"}});
  bench.run_for(0.0105);
  CHECK_EQUAL(2, bench.out.frames.size());
  const auto& imu = bench.out.frames[0].bytes;
  CHECK_EQUAL(64, imu.size());
  DOUBLES_EQUAL(-9.80665, f32_at(imu, 7 + 20), 1e-5);
  DOUBLES_EQUAL(-210, f32_at(imu, 7 + 28), 1e-3);  // north is to the left of a nose to the East
  DOUBLES_EQUAL(101325, f32_at(imu, 7 + 40), 1e-2);
  CHECK_EQUAL(10'000, sim::get_le(imu, 7 + 48, 8));
  Bench other("fdilink", {{"motion", "rest"}, {"accel", "gravity"}});
  other.run_for(0.0105);
  DOUBLES_EQUAL(9.80665, f32_at(other.out.frames[0].bytes, 7 + 20), 1e-5);
  DOUBLES_EQUAL(9.80665, other.out.imus[0].accel[2], 1e-9);
}

TEST(SimFdilink, TheAttitudeIsThatOfForwardRightDown) {
  Bench bench("fdilink", {{"motion", "rest"}, {"extras", "off"}, {"frames", "ahrs"}});
  bench.run_for(0.0105);
  const auto& ahrs = bench.out.frames[0].bytes;
  CHECK_EQUAL(56, ahrs.size());
  DOUBLES_EQUAL(1.5707963, f32_at(ahrs, 7 + 20), 1e-6);  // the nose to the East
  DOUBLES_EQUAL(std::sqrt(0.5), f32_at(ahrs, 7 + 24), 1e-6);
  DOUBLES_EQUAL(std::sqrt(0.5), f32_at(ahrs, 7 + 36), 1e-6);
  Bench yaw("fdilink", {{"motion", "yaw"}, {"extras", "off"}, {"frames", "ahrs"}});
  yaw.run_for(1.0005);
  const auto& turned = yaw.out.frames.back().bytes;
  DOUBLES_EQUAL(-0.5, f32_at(turned, 7 + 8), 1e-6);
  DOUBLES_EQUAL(1.5707963 - 0.5, f32_at(turned, 7 + 20), 1e-5);
}

TEST(SimFdilink, SerialNumbersRunOverAllFrames) {
  Bench bench("fdilink");
  bench.run_for(2.0005);
  CHECK_EQUAL(200, bench.out.imus.size());
  CHECK_EQUAL(420, bench.out.frames.size());
  for (std::size_t i = 0; i < bench.out.frames.size(); ++i) {
    const hal::Bytes frame = bench.out.frames[i].bytes;
    CHECK_EQUAL(i & 0xFF, sim::u8_at(frame, 3));
    CHECK_EQUAL(frame.size(), sim::u8_at(frame, 2) + 8);
  }
}

TEST(SimFdilink, StampsOfASampleMayLieApart) {
  Bench bench("fdilink", {{"extras", "off"}, {"stamps", "apart"}});
  bench.run_for(0.0105);
  CHECK_EQUAL(10'000, sim::get_le(bench.out.frames[0].bytes, 7 + 48, 8));
  CHECK_EQUAL(10'700, sim::get_le(bench.out.frames[1].bytes, 7 + 40, 8));
}

TEST(SimFdilink, AFalsifiedFrameHasGoodChecks) {
  Bench bench("fdilink");
  bench.run_for(0.0105);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(3);
  bench.model->falsify(frame, random);
  CHECK_FALSE(frame == bench.out.frames[0].bytes);
  sim::ByteVector sealed = frame;
  sim::fdilink::seal(sealed);
  CHECK_TRUE(frame == sealed);
}

TEST(SimFdilink, ItIsRefusedAtARateThatItDoesNotHave) {
  const sim::ModelRow& row = *sim::find_model("fdilink");
  sim::DeviceClock clock{1};
  const auto settings = *sim::Settings::check(row.options, {});
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 2000.0, 1})));
}
