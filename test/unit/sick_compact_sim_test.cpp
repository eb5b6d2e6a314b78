// The driver listens to the simulated scanners, on a network that delays nothing but what is asked.
#include <cmath>
#include <numbers>

#include "drivers/diagnosis.h"
#include "test/sim/room.h"
#include "test/support/sim_line.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::SimLine;

namespace {

constexpr double kDeg = std::numbers::pi / 180;

// As far as a step of the azimuth and a mm tell.
bool is_true(const Beam& beam) {
  return std::ranges::any_of(std::array{-1, 0, 1}, [&](int side) {
    const double range = sim::Room::range(double{beam.angle} + side * 2e-4);
    return std::abs(range - double{beam.range}) < 3e-3;
  });
}

std::uint64_t beams_in(const test::PacketLog& log) {
  std::uint64_t n = 0;
  for (const auto& beams : log.beams) n += beams.size();
  return n;
}

}  // namespace

TEST_GROUP(SickCompactSim){static void is_well(SimLine & line, Cause cause = Cause::none){
    CHECK_TRUE(line.health().state == State::streaming);
STRCMP_EQUAL(name(cause), name(line.health().cause));
CHECK_TRUE(line.health().balances());
LONGS_EQUAL(0, line.health().undecodable);
for (const auto& beams : line.log.beams) {
  for (const Beam& beam : beams) CHECK_TRUE(is_true(beam));
}
}
}
;

TEST(SickCompactSim, EveryModelIsHeardBeamByBeam) {
  for (const char* model : {"picoScan150", "picoScan120", "multiScan136"}) {
    SimLine line("sick_compact", {{"model", model}, {"preset", "on"}}, {}, 0);
    line.run_for(3s);
    is_well(line);
    LONGS_EQUAL(0, line.health().lost + line.health().stale);
    CHECK_TRUE(line.truth.beams.size() - beams_in(line.log) <= 240);  // the newest is on its way
  }
}

TEST(SickCompactSim, EveryContentIsRead) {
  for (const char* content : {"all", "distance", "no_azimuth"})
    for (const char* version : {"3", "4"}) {
      SimLine line("sick_compact", {{"content", content}, {"version", version}, {"preset", "on"}},
                   {}, 0);
      line.run_for(1s);
      is_well(line);
      CHECK_EQUAL(std::string_view(content) != "distance", line.log.slices.back().has_intensity);
    }
}

TEST(SickCompactSim, ItsMotionIsASensorOfItsOwn) {
  SimLine line("sick_compact", {{"preset", "on"}}, {}, 0);
  line.run_for(3s);
  CHECK_TRUE(line.log.samples.size() >= 298);
  LONGS_EQUAL(line.log.samples.size(), line.health().imu_packets);
  std::size_t k = 0;
  for (const ImuSample& sample : line.log.samples) {
    while (line.truth.samples.at(k).device_ns != *sample.device_ns) ++k;
    const sim::ImuTruth& truth = line.truth.samples[k];
    DOUBLES_EQUAL(0, hal::to_seconds(sample.at - truth.at) * 1e6, 2.0);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      DOUBLES_EQUAL(truth.accel[axis], (*sample.accel)[axis], 1e-5);
      DOUBLES_EQUAL(truth.gyro[axis], (*sample.gyro)[axis], 1e-5);
    }
  }
}

TEST(SickCompactSim, WhatComesTwiceOrOutOfOrderLosesNothing) {
  SimLine line("sick_compact", {{"imu", "off"}, {"preset", "on"}}, {}, 0, {},
               {"duplicate%10", "reorder%10"});
  line.run_for(5s);
  is_well(line);
  LONGS_EQUAL(0, line.health().lost);
  CHECK_TRUE(line.truth.beams.size() - beams_in(line.log) <= 4 * 240);  // what waits at the end
}

TEST(SickCompactSim, WhatIsLostIsCounted) {
  SimLine line("sick_compact", {{"imu", "off"}, {"preset", "on"}}, {}, 0, {}, {"drop%10"});
  line.run_for(5s);
  is_well(line);
  CHECK_TRUE(line.health().lost > 50 && line.health().lost < 150);
}

TEST(SickCompactSim, DamagedDatagramsHideNoOthers) {
  SimLine line("sick_compact", {{"imu", "off"}, {"preset", "on"}}, {}, 0, {},
               {"truncate%5", "bitflip%5", "garbage%5"});
  line.run_for(5s);
  is_well(line, Cause::bad_checksums);
  CHECK_TRUE(line.health().framing.garbage_bytes > 0);
  CHECK_TRUE(line.log.slices.size() > 800);
}

TEST(SickCompactSim, ItIsSetUpOverItsControlPort) {
  for (const char* model : {"picoScan150", "picoScan120", "multiScan136"}) {
    SimLine line("sick_compact", {{"model", model}}, {}, 0, {}, {}, true);
    CHECK_TRUE(line.until_streaming() < 500ms);
    line.run_for(2s);
    is_well(line);
    LONGS_EQUAL(0, line.health().lost);
    CHECK_EQUAL(std::string_view(model) == "picoScan120", line.log.samples.empty());
    STRCMP_CONTAINS(model, line.health().about.c_str());
    STRCMP_CONTAINS("sends to 127.0.0.1:2115", line.health().about.c_str());
    line.stop();
    const std::size_t then = line.log.slices.size();
    line.run_for(1s);
    LONGS_EQUAL(then, line.log.slices.size());
  }
}

TEST(SickCompactSim, EveryReturnIsAnEchoWhereAllAreWanted) {
  for (const char* echoes : {"all", "first"}) {
    SimLine line("sick_compact", {}, {{"echoes", echoes}}, 0, {}, {}, true);
    line.run_for(2s);
    is_well(line);
    const bool all = std::string_view(echoes) == "all";
    CHECK_EQUAL(all, !line.log.echoes.back().empty());
    std::size_t further = 0;
    for (const auto& slice : line.log.echoes)
      for (const Echo& echo : slice) further += echo.range > 0;
    CHECK_EQUAL(all, further > 100);
  }
}

TEST(SickCompactSim, AfterAPowerCycleItIsSetUpAgain) {
  SimLine line("sick_compact", {}, {}, 0, {}, {"off@3+1"}, true);
  line.run_for(3s);
  const std::size_t before = line.log.slices.size();
  CHECK_TRUE(before > 500);
  line.run_for(5s);
  is_well(line);
  CHECK_TRUE(line.log.slices.size() > before + 200);
  CHECK_TRUE(line.health().faults > 0);
}

TEST(SickCompactSim, WhatItRefusesIsNamed) {
  const struct {
    const char *refuse, *words;
  } kRefusals[] = {{"login", "'log in': the password is wrong"},
                   {"destination", "'address that scans go to': a value is out of its range"},
                   {"enable", "'scans on': a value is out of its range"},
                   {"format", "'Compact format': a value is out of its range"},
                   {"start", "'start measuring': status 1"}};
  for (const auto& [refuse, words] : kRefusals) {
    SimLine line("sick_compact", {{"refuse", refuse}}, {}, 0, {}, {}, true);
    line.wait_for([&] { return line.health().cause == Cause::refused; }, 5s);
    CHECK_TRUE(line.health().cause == Cause::refused);
    STRCMP_CONTAINS(words, line.health().why.c_str());
    CHECK_TRUE(line.health().balances());
  }
}
