#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"
#include "test/sim/wit_frames.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using namespace sim::witmotion;
using sim_test::Bench;
using sim_test::bytes_of;
using sim_test::hex_of;

namespace {

constexpr const char* kUnlock = "FF AA 69 88 B5";

std::string types_in(const sim::Output& out) {
  std::string types;
  for (const sim::Frame& frame : out.frames) types += hex_of(hal::Bytes(frame.bytes).subspan(1, 1));
  return types;
}
int i16(const sim::ByteVector& frame, std::size_t i) {
  return static_cast<std::int16_t>(sim::get_le(frame, 2 + 2 * i, 2));
}
// Writes, as a host should.
void write(Bench& bench, const char* command) {
  bench.ask(kUnlock);
  CHECK_EQUAL(0, bench.ask(command).size());
}

}  // namespace

TEST_GROUP(SimWitmotion){};

TEST(SimWitmotion, TheWorkedExamplesComeOutByteForByte) {
  const Manner manner;
  Sample s;
  s.motion.accel = {20 * 16 * 9.80665 / 32768, -41 * 16 * 9.80665 / 32768, 9.80665};
  STRCMP_EQUAL("55 51 14 00 D7 FF 00 08 C4 09 65", hex_of(data_frame(1, manner, s)).c_str());
  s.motion.gyro = {0.1747034, -0.3494067, 0.5241101};
  STRCMP_EQUAL("55 52 A4 00 B8 FE EC 01 00 00 EE", hex_of(data_frame(2, manner, s)).c_str());
  s.motion.mag = {120e-7, -45e-7, 300e-7};
  STRCMP_EQUAL("55 54 78 00 D3 FF 2C 01 C4 09 ED", hex_of(data_frame(4, manner, s)).c_str());
  s.motion.orientation = {std::sqrt(0.5), 0, 0, std::sqrt(0.5)};
  STRCMP_EQUAL("55 59 82 5A 00 00 00 00 82 5A 66", hex_of(data_frame(9, manner, s)).c_str());
  const std::int64_t days = 3653 + 304 + 29;  // since 2015
  s.device_ns = ((days * 24 + 15) * 60 + 38) * 60'000'000'000 + 7'250'000'000;
  STRCMP_EQUAL("55 50 19 0B 1E 0F 26 07 FA 00 1D", hex_of(data_frame(0, manner, s)).c_str());
}

TEST(SimWitmotion, AnglesAreThoseOfTheAttitude) {
  Sample s;
  const double r = sim::radians(0.99976) / 2, p = sim::radians(-1.99951) / 2, y = sim::kPi / 4;
  const sim::Quaternion about_z = {std::cos(y), 0, 0, std::sin(y)};
  const sim::Quaternion about_y = {std::cos(p), 0, std::sin(p), 0};
  const sim::Quaternion about_x = {std::cos(r), std::sin(r), 0, 0};
  s.motion.orientation = sim::product(sim::product(about_z, about_y), about_x);
  STRCMP_EQUAL("55 53 B6 00 94 FE 00 40 00 00 30", hex_of(data_frame(3, {}, s)).c_str());
}

TEST(SimWitmotion, AsDeliveredItSendsFourFramesTenTimesASecond) {
  Bench bench("witmotion");
  CHECK_EQUAL(9600, bench.model->baud());
  bench.run_for(1.0);
  CHECK_EQUAL(40, bench.out.frames.size());
  CHECK_EQUAL(10, bench.out.imus.size());
  STRCMP_EQUAL("51525354", types_in(bench.out).substr(0, 8).c_str());
}

TEST(SimWitmotion, ContentAndRateAreRegisters) {
  Bench bench("witmotion");
  write(bench, "FF AA 02 0F 02"), write(bench, "FF AA 03 09 00");
  bench.run_for(0.5);
  bench.out.clear();
  bench.run_for(1.0);
  CHECK_EQUAL(500, bench.out.frames.size());
  STRCMP_EQUAL("5051525359", types_in(bench.out).substr(0, 10).c_str());
  write(bench, "FF AA 03 0D 00");
  bench.run_for(1.0);
  CHECK_EQUAL(0, bench.out.frames.size());
  write(bench, "FF AA 03 0B 00");
  bench.run_for(1.0);
  CHECK_EQUAL(200, bench.out.imus.size());
}

TEST(SimWitmotion, NothingIsWrittenWithoutTheKey) {
  Bench bench("witmotion");
  bench.ask("FF AA 03 0D 00");
  bench.run_for(1.0);
  CHECK_EQUAL(40, bench.out.frames.size());
  bench.ask("FF AA 69 00 00"), bench.ask("FF AA 03 0D 00");
  bench.out.clear();
  bench.run_for(1.0);
  CHECK_EQUAL(40, bench.out.frames.size());
}

