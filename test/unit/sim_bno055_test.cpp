#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;
using namespace std::chrono_literals;

namespace {

const sim::Options kSound{{"overrun_percent", "0"}, {"motion", "yaw"}};

std::string ask(Bench& bench, const char* request) {
  const auto answers = bench.ask(request);
  CHECK_EQUAL(1, answers.size());
  return answers[0];
}

// m/s^2, rad/s, degrees, Android; all sensors.
void start(Bench& bench) {
  bench.run_for(0.7);
  STRCMP_EQUAL("EE 01", ask(bench, "AA 00 3B 01 82").c_str());
  STRCMP_EQUAL("EE 01", ask(bench, "AA 00 3D 01 0C").c_str());
  bench.run_for(0.1);
}

int i16_at(const sim::ByteVector& b, std::size_t at) {
  return static_cast<std::int16_t>(sim::get_le(b, at, 2));
}

}  // namespace

TEST_GROUP(SimBno055){};

TEST(SimBno055, ItDoesNotListenWhileItBoots) {
  Bench bench("bno055", kSound);
  CHECK_EQUAL(0, bench.ask("AA 01 00 01").size());
  bench.run_for(0.66);
  STRCMP_EQUAL("BB 01 A0", ask(bench, "AA 01 00 01").c_str());
}

TEST(SimBno055, ABlockHoldsAllThatItMeasures) {
  Bench bench("bno055", kSound);
  start(bench);
  const auto block = sim_test::bytes_of(ask(bench, "AA 01 08 2D"));
  CHECK_EQUAL(47, block.size());
  CHECK_EQUAL(981, i16_at(block, 2 + 4));             // z
  CHECK_EQUAL(450, i16_at(block, 2 + 0x14 - 8 + 4));  // 0.5 rad/s about up
  CHECK_EQUAL(25, sim::u8_at(block, 2 + 0x34 - 8));
  CHECK_EQUAL(981, i16_at(block, 2 + 0x2E - 8 + 4));  // gravity
  CHECK_EQUAL(0, i16_at(block, 2 + 0x28 - 8 + 4));    // without it
  // Heading is clockwise: what yaw has turned is missing to a whole turn.
  const double yaw = 0.5 * 0.8 * 180 / 3.14159265;
  DOUBLES_EQUAL(360 - yaw, i16_at(block, 2 + 0x1A - 8) / 16.0, 0.4);
}

TEST(SimBno055, ASampleIsToldOnceHoweverOftenItIsRead) {
  Bench bench("bno055", kSound);
  start(bench);
  bench.out.clear();
  bench.model->receive(sim::Channel::data, sim_test::bytes_of("AA 01 08 2D"), bench.now, bench.out);
  bench.model->receive(sim::Channel::data, sim_test::bytes_of("AA 01 08 2D"), bench.now + 1ms,
                       bench.out);
  CHECK_EQUAL(1, bench.out.imus.size());
  CHECK_TRUE(bench.out.frames[0].bytes == bench.out.frames[1].bytes);
  CHECK_TRUE(bench.now - bench.out.imus[0].at <= 10ms);
  const hal::Duration delay = bench.out.frames[0].at - bench.now;
  CHECK_TRUE(delay >= 2ms && delay <= 4ms);
}

TEST(SimBno055, SettingsAreWritableInTheConfigurationModeOnly) {
  Bench bench("bno055", kSound);
  start(bench);
  STRCMP_EQUAL("EE 03", ask(bench, "AA 00 3B 01 00").c_str());
  STRCMP_EQUAL("EE 01", ask(bench, "AA 00 3D 01 00").c_str());
  bench.run_for(0.05);
  STRCMP_EQUAL("EE 01", ask(bench, "AA 00 3B 01 00").c_str());
  STRCMP_EQUAL("BB 01 00", ask(bench, "AA 01 3B 01").c_str());
  // Nothing is measured in it.
  STRCMP_EQUAL("BB 06 00 00 00 00 00 00", ask(bench, "AA 01 20 06").c_str());
}

TEST(SimBno055, ModesTakeTheirTime) {
  Bench bench("bno055", kSound);
  start(bench);
  STRCMP_EQUAL("EE 01", ask(bench, "AA 00 3D 01 00").c_str());
  STRCMP_EQUAL("EE 02", ask(bench, "AA 01 00 01").c_str());
  bench.run_for(0.02);
  STRCMP_EQUAL("BB 01 A0", ask(bench, "AA 01 00 01").c_str());
}

TEST(SimBno055, WhatCannotBeIsRefusedWithItsStatus) {
  Bench bench("bno055", kSound);
  bench.run_for(0.7);
  STRCMP_EQUAL("EE 04", ask(bench, "AA 01 60 20").c_str());
  STRCMP_EQUAL("EE 08", ask(bench, "AA 01 00 81").c_str());
  STRCMP_EQUAL("EE 09", ask(bench, "AA 01 00 00").c_str());
  STRCMP_EQUAL("EE 06", ask(bench, "AA 02 00 01").c_str());
  STRCMP_EQUAL("EE 06", ask(bench, "55").c_str());
  STRCMP_EQUAL("EE 03", ask(bench, "AA 00 00 01 55").c_str());
}

TEST(SimBno055, ARequestInPiecesIsOneUnlessItPauses) {
  Bench bench("bno055", kSound);
  bench.run_for(0.7);
  CHECK_EQUAL(0, bench.ask("AA 01").size());
  bench.now += 20ms;
  STRCMP_EQUAL("BB 01 A0", ask(bench, "00 01").c_str());
  CHECK_EQUAL(0, bench.ask("AA 01").size());
  bench.now += 40ms;
  STRCMP_EQUAL("EE 06", bench.ask("00 01")[0].c_str());
}

TEST(SimBno055, TransactionsFailAtRandomAndMayLeaveJunk) {
  Bench bench("bno055", {{"overrun_percent", "30"}, {"junk", "on"}});
  bench.run_for(0.7);
  int failed = 0;
  for (int i = 0; i < 1000; ++i) {
    const std::string answer = ask(bench, "AA 01 00 01");
    failed += answer == "EE 07 00";
  }
  CHECK_TRUE(failed > 240 && failed < 360);
}

TEST(SimBno055, AResetBootsItAnew) {
  Bench bench("bno055", kSound);
  bench.run_for(0.7);
  ask(bench, "AA 00 3B 01 82");
  STRCMP_EQUAL("EE 01", ask(bench, "AA 00 3F 01 20").c_str());
  CHECK_EQUAL(0, bench.ask("AA 01 00 01").size());
  bench.run_for(0.7);
  STRCMP_EQUAL("BB 01 80", ask(bench, "AA 01 3B 01").c_str());
}
