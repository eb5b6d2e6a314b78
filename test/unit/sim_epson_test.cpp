#include "test/sim/epson_burst.h"
#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

sim::epson::Sample worked_sample() {
  sim::epson::Sample sample;
  sample.motion.gyro = {sim::radians(0.5757570), sim::radians(-1.1515140), sim::radians(1.7121195)};
  sample.motion.accel = {0.0980665, -0.196133, 9.80665};
  sample.count = 500;
  return sample;
}

// Configured as the vendor's program does it, at 125 Hz.
void set_up(Bench& bench, const char* burst_high = "8D F0 0D", const char* wide = "8F 00 0D") {
  bench.run_for(1);
  for (const char* request : {"FE 00 0D", "83 02 0D", "FE 01 0D", "82 40 0D", "85 04 0D",
                              "88 01 0D", "8C 03 0D", burst_high, wide, "FE 00 0D", "83 01 0D"}) {
    CHECK_TRUE(bench.ask(request).empty());
  }
}

}  // namespace

TEST_GROUP(SimEpson){};

TEST(SimEpson, BurstsAreThoseOfTheDescription) {
  STRCMP_EQUAL("80 FE 00 00 80 00 26 FF B4 00 71 00 28 FF B0 0F A0 01 F4 10 37 0D",
               hex_of(sim::epson::burst_of(sim::epson::product_of("G370PDG0"), worked_sample(),
                                           0xF003, 0x0000))
                   .c_str());
  const auto wide =
      sim::epson::burst_of(sim::epson::product_of("G370PDG0"), worked_sample(), 0xF003, 0x7000);
  CHECK_EQUAL(36, wide.size());
  CHECK_EQUAL(0x00280000, sim::get_be(wide, 19, 4));
  CHECK_EQUAL(0x0FA00000, sim::get_be(wide, 27, 4));
}

TEST(SimEpson, TheSumIsThatOfTheWideBurst) {
  auto burst = bytes_of(
      "80 FE 00 00 80 00 00 00 25 D0 B5 FF B4 5E 95 00 71 72 1B 00 28 00 00 FF B0 00 00 0F A0 00 "
      "00 "
      "01 F4 00 00 0D");
  sim::epson::seal(burst, 0xF003);
  CHECK_EQUAL(0xB19B, sim::get_be(burst, 33, 2));
}

TEST(SimEpson, ItSaysNothingUntilItIsReadyAndWhatItIsThen) {
  Bench bench("epson");
  bench.run_for(0.1);
  CHECK_TRUE(bench.ask("4C 00 0D").empty());
  bench.run_for(0.9);
  CHECK_TRUE(bench.ask("FE 01 0D").empty());
  STRCMP_EQUAL("0A 00 00 0D", bench.ask("0A 00 0D")[0].c_str());
  STRCMP_EQUAL("6A 33 47 0D", bench.ask("6A 00 0D")[0].c_str());  // "G3", low byte first
  STRCMP_EQUAL("70 30 47 0D", bench.ask("70 00 0D")[0].c_str());  // "G0"
  bench.ask("FE 00 0D");
  STRCMP_EQUAL("02 04 00 0D", bench.ask("02 00 0D")[0].c_str());  // configuration mode
  STRCMP_EQUAL("04 00 00 0D", bench.ask("04 00 0D")[0].c_str());
}

