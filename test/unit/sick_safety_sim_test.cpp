// The driver and the simulated scanners, over both ports, on a network that delays nothing.
#include <cmath>
#include <numbers>

#include "test/sim/room.h"
#include "test/support/sim_line.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::SimLine;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

// As far as a mm and the truth of a neighbouring direction tell.
bool is_true(const Beam& beam, double mm = 1) {
  return std::ranges::any_of(std::array{-1, 0, 1}, [&](int side) {
    const double range = sim::Room::range(double{beam.angle} + side * 2e-5);
    return std::abs(range - double{beam.range}) < 1e-3 + mm * 1e-3;
  });
}

struct Model {
  const char* name;
  const char* about;
  std::size_t beams;
  hal::Duration scan;

  double scans_in(hal::Duration d) const { return static_cast<double>(d / scan); }
};
constexpr Model kModels[] = {
    {"microScan3", "MICS3-CBAZ40ZA1P01, serial number 20430241", 2751, 30ms},
    {"nanoScan3", "NANS3-CAAZ30AN1P02, serial number 20430242", 1651, 30ms},
    {"outdoorScan3", "MICS3-CBUZ40IZ1P01, serial number 20430243", 706, 40ms}};

// Its scans show the room, and none of them, nor any of its datagrams, makes no sense.
void is_well(SimLine& line, double mm = 1) {
  CHECK_TRUE(line.health().state == State::streaming);
  CHECK_TRUE(line.health().cause == Cause::none);
  CHECK_TRUE(line.health().balances());
  LONGS_EQUAL(0, line.health().undecodable + line.health().stale + line.health().stuck);
  for (const auto& beams : line.log.beams)
    for (const Beam& beam : beams) CHECK_TRUE(is_true(beam, mm));
}
// Each scan of the last `n` is where the truth has it, beam by beam.
void is_on_time(SimLine& line, std::size_t n, hal::Duration most) {
  std::size_t at = 0;
  const std::size_t from = line.log.slices.size() - n;
  for (std::size_t i = from; i < line.log.slices.size(); ++i) {
    const ScanSlice& slice = line.log.slices[i];
    const std::size_t beams = slice.beams.size();
    const auto off = [&](std::size_t scan, std::size_t k) {
      const hal::Time seen = slice.first + slice.step * static_cast<std::int64_t>(k);
      return std::chrono::abs(seen - line.truth.beams[scan + k].at);
    };
    while (off(at, 0) > 10ms) CHECK_TRUE((at += beams) + beams <= line.truth.beams.size());
    for (const std::size_t k : {std::size_t{0}, beams / 2, beams - 1}) {
      CHECK_TRUE(off(at, k) <= most);
      DOUBLES_EQUAL(line.truth.beams[at + k].angle, double{slice.beams[k].angle}, 1e-6);
    }
    at += beams;
  }
}
void is_refused(const sim::Options& device, const char* words) {
  SimLine line("sick_safety", device, {}, 0, {}, {}, true);
  line.wait_for([&] { return line.health().cause == Cause::refused; }, 5s);
  CHECK_TRUE(line.health().cause == Cause::refused);
  STRCMP_CONTAINS(words, line.health().why.c_str());
  LONGS_EQUAL(0, line.log.slices.size());
  CHECK_TRUE(line.health().balances());
}

}  // namespace

TEST_GROUP(SickSafetySim){};

TEST(SickSafetySim, EveryModelIsSetUpHeardAndNamed) {
  for (const Model& model : kModels) {
    SimLine line("sick_safety", {{"model", model.name}, {"strict", "on"}}, {}, 0, {}, {}, true);
    CHECK_TRUE(line.until_streaming() < 500ms);
    line.run_for(5s);
    is_well(line);
    is_on_time(line, 20, 1100us);
    STRCMP_EQUAL(model.about, line.health().about.c_str());
    LONGS_EQUAL(0, line.health().lost + line.health().lost_parts);
    DOUBLES_EQUAL(model.scans_in(5s), static_cast<double>(line.log.slices.size()), 2);
    for (const ScanSlice& slice : line.log.slices) {
      LONGS_EQUAL(model.beams, slice.beams.size());
      CHECK_TRUE(slice.starts_turn && slice.has_intensity);
      DOUBLES_EQUAL(-137.5, double{slice.beams.front().angle} / kDeg, 1e-4);
      DOUBLES_EQUAL(137.5, double{slice.beams.back().angle} / kDeg, 1e-3);
    }
  }
}

