#include <bit>

#include "test/sim/lpms_data.h"
#include "test/sim/wire.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

constexpr const char* kCommandMode = "3A 01 00 06 00 00 00 07 00 0D 0A";
constexpr const char* kStreamMode = "3A 01 00 07 00 00 00 08 00 0D 0A";
constexpr const char* kAck = "3A 01 00 00 00 00 00 01 00 0D 0A";
constexpr const char* kNack = "3A 01 00 01 00 00 00 02 00 0D 0A";

std::string command(unsigned function, unsigned value) {
  sim::ByteVector data;
  sim::put_le(data, value, 4);
  return hex_of(sim::lpms::frame_of(1, function, data));
}
double f32_at(hal::Bytes bytes, std::size_t at) {
  return static_cast<double>(
      std::bit_cast<float>(static_cast<std::uint32_t>(sim::get_le(bytes, at, 4))));
}

}  // namespace

TEST_GROUP(SimLpms){};

TEST(SimLpms, FramesAreThoseOfTheVendorsTest) {
  STRCMP_EQUAL("3A 0A 00 0B 00 04 00 01 02 03 04 23 00 0D 0A",
               hex_of(sim::lpms::frame_of(10, 11, bytes_of("01 02 03 04"))).c_str());
}

TEST(SimLpms, DataOfAnIg1AreThoseOfTheDescription) {
  sim::lpms::Sample sample;
  sample.count = 750;
  sample.degrees = false;
  sample.motion.accel = {0.01 * 9.80665, -0.02 * 9.80665, -9.80665};
  sample.motion.gyro = {0.5, -1.0, 2.0};
  const auto data = sim::lpms::ig1_data(sample, 1U << 1 | 1U << 6);
  STRCMP_EQUAL(
      "3A 01 00 09 00 1C 00 EE 02 00 00 0A D7 23 3C 0A D7 A3 BC 00 00 80 BF 00 00 00 3F 00 00 80 "
      "BF "
      "00 00 00 40 93 07 0D 0A",
      hex_of(sim::lpms::frame_of(1, 9, data)).c_str());
}

TEST(SimLpms, AllFieldsOfEachGenerationHaveTheirPlace) {
  sim::lpms::Sample sample;
  sample.motion.orientation = {0.1, 0.2, 0.3, 0.4};
  CHECK_EQUAL(4 + 4 * (13 * 3 + 4 + 3), sim::lpms::ig1_data(sample, 0x1FFFF).size());
  const unsigned all = 1U << 9 | 1U << 10 | 1U << 11 | 1U << 12 | 1U << 13 | 1U << 16 | 1U << 17 |
                       1U << 18 | 1U << 19 | 1U << 21;
  const auto legacy = sim::lpms::legacy_data(sample, all);
  CHECK_EQUAL(4 + 4 * (6 * 3 + 4 + 3), legacy.size());
  DOUBLES_EQUAL(0.4, f32_at(legacy, 4 + 4 * 15), 1e-7);
  const auto low = sim::lpms::legacy_data(sample, all | sim::lpms::kLowPrecision);
  CHECK_EQUAL(4 + 2 * (6 * 3 + 4 + 3), low.size());
  CHECK_EQUAL(4000, sim::get_le(low, 4 + 2 * 15, 2));
}

TEST(SimLpms, ItStreamsFromPowerUpWithItsCount) {
  Bench bench("lpms", {{"motion", "rest"}});
  bench.run_for(0.1001);
  CHECK_EQUAL(10, bench.out.frames.size());
  const auto& frame = bench.out.frames[9].bytes;
  CHECK_EQUAL(7 + 4 + 4 * 13 + 4, frame.size());
  CHECK_EQUAL(50, sim::get_le(frame, 7, 4));  // of 2 ms
  DOUBLES_EQUAL(-1, f32_at(frame, 7 + 4 + 8), 1e-6);
  CHECK_EQUAL(100'000'000, bench.out.imus[9].device_ns);
}