TEST(SimEpson, SamplesWithTheRateAndFieldsThatItWasGiven) {
  Bench bench("epson", {{"motion", "yaw"}});
  set_up(bench);
  bench.run_for(0.0801);
  CHECK_EQUAL(10, bench.out.frames.size());
  const auto& burst = bench.out.frames[9].bytes;
  CHECK_EQUAL(22, burst.size());
  CHECK_EQUAL(0x80, sim::u8_at(burst, 0));
  CHECK_EQUAL(0x0D, sim::u8_at(burst, 21));
  CHECK_EQUAL(1891, sim::get_be(burst, 9, 2));   // 0.5 rad/s about z
  CHECK_EQUAL(4000, sim::get_be(burst, 15, 2));  // 1 g
  CHECK_EQUAL((1'080'000 / 16) & 0xFFFF, sim::get_be(burst, 17, 2));
  CHECK_EQUAL(1'080'000'000, bench.out.imus[9].device_ns);
}

TEST(SimEpson, ThirtyTwoBitsAreAskedForByField) {
  Bench bench("epson", {{"motion", "rest"}});
  set_up(bench, "8D 30 0D", "8F 10 0D");  // rates of 16 bits, accelerations of 32
  bench.run_for(0.0081);
  CHECK_EQUAL(1 + 6 + 12 + 2 + 2 + 1, bench.out.frames[0].bytes.size());
}

TEST(SimEpson, SettingsAreTakenInConfigurationModeOnly) {
  Bench bench("epson");
  set_up(bench);
  bench.ask("FE 01 0D"), bench.ask("85 01 0D"), bench.ask("FE 00 0D");
  bench.run_for(0.0801);
  CHECK_EQUAL(10, bench.out.frames.size());
  bench.ask("83 02 0D");
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
  bench.ask("FE 01 0D"), bench.ask("85 01 0D"), bench.ask("FE 00 0D"), bench.ask("83 01 0D");
  bench.run_for(0.0801);
  CHECK_EQUAL(80, bench.out.frames.size());
}

TEST(SimEpson, AReadWhileItSendsTearsABurst) {
  Bench bench("epson");
  set_up(bench);
  CHECK_TRUE(bench.ask("04 00 0D").empty());
  bench.run_for(0.0161);
  CHECK_EQUAL(26, bench.out.frames[0].bytes.size());
  CHECK_EQUAL(22, bench.out.frames[1].bytes.size());
}

TEST(SimEpson, TheCountIsOfSamplesUnlessItIsSetToTime) {
  Bench bench("epson", {{"streaming", "on"}}, 100);
  bench.run_for(0.0501);
  CHECK_EQUAL(5, bench.out.frames.size());
  CHECK_EQUAL(5, sim::get_be(bench.out.frames[4].bytes, 17, 2));
}

TEST(SimEpson, APulseResetsTheCountOfTime) {
  Bench bench("epson", {{"pps", "on"}});
  set_up(bench);
  bench.run_for(1.2);
  for (std::size_t i = 0; i < bench.out.frames.size(); ++i) {
    const auto ns = bench.out.imus[i].device_ns;
    CHECK_EQUAL(ns % 1'000'000'000 / 16'000, sim::get_be(bench.out.frames[i].bytes, 17, 2));
  }
}

TEST(SimEpson, AResetForgetsWhatIsNotInFlash) {
  Bench bench("epson");
  set_up(bench);
  bench.ask("83 02 0D"), bench.ask("FE 01 0D"), bench.ask("8A 80 0D");
  bench.ask("FE 01 0D");
  STRCMP_EQUAL("0A 04 00 0D", bench.ask("0A 00 0D")[0].c_str());  // not ready
  bench.run_for(1);
  bench.ask("FE 01 0D");
  STRCMP_EQUAL("04 01 03 0D", bench.ask("04 00 0D")[0].c_str());
  bench.ask("85 04 0D"), bench.ask("8A 08 0D");
  bench.run_for(1);
  bench.ask("8A 80 0D");
  bench.run_for(1);
  bench.ask("FE 01 0D");
  STRCMP_EQUAL("04 04 03 0D", bench.ask("04 00 0D")[0].c_str());
}

TEST(SimEpson, OtherProductsHaveOtherNumbers) {
  Bench bench("epson", {{"model", "G354PDH0"}, {"motion", "yaw"}, {"streaming", "on"}});
  bench.run_for(0.0101);
  const auto& burst = bench.out.frames[0].bytes;
  CHECK_EQUAL(1790, sim::get_be(burst, 9, 2));   // 0.5 rad/s of 0.016 degrees/s
  CHECK_EQUAL(5000, sim::get_be(burst, 15, 2));  // 1 g of 0.2 mg
  CHECK_EQUAL(2502, sim::get_be(burst, 3, 2));   // 25.5 C
}