TEST(SickSafetySim, AnglesAndShareOfTheScansAreSet) {
  SimLine line("sick_safety", {}, {{"divider", "4"}, {"start_deg", "-90"}, {"end_deg", "45"}}, 0,
               {}, {}, true);
  CHECK_TRUE(line.until_streaming() < 500ms);
  line.run_for(6s);
  is_well(line);
  is_on_time(line, 10, 1100us);
  LONGS_EQUAL(0, line.health().lost);
  DOUBLES_EQUAL(50, static_cast<double>(line.log.slices.size()), 2);
  const auto& beams = line.log.beams.back();
  DOUBLES_EQUAL(-90, double{beams.front().angle} / kDeg, 0.1);
  DOUBLES_EQUAL(45, double{beams.back().angle} / kDeg, 0.1);
}

TEST(SickSafetySim, WithoutItsControlPortItSendsOnlyWhatWasSetBefore) {
  SimLine silent("sick_safety", {{"preset", "off"}}, {}, 0);
  silent.run_for(3s);
  CHECK_TRUE(silent.health().state != State::streaming);
  SimLine line("sick_safety", {{"preset", "on"}}, {}, 0);
  CHECK_TRUE(line.until_streaming() < 500ms);
  line.run_for(3s);
  is_well(line);
  STRCMP_EQUAL("serial number 20430241", line.health().about.c_str());
}

TEST(SickSafetySim, ADeviceAtWorkAlreadyIsTakenOver) {
  SimLine line("sick_safety", {{"preset", "on"}, {"divider", "3"}}, {}, 0, 777ms, {}, true);
  CHECK_TRUE(line.until_streaming() < 500ms);
  line.run_for(3s);
  is_well(line);
  is_on_time(line, 10, 1100us);
  DOUBLES_EQUAL(100, static_cast<double>(line.log.slices.size()), 2);
}

TEST(SickSafetySim, OfSeveralChannelsTheFirstOrTheChosenCounts) {
  for (const char* channel : {"auto", "0", "3"}) {
    SimLine line("sick_safety", {{"preset", "on"}, {"channels", "4"}}, {{"channel", channel}}, 0);
    CHECK_TRUE(line.until_streaming() < 500ms);
    line.run_for(3s);
    is_well(line);
    LONGS_EQUAL(0, line.health().lost);
    DOUBLES_EQUAL(100, static_cast<double>(line.log.slices.size()), 2);
  }
}

TEST(SickSafetySim, EveryChoiceOfBlocksIsRead) {
  for (const char* features : {"6", "7", "14", "22", "31"}) {
    SimLine line("sick_safety", {{"preset", "on"}, {"features", features}}, {}, 0);
    line.run_for(1s);
    is_well(line);
  }
  SimLine line("sick_safety", {{"preset", "on"}, {"features", "4"}}, {}, 0);
  line.run_for(5s);
  LONGS_EQUAL(0, line.log.slices.size());
  CHECK_TRUE(line.health().state != State::streaming);
  STRCMP_CONTAINS("no derived values", line.health().why.c_str());
}

TEST(SickSafetySim, FactorDateAndTheOtherStampAreUnderstood) {
  SimLine coarse("sick_safety", {{"preset", "on"}, {"factor", "10"}}, {}, 0);
  coarse.run_for(1s);
  is_well(coarse, 6);
  for (const char* wrap : {"counter", "day"}) {
    SimLine line("sick_safety", {{"preset", "on"}, {"stamp", "end"}, {"wrap", wrap}},
                 {{"stamp", "last"}}, 0);
    line.run_for(3s);
    is_well(line);
    is_on_time(line, 20, 1100us);
  }
}

