// What the simulated YDLIDAR answers, command by command.
#include <string>

#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using sim_test::Bench;
using sim_test::bytes_of;

namespace {

constexpr const char* kScanReply = "A5 5A 05 00 00 40 81";

std::size_t frames_of(Bench& bench, double seconds) {
  bench.out.clear();
  bench.run_for(seconds);
  return bench.out.frames.size();
}

}  // namespace

TEST_GROUP(SimYdlidarDialogue){};

TEST(SimYdlidarDialogue, AnX4SaysWhoItIs) {
  Bench bench("ydlidar");
  const auto answers = bench.ask("A5 90");
  CHECK_EQUAL(1, answers.size());
  STRCMP_EQUAL("A5 5A 14 00 00 00 04 06 05 01 01", answers[0].substr(0, 32).c_str());
  const sim::ByteVector all = bytes_of(answers[0]);
  CHECK_EQUAL(27, all.size());
  for (std::size_t i = 11; i < 27; ++i) CHECK_TRUE(std::to_integer<unsigned>(all[i]) < 10);
}

TEST(SimYdlidarDialogue, HealthIsAnsweredToBothCommands) {
  Bench bench("ydlidar", {{"health", "1"}, {"health_code", "515"}});
  for (const char* command : {"A5 91", "A5 92"})
    STRCMP_EQUAL("A5 5A 03 00 00 00 06 01 03 02", bench.ask(command)[0].c_str());
}

TEST(SimYdlidarDialogue, AScanIsAnnouncedWithModuleInfoAndStopsInSilence) {
  Bench bench("ydlidar");
  CHECK_EQUAL(0, frames_of(bench, 0.5));
  const auto answers = bench.ask("A5 60");
  CHECK_EQUAL(2, answers.size());
  STRCMP_EQUAL(kScanReply, answers[0].c_str());
  STRCMP_EQUAL("A5 5A 14 00 00 00 04 06", answers[1].substr(0, 23).c_str());
  CHECK_TRUE(frames_of(bench, 0.5) > 50);
  CHECK_EQUAL(0, bench.ask("A5 00 A5 65").size());
  CHECK_EQUAL(0, frames_of(bench, 0.5));
  CHECK_EQUAL(2, bench.ask("A5 61").size());
  CHECK_TRUE(frames_of(bench, 0.5) > 50);
}

TEST(SimYdlidarDialogue, WithoutModuleInfoThePointsComeAtOnce) {
  Bench bench("ydlidar", {{"module_info", "off"}});
  CHECK_EQUAL(1, bench.ask("A5 60").size());
}

TEST(SimYdlidarDialogue, WhileItScansOnlyStopIsHeard) {
  Bench bench("ydlidar", {{"model", "G4"}, {"streaming", "on"}});
  CHECK_TRUE(frames_of(bench, 0.5) > 50);
  for (const char* command : {"A5 90", "A5 92", "A5 60", "A5 80", "A5 0B", "A5 D0", "A5 D9"})
    CHECK_EQUAL(0, bench.ask(command).size());
  CHECK_TRUE(frames_of(bench, 0.5) > 50);
  bench.ask("A5 65");
  CHECK_EQUAL(0, frames_of(bench, 0.5));
  STRCMP_EQUAL("A5 5A 04 00 00 00 04 BC 02 00 00", bench.ask("A5 0D")[0].c_str());  // 7.00 Hz
}

TEST(SimYdlidarDialogue, SpeedIsSetInStepsWithinItsLimits) {
  Bench bench("ydlidar", {{"model", "G4"}});
  STRCMP_EQUAL("A5 5A 04 00 00 00 04 C6 02 00 00", bench.ask("A5 09")[0].c_str());  // 7.10
  STRCMP_EQUAL("A5 5A 04 00 00 00 04 BC 02 00 00", bench.ask("A5 0A")[0].c_str());
  STRCMP_EQUAL("A5 5A 04 00 00 00 04 20 03 00 00", bench.ask("A5 0B")[0].c_str());  // 8.00
  STRCMP_EQUAL("A5 5A 04 00 00 00 04 BC 02 00 00", bench.ask("A5 0C")[0].c_str());
  for (int i = 0; i < 9; ++i) bench.ask("A5 0B");
  STRCMP_EQUAL("A5 5A 04 00 00 00 04 B0 04 00 00", bench.ask("A5 0D")[0].c_str());  // 12.00
  bench.ask("A5 60");
  bench.run_for(1.0);
  std::size_t turns = 0;
  for (const sim::Frame& f : bench.out.frames)
    turns += (std::to_integer<unsigned>(f.bytes[2]) & 1U) != 0;
  CHECK_EQUAL(12, turns);
}

