#include <array>

#include "test/sim/inertial_labs_data.h"
#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;
using sim_test::hex_of;

namespace {

constexpr const char* kInfo = "AA 55 00 00 07 00 12 19 00";
constexpr const char* kParameters = "AA 55 00 00 07 00 41 48 00";
constexpr const char* kStartUdd = "AA 55 00 00 07 00 95 9C 00";
constexpr const char* kStartOrientation = "AA 55 00 00 07 00 33 3A 00";
constexpr const char* kStop = "AA 55 00 00 07 00 FE 05 01";

}  // namespace

TEST_GROUP(SimInertialLabs){};

TEST(SimInertialLabs, UserDefinedDataAreThoseOfTheDescription) {
  sim::inertial_labs::Sample sample;
  sample.gps_ns = 1'500'000'000;
  // Right-forward-up (0.57296, -1.14592, 1.71887) degrees/s, (0.01, -0.02, 1) g.
  sample.motion.gyro = {sim::radians(-1.14592), sim::radians(-0.57296), sim::radians(1.71887)};
  sample.motion.accel = {-0.196133, -0.0980665, 9.80665};
  const std::array<std::uint8_t, 6> types{0x03, 0x21, 0x23, 0x09, 0x52, 0x53};
  sample.motion.orientation = {0, 0, 0, 1};  // level, nose to the west: y along -x of the world
  const auto frame = sim::inertial_labs::user_defined(types, sample);
  STRCMP_EQUAL(
      "AA 55 01 95 39 00 06 03 21 23 09 52 53 00 2F 68 59 00 00 00 00 D0 DF 00 00 60 40 FE FF 6F "
      "9F "
      "02 00 10 27 00 00 E0 B1 FF FF 40 42 0F 00 9F 1B 00 00 00 00 9F 1B FF 00 00 00 E0 0E",
      hex_of(frame).c_str());
}

TEST(SimInertialLabs, TheFixedSetHasAnglesOfAircraft) {
  sim::inertial_labs::Sample sample;
  sample.motion.pitch = sim::radians(1.5);  // nose down
  sample.motion.roll = sim::radians(2.5);
  sample.motion.gyro = {sim::radians(-1.0), sim::radians(-0.5), sim::radians(2.0)};
  sample.motion.accel = {-0.196133, -0.0980665, 9.80665};
  sample.motion.mag = {-50e-9, -200e-9, 400e-9};
  STRCMP_EQUAL(
      "AA 55 01 33 28 00 28 23 6A FF FA 00 05 00 F6 FF 14 00 28 00 B0 FF A0 0F 14 00 FB FF 28 00 "
      "00 "
      "00 00 00 00 00 B0 04 FF 00 87 0B",
      hex_of(sim::inertial_labs::orientation_set(sample)).c_str());
}

TEST(SimInertialLabs, ItTellsWhatItIs) {
  Bench bench("inertial_labs", {}, 200);
  const auto info = sim_test::bytes_of(bench.ask(kInfo)[0]);
  CHECK_EQUAL(166 + 8, info.size());
  CHECK_EQUAL(0x12, sim::u8_at(info, 3));
  const auto parameters = sim_test::bytes_of(bench.ask(kParameters)[0]);
  CHECK_EQUAL(60 + 8, parameters.size());
  CHECK_EQUAL(200, sim::get_le(parameters, 6, 2));
  CHECK_EQUAL(1, sim::get_le(parameters, 8, 2));
}

TEST(SimInertialLabs, AStartIsAnsweredThenItAlignsThenDataCome) {
  Bench bench("inertial_labs");
  bench.run_for(0.5);
  CHECK_EQUAL(0, bench.out.frames.size());
  const auto answers = bench.ask(kStartUdd);
  CHECK_EQUAL(2, answers.size());
  STRCMP_EQUAL("AA 55 01 00 08 00 9C 00 A5 00", answers[0].c_str());
  CHECK_EQUAL(0x32 + 8, sim_test::bytes_of(answers[1]).size());
  bench.run_for(0.99);
  CHECK_EQUAL(0, bench.out.frames.size());
  bench.run_for(0.11);
  CHECK_TRUE(bench.out.frames.size() >= 9);
  CHECK_EQUAL(0x95, sim::u8_at(bench.out.frames[0].bytes, 3));
  CHECK_EQUAL(1, bench.ask(kStop).size());
  bench.run_for(0.5);
  CHECK_EQUAL(0, bench.out.frames.size());
  bench.ask(kStartOrientation);
  bench.run_for(1.05);
  CHECK_EQUAL(0x33, sim::u8_at(bench.out.frames[0].bytes, 3));
}

TEST(SimInertialLabs, CommandsAreFoundAmongJunkAndThoseWithAWrongSumAreNot) {
  Bench bench("inertial_labs");
  CHECK_EQUAL(0, bench.ask("AA 55 00 00 07 00 12 1A 00").size());
  CHECK_EQUAL(1, bench.ask("AA AA 00 55 AA 55 00 00 07 00 12 19 00").size());
  CHECK_EQUAL(0, bench.ask("AA 55 00 00 07").size());
  CHECK_EQUAL(1, bench.ask("00 12 19 00").size());
}

TEST(SimInertialLabs, ItsTimeJumpsWhenSatellitesAreSeen) {
  Bench bench("inertial_labs", {{"streaming", "on"}, {"fix_s", "0.5"}});
  bench.run_for(0.505);
  const auto& last = bench.out.frames.back().bytes;
  CHECK_EQUAL(345'678'000'000'000, sim::get_le(last, 13, 8));
  CHECK_EQUAL(490'000'000, sim::get_le(bench.out.frames[48].bytes, 13, 8));
}

TEST(SimInertialLabs, OtherFramesComeBetweenWhereTheyAreAskedFor) {
  Bench bench("inertial_labs", {{"streaming", "on"}, {"sends", "orientation"}, {"extra", "on"}});
  bench.run_for(2.005);
  CHECK_EQUAL(200, bench.out.imus.size());
  CHECK_EQUAL(202, bench.out.frames.size());
}