TEST(SickSafetySim, DatagramsOfAnotherKindDoNotDisturb) {
  SimLine line("sick_safety", {{"foreign", "on"}}, {}, 0, {}, {}, true);
  line.run_for(3s);
  is_well(line);
  LONGS_EQUAL(0, line.health().lost + line.health().lost_parts);
  CHECK_TRUE(line.health().framing.garbage_bytes > 0);
}

TEST(SickSafetySim, WhatItRefusesIsNamed) {
  is_refused({{"sessions", "0"}}, "'open session': no session is free");
  is_refused({{"settings", "denied"}}, "'set data output': not allowed at this user level");
  is_refused({{"settings", "busy"}}, "'set data output': it is busy");
}

TEST(SickSafetySim, AYesThatChangesNothingIsASilenceThatIsTold) {
  SimLine line("sick_safety", {{"settings", "ignored"}}, {}, 0, {}, {}, true);
  line.run_for(10s);
  CHECK_TRUE(line.health().state != State::streaming);
  CHECK_TRUE(line.health().cause == Cause::no_packets);
  STRCMP_CONTAINS("", line.health().why.c_str());
  CHECK_TRUE(line.health().balances());
}

TEST(SickSafetySim, AfterAPowerCycleItIsSetUpAgain) {
  SimLine line("sick_safety", {}, {}, 0, {}, {"off@3+1"}, true);
  line.run_for(4s);
  CHECK_TRUE(line.health().state != State::streaming);
  const std::size_t before = line.log.slices.size();
  line.run_for(5s);
  is_well(line);
  is_on_time(line, 20, 1100us);
  CHECK_TRUE(line.log.slices.size() > before + 80);
  CHECK_TRUE(line.health().faults > 0);
}

TEST(SickSafetySim, WhatComesTwiceOrOutOfOrderLosesNothing) {
  for (const Model& model : kModels) {
    SimLine line("sick_safety", {{"model", model.name}, {"preset", "on"}}, {}, 0, {},
                 {"duplicate%10", "reorder%10"});
    line.run_for(5s);
    is_well(line);
    LONGS_EQUAL(0, line.health().lost + line.health().lost_parts);
    DOUBLES_EQUAL(model.scans_in(5s), static_cast<double>(line.log.slices.size()), 2);
  }
}

TEST(SickSafetySim, WhatIsLostIsCounted) {
  for (const Model& model : kModels) {
    SimLine line("sick_safety", {{"model", model.name}, {"preset", "on"}}, {}, 0, {},
                 {"drop%10", "duplicate%10", "reorder%10"});
    line.run_for(20s);
    is_well(line);
    const auto seen = static_cast<double>(line.log.slices.size());
    const auto lost = static_cast<double>(line.health().lost);
    CHECK_TRUE(seen > 50 && lost > 50);
    CHECK_TRUE(line.health().lost_parts > line.health().lost / 2);
    DOUBLES_EQUAL(model.scans_in(20s), seen + lost, 12);  // before the first and behind the last
  }
}

TEST(SickSafetySim, DamagedDatagramsHideNoOthers) {
  SimLine line("sick_safety", {{"model", "outdoorScan3"}, {"preset", "on"}}, {}, 0, {},
               {"truncate%5", "garbage%5"});
  line.run_for(10s);
  CHECK_TRUE(line.health().state == State::streaming);
  CHECK_TRUE(line.health().balances());
  CHECK_TRUE(line.health().framing.garbage_bytes > 0);
  CHECK_TRUE(line.log.slices.size() > 150);
}

TEST(SickSafetySim, TheStopLeavesItsSettingsAndItsSessionsFree) {
  SimLine line("sick_safety", {{"sessions", "1"}}, {}, 0, {}, {"off@6+1"}, true);
  line.run_for(3s);
  is_well(line);
  line.stop();
  CHECK_TRUE(line.health().state == State::idle);
  CHECK_TRUE(line.health().balances());
}