TEST(SimLpms, TheGenerationBeforeCountsOtherwiseAndEitherMayPointUp) {
  Bench bench("lpms", {{"motion", "rest"}, {"generation", "legacy"}, {"accel_sign", "plus"}});
  bench.run_for(0.1001);
  const auto& frame = bench.out.frames[9].bytes;
  CHECK_EQUAL(40, sim::get_le(frame, 7, 4));  // of 2.5 ms
  DOUBLES_EQUAL(1, f32_at(frame, 7 + 4 + 12 + 8), 1e-6);
  Bench fast("lpms", {{"generation", "legacy"}}, 800);
  fast.run_for(0.1001);
  CHECK_EQUAL(80, fast.out.frames.size());
  CHECK_EQUAL(80, sim::get_le(fast.out.frames[79].bytes, 7, 4));  // of 1.25 ms
}

TEST(SimLpms, ItIsConfiguredInCommandModeOnly) {
  Bench bench("lpms");
  STRCMP_EQUAL(kNack, bench.ask(command(30, 2))[0].c_str());
  STRCMP_EQUAL(kAck, bench.ask(kCommandMode)[0].c_str());
  bench.run_for(0.1);
  CHECK_EQUAL(0, bench.out.frames.size());
  STRCMP_EQUAL(kAck, bench.ask(command(30, 1U << 1))[0].c_str());
  STRCMP_EQUAL(command(31, 1U << 1).c_str(),
               bench.ask("3A 01 00 1F 00 00 00 20 00 0D 0A")[0].c_str());
  STRCMP_EQUAL(kAck, bench.ask(command(34, 250))[0].c_str());
  STRCMP_EQUAL(kNack, bench.ask(command(34, 123))[0].c_str());
  STRCMP_EQUAL(kNack, bench.ask(command(77, 1))[0].c_str());
  STRCMP_EQUAL(kAck, bench.ask(kStreamMode)[0].c_str());
  bench.run_for(0.1001);
  CHECK_EQUAL(25, bench.out.frames.size());
  CHECK_EQUAL(7 + 4 + 12 + 4, bench.out.frames[0].bytes.size());
}

TEST(SimLpms, ALegacyConfigurationHasTheIndexOfItsRate) {
  Bench bench("lpms", {{"generation", "legacy"}, {"streaming", "off"}});
  const auto config = bytes_of(bench.ask("3A 01 00 04 00 00 00 05 00 0D 0A")[0]);
  CHECK_EQUAL(4, sim::get_le(config, 7, 4) & 7);  // 100 Hz
  bench.ask(command(11, 25));
  const auto slower = bytes_of(bench.ask("3A 01 00 04 00 00 00 05 00 0D 0A")[0]);
  CHECK_EQUAL(2, sim::get_le(slower, 7, 4) & 7);
}

TEST(SimLpms, RequestsOfOthersOrWithAWrongSumAreNotAnswered) {
  Bench bench("lpms");
  CHECK_EQUAL(0, bench.ask("3A 02 00 06 00 00 00 08 00 0D 0A").size());
  CHECK_EQUAL(0, bench.ask("3A 01 00 06 00 00 00 08 00 0D 0A").size());
  CHECK_EQUAL(1, bench.ask(std::string("3A FF ") + kCommandMode).size() +
                     bench.ask("00 00 00 00 00 00 00 00 00 00 00").size());
}

TEST(SimLpms, SettingsAreLostWithThePowerUnlessTheyAreSaved) {
  Bench bench("lpms");
  const auto again = [&] {
    bench.model->power_up(bench.now, bench.out);
    bench.run_for(0.1001);
    const std::size_t n = bench.out.frames.size();
    bench.ask(kCommandMode);
    return n;
  };
  bench.ask(kCommandMode), bench.ask(command(34, 50));
  CHECK_EQUAL(10, again());
  bench.ask(command(34, 50)), bench.ask(command(15, 0));
  CHECK_EQUAL(5, again());
}

TEST(SimLpms, TheLineRateChangesBehindTheAnswer) {
  Bench bench("lpms");
  bench.ask(kCommandMode);
  STRCMP_EQUAL(kAck, bench.ask(command(84, 921600))[0].c_str());
  CHECK_EQUAL(115200, bench.model->baud());
  bench.run_for(0.1);
  CHECK_EQUAL(921600, bench.model->baud());
}