TEST(SimWitmotion, AQuestionIsAnsweredWithFourRegisters) {
  Bench bench("witmotion", {{"motion", "rest"}});
  const auto answers = bench.ask("FF AA 27 02 00");
  CHECK_EQUAL(1, answers.size());
  STRCMP_EQUAL("55 5F 1E 00 06 00 02 00 00 00 DA", answers[0].c_str());
  STRCMP_EQUAL("55 5F 00 00 00 00 00 08 00 00 BC", bench.ask("FF AA 27 34 00")[0].c_str());
  STRCMP_EQUAL("55 5F FF 7F 00 00 00 00 00 00 32", bench.ask("FF AA 27 51 00")[0].c_str());
}

TEST(SimWitmotion, ACommandInPiecesIsHeardAndAPartOfOneForgotten) {
  Bench bench("witmotion");
  CHECK_EQUAL(0, bench.ask("55 FF FF AA 27").size());
  CHECK_EQUAL(1, bench.ask("02 00").size());
  bench.ask("FF AA");
  bench.run_for(0.2);
  CHECK_EQUAL(1, bench.ask("FF AA 27 02 00").size());
}

TEST(SimWitmotion, ANewBaudRateHoldsAtOnce) {
  Bench bench("witmotion");
  write(bench, "FF AA 04 06 00");
  CHECK_EQUAL(115'200, bench.model->baud());
  write(bench, "FF AA 04 0F 00");
  CHECK_EQUAL(115'200, bench.model->baud());
}

TEST(SimWitmotion, OnlyWhatWasSavedOutlivesAPowerCycle) {
  Bench bench("witmotion");
  write(bench, "FF AA 04 06 00");
  bench.model->power_up(bench.now, bench.out);
  CHECK_EQUAL(9600, bench.model->baud());
  write(bench, "FF AA 04 06 00");
  bench.ask("FF AA 00 00 00");
  bench.model->power_up(bench.now, bench.out);
  CHECK_EQUAL(115'200, bench.model->baud());
  write(bench, "FF AA 00 01 00");
  CHECK_EQUAL(9600, bench.model->baud());
}

TEST(SimWitmotion, ARestartBeginsItsCalendarAnew) {
  Bench bench("witmotion", {{"found", "calendar"}});
  bench.run_for(10.0);
  write(bench, "FF AA 00 FF 00");
  bench.out.clear();
  bench.run_for(0.15);
  STRCMP_EQUAL("55 50 0F 01 01 00 00 00 64 00 1A", hex_of(bench.out.frames.at(0).bytes).c_str());
}

TEST(SimWitmotion, TheTruthIsTheSample) {
  Bench bench("witmotion", {{"found", "streaming"}}, 100.0);
  bench.run_for(2.0);
  CHECK_EQUAL(800, bench.out.frames.size());
  for (std::size_t i = 0; i < 200; i += 17) {
    const sim::ImuTruth& truth = bench.out.imus[i];
    CHECK_TRUE(truth.at == bench.out.frames[4 * i].at);
    for (std::size_t k = 0; k < 3; ++k) {
      DOUBLES_EQUAL(truth.accel[k], i16(bench.out.frames[4 * i].bytes, k) * 16 * 9.80665 / 32768,
                    0.0025);
      DOUBLES_EQUAL(truth.gyro[k],
                    i16(bench.out.frames[4 * i + 1].bytes, k) * sim::radians(2000) / 32768, 6e-4);
    }
  }
}

TEST(SimWitmotion, OrderOfTheQuaternionAndAxesAreOptions) {
  Sample s;
  s.motion.orientation = {1, 0, 0, 0};
  s.motion.accel = {1, 0, 0};
  STRCMP_EQUAL("55 59 00 00 00 00 00 00 FF 7F 2C",
               hex_of(data_frame(9, {.scalar_first = false}, s)).c_str());
  // Forward is the y of right-forward-up.
  const auto frame = data_frame(1, {.axes = Axes::rfu}, s);
  CHECK_EQUAL(0, i16(frame, 0));
  CHECK_EQUAL(209, i16(frame, 1));
}

TEST(SimWitmotion, InItsDeadBandRatesAreNone) {
  Sample s;
  s.motion.gyro = {sim::radians(0.09), sim::radians(-0.2), 0};
  const auto frame = data_frame(2, {.dead_band = true}, s);
  CHECK_EQUAL(0, i16(frame, 0));
  CHECK_EQUAL(-3, i16(frame, 1));
}

TEST(SimWitmotion, ARateThatItDoesNotKnowIsRefused) {
  const sim::ModelRow& row = *sim::find_model("witmotion");
  const sim::Settings settings = *sim::Settings::check(row.options, {});
  sim::DeviceClock clock(1);
  CHECK_FALSE(static_cast<bool>(row.make({settings, clock, 40.0, 1})));
  CHECK_TRUE(static_cast<bool>(row.make({settings, clock, 125.0, 1})));
}
