#include "test/sim/bno08x_rvc.h"

#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

int i16_at(hal::Bytes b, std::size_t at) {
  return static_cast<std::int16_t>(sim::get_le(b, at, 2));
}

bool is_intact(hal::Bytes b) {
  unsigned sum = 0;
  for (std::size_t i = 2; i < 18; ++i) sum += sim::u8_at(b, i);
  return b.size() == 19 && sim::get_le(b, 0, 2) == 0xAAAA && (sum & 0xFF) == sim::u8_at(b, 18);
}

}  // namespace

TEST_GROUP(SimBno08xRvc){};

TEST(SimBno08xRvc, TheFramesOfTheDataSheetAreReadWithTheLayoutOfTheseTests) {
  for (const char* hex : {"AA AA DE 01 00 92 FF 25 08 8D FE EC FF D1 03 00 00 00 E7",
                          "AA AA 05 28 23 6A FF FA 00 0A 00 EC FF E8 03 00 00 00 93"})
    CHECK_TRUE(is_intact(bytes_of(hex)));
}

TEST(SimBno08xRvc, AHundredFramesASecondAreCountedWhateverTheHostSays) {
  Bench bench("bno08x_rvc");
  bench.ask("AA AA 00 01 02");
  bench.run_for(3.0);
  CHECK_EQUAL(300, bench.out.frames.size());
  CHECK_EQUAL(300, bench.out.imus.size());
  for (std::size_t i = 0; i < 300; ++i) {
    CHECK_TRUE(is_intact(bench.out.frames[i].bytes));
    CHECK_EQUAL(i & 0xFF, sim::u8_at(bench.out.frames[i].bytes, 2));
    CHECK_TRUE(bench.out.frames[i].at == bench.out.imus[i].at);
    CHECK_EQUAL((static_cast<std::int64_t>(i) + 1) * 10'000'000, bench.out.imus[i].device_ns);
  }
}

TEST(SimBno08xRvc, AtRestItIsAThousandMgUpAndLooksEast) {
  Bench bench("bno08x_rvc", {{"motion", "rest"}, {"reserved", "intent"}});
  bench.run_for(0.02);
  STRCMP_EQUAL("AA AA 00 00 00 00 00 00 00 00 00 00 00 E8 03 01 02 00 EE",
               hex_of(bench.out.frames[0].bytes).c_str());
  // x right: the nose to the East is a quarter turn to the right of where x would be East.
  for (const auto& [turn, yaw] : {std::pair{"clockwise", 9000}, {"counter_clockwise", -9000}}) {
    Bench rfu("bno08x_rvc", {{"motion", "rest"}, {"axes", "rfu"}, {"yaw", turn}});
    rfu.run_for(0.02);
    CHECK_EQUAL(yaw, i16_at(rfu.out.frames[0].bytes, 3));
  }
}

TEST(SimBno08xRvc, AnglesAndAccelerationTellTheSameTiltAsInTheFrameOfTheDataSheet) {
  for (const auto& [motion, axes] : {std::pair{"roll", "rfu"},
                                     {"pitch", "rfu"},
                                     {"swing", "rfu"},
                                     {"roll", "printed"},
                                     {"pitch", "printed"},
                                     {"swing", "printed"}}) {
    Bench bench("bno08x_rvc", {{"motion", motion}, {"axes", axes}});
    bench.run_for(2.5);
    for (const sim::Frame& frame : bench.out.frames) {
      const double pitch = sim::radians(i16_at(frame.bytes, 5) / 100.0);
      const double roll = sim::radians(i16_at(frame.bytes, 7) / 100.0);
      DOUBLES_EQUAL(-std::sin(roll) * std::cos(pitch), i16_at(frame.bytes, 9) / 1000.0, 2e-3);
      DOUBLES_EQUAL(std::sin(pitch), i16_at(frame.bytes, 11) / 1000.0, 2e-3);
    }
  }
}

TEST(SimBno08xRvc, TheTruthIsTheSampleInForwardLeftUp) {
  Bench bench("bno08x_rvc", {{"axes", "rfu"}});
  bench.run_for(1.0);
  for (std::size_t i = 0; i < 100; i += 7) {
    const hal::Bytes b = bench.out.frames[i].bytes;
    const sim::ImuTruth& truth = bench.out.imus[i];
    DOUBLES_EQUAL(truth.accel[0], i16_at(b, 11) * 9.80665e-3, 5e-3);
    DOUBLES_EQUAL(truth.accel[1], -i16_at(b, 9) * 9.80665e-3, 5e-3);
    DOUBLES_EQUAL(truth.accel[2], i16_at(b, 13) * 9.80665e-3, 5e-3);
  }
}

TEST(SimBno08xRvc, JunkIsNoPartOfAFrame) {
  Bench bench("bno08x_rvc", {{"junk", "on"}});
  bench.run_for(0.05);
  CHECK_EQUAL(19, bench.out.frames[0].bytes.size());
  CHECK_EQUAL(22, bench.out.frames[3].bytes.size());
  CHECK_TRUE(is_intact(hal::Bytes(bench.out.frames[3].bytes).subspan(3)));
}

TEST(SimBno08xRvc, AFalsifiedFrameHasAGoodSum) {
  Bench bench("bno08x_rvc");
  bench.run_for(0.02);
  sim::ByteVector frame = bench.out.frames[0].bytes;
  sim::Random random(3);
  bench.model->falsify(frame, random);
  CHECK_TRUE(is_intact(frame));
  CHECK_FALSE(frame == bench.out.frames[0].bytes);
}