TEST(SimYdlidarDialogue, TheNextSampleRateFollowsTheLast) {
  Bench bench("ydlidar", {{"model", "G4"}});
  STRCMP_EQUAL("A5 5A 01 00 00 00 04 02", bench.ask("A5 D1")[0].c_str());  // 9 kS/s
  STRCMP_EQUAL("A5 5A 01 00 00 00 04 00", bench.ask("A5 D0")[0].c_str());  // 4 kS/s
  bench.ask("A5 60");
  bench.run_for(1.0);
  std::size_t samples = 0;
  for (const sim::ScanTruth& scan : bench.out.scans) samples += scan.beams.size();
  CHECK_TRUE(samples > 3900 && samples <= 4001);
}

TEST(SimYdlidarDialogue, WithHeartbeatTheScanEndsUnlessItIsAskedForAgain) {
  Bench bench("ydlidar", {{"model", "G4"}});
  STRCMP_EQUAL("A5 5A 01 00 00 00 04 01", bench.ask("A5 D9")[0].c_str());
  bench.ask("A5 60");
  for (int i = 0; i < 3; ++i) {
    CHECK_TRUE(frames_of(bench, 2.9) > 300);
    CHECK_EQUAL(0, bench.ask("A5 60").size());
  }
  bench.run_for(10.0);
  CHECK_TRUE(bench.out.frames.back().at <= bench.now - hal::from_seconds(7.0));
  CHECK_EQUAL(1, bench.ask("A5 90").size());
}

TEST(SimYdlidarDialogue, ACommandIsFoundInPiecesAndAmongGarbage) {
  Bench bench("ydlidar");
  CHECK_EQUAL(0, bench.ask("00 90 A5").size());
  CHECK_EQUAL(1, bench.ask("90").size());
  CHECK_EQUAL(1, bench.ask("A5 A5 91 FF").size());
  CHECK_EQUAL(0, bench.ask("A5 77 A5 13").size());
  CHECK_EQUAL(2, bench.ask("A5 90 A5 92").size());
}

TEST(SimYdlidarDialogue, AfterAResetItIsDeafForAWhileAndForgetsItsSettings) {
  Bench bench("ydlidar", {{"model", "G4"}});
  bench.ask("A5 0B");
  CHECK_EQUAL(0, bench.ask("A5 80 A5 90").size());
  bench.run_for(0.5);
  STRCMP_EQUAL("A5 5A 04 00 00 00 04 BC 02 00 00", bench.ask("A5 0D")[0].c_str());
}

TEST(SimYdlidarDialogue, AnX4WithoutDtrAnswersButSendsNoSamples) {
  Bench bench("ydlidar", {{"motor", "off"}});
  CHECK_EQUAL(2, bench.ask("A5 60").size());
  CHECK_EQUAL(0, frames_of(bench, 1.0));
  bench.model->set_dtr(true, bench.now);
  CHECK_TRUE(frames_of(bench, 0.5) > 50);
  bench.model->set_dtr(false, bench.now);
  CHECK_EQUAL(0, frames_of(bench, 0.5));
}

TEST(SimYdlidarDialogue, AOneWayModelStreamsWhileItTurnsAndNeverAnswers) {
  for (const char* model : {"X2", "X3", "X4Pro", "S2", "TX"}) {
    Bench bench("ydlidar", {{"model", model}});
    CHECK_TRUE(frames_of(bench, 0.5) > 35);
    for (const char* command : {"A5 65", "A5 90", "A5 60", "A5 80"})
      CHECK_EQUAL(0, bench.ask(command).size());
    CHECK_TRUE(frames_of(bench, 0.5) > 35);
  }
}

TEST(SimYdlidarDialogue, WhatTheDeviceCannotDoIsRefused) {
  const sim::ModelRow& row = *sim::find_model("ydlidar");
  sim::DeviceClock clock(1);
  const auto makes = [&](const sim::Options& set, double rate) {
    const sim::Settings settings = *sim::Settings::check(row.options, set);
    return static_cast<bool>(row.make({settings, clock, rate, 1}));
  };
  CHECK_TRUE(makes({}, 12.0));
  CHECK_FALSE(makes({}, 13.0));
  CHECK_FALSE(makes({{"frequency", "2"}}, 0.0));
  CHECK_TRUE(makes({{"model", "G4"}, {"sample_rate", "8"}}, 0.0));
  CHECK_FALSE(makes({{"model", "G4"}, {"sample_rate", "5"}}, 0.0));
  CHECK_FALSE(makes({{"model", "X4"}, {"intensity", "16"}}, 0.0));
  CHECK_TRUE(makes({{"model", "G4"}, {"sample_rate", "4"}, {"intensity", "16"}}, 0.0));
}
