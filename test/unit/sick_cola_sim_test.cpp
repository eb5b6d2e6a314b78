// The driver and the simulated scanners, on a socket that delays nothing.
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
bool is_true(const Beam& beam) {
  return std::ranges::any_of(std::array{-1, 0, 1}, [&](int side) {
    const double range = sim::Room::range(double{beam.angle} + side * 2e-5);
    return std::abs(range - double{beam.range}) < 2e-3;
  });
}

}  // namespace

TEST_GROUP(SickColaSim){// Its scans show the room, each counted, none lost.
                        static void is_well(SimLine & line, std::size_t beams, double first_deg,
                                            double last_deg, double hz){line.run_for(1s);
const std::size_t from = line.log.slices.size();
line.run_for(4s);
CHECK_TRUE(line.health().state == State::streaming);
CHECK_TRUE(line.health().cause == Cause::none);
CHECK_TRUE(line.health().balances());
LONGS_EQUAL(0, line.health().lost + line.health().undecodable);
DOUBLES_EQUAL(4 * hz, static_cast<double>(line.log.slices.size() - from), 1);
for (std::size_t i = from; i < line.log.slices.size(); ++i) {
  const auto& seen = line.log.beams[i];
  LONGS_EQUAL(beams, seen.size());
  DOUBLES_EQUAL(first_deg, seen.front().angle / kDeg, 1e-4);
  DOUBLES_EQUAL(last_deg, seen.back().angle / kDeg, 1e-4);
  CHECK_TRUE(line.log.slices[i].starts_turn);
  for (const Beam& beam : seen) CHECK_TRUE(is_true(beam));
}
}
// It is refused, and why.
static void is_refused(const sim::Options& device, const SimLine::Set& options, const char* words) {
  SimLine line("sick_cola", device, options, 0);
  line.wait_for([&] { return line.health().cause == Cause::refused; }, 5s);
  CHECK_TRUE(line.health().cause == Cause::refused);
  STRCMP_CONTAINS(words, line.health().why.c_str());
  CHECK_TRUE(line.health().balances());
}
}
;

TEST(SickColaSim, EveryModelStreamsAndIsNamed) {
  struct Model {
    const char* name;
    const char* about;
    std::size_t beams;
    double first_deg, last_deg, hz;
  };
  const Model models[] = {
      {"TiM551", "TiM551-2050001 V2.54, serial 17250140, CoLa B, 15 Hz, 1 deg", 271, -135, 135, 15},
      {"TiM561", "TiM561-2050101 V3.14, serial 17250141, CoLa B, 15 Hz, 0.3333 deg", 811, -135, 135,
       15},
      {"TiM781", "TiM781-2174101 V4.10, serial 18480391, CoLa B, 15 Hz, 0.3333 deg", 811, -135, 135,
       15},
      {"TiM781S", "TiM781S-2174104 V4.10, serial 18480390, CoLa B, 15 Hz, 0.3333 deg", 811, -135,
       135, 15},
      {"LMS111", "LMS111-10100 V2.00, serial 11020045, CoLa B, 50 Hz, 0.5 deg", 541, -135, 135, 50},
      {"LMS511", "LMS511-20100 V1.80, serial 18110550, CoLa B, 25 Hz, 0.1667 deg", 1141, -95, 95,
       25}};
  for (const Model& model : models) {
    SimLine line("sick_cola", {{"model", model.name}}, {}, 0);
    CHECK_TRUE(line.until_streaming() < 500ms);
    is_well(line, model.beams, model.first_deg, model.last_deg, model.hz);
    STRCMP_EQUAL(model.about, line.health().about.c_str());
  }
}

TEST(SickColaSim, OfAModelWithLayersOneIsTaken) {
  SimLine line("sick_cola", {{"model", "MRS1104"}}, {}, 0);
  CHECK_TRUE(line.until_streaming(30s) > 15s);
  is_well(line, 1101, -137.5, 137.5, 12.5);
}

TEST(SickColaSim, AModelWithMoreBeamsNeedsItsResolution) {
  is_refused({{"model", "LRS4581"}}, {}, "it sends 2401 beams a scan: set resolution_deg to 0.125");
  SimLine line("sick_cola", {{"model", "LRS4581"}}, {{"resolution_deg", "0.125"}}, 0);
  CHECK_TRUE(line.until_streaming() < 500ms);
  is_well(line, 2401, -150, 150, 12.5);
}

TEST(SickColaSim, AStrictDeviceIsSpokenToInItsDialect) {
  for (const char* dialect : {"a", "b"}) {
    SimLine line("sick_cola", {{"dialect", dialect}}, {}, 0);
    CHECK_TRUE(line.until_streaming() < 800ms);
    is_well(line, 811, -135, 135, 15);
    STRCMP_CONTAINS(dialect[0] == 'a' ? "CoLa A" : "CoLa B", line.health().about.c_str());
  }
}

TEST(SickColaSim, ItIsSwitchedToTheDialectThatIsWanted) {
  for (const auto& [device, wanted, told] :
       {std::tuple{"a", "binary", "CoLa B"}, std::tuple{"b", "ascii", "CoLa A"}}) {
    SimLine line("sick_cola", {{"dialect", device}}, {{"dialect", wanted}}, 0);
    CHECK_TRUE(line.until_streaming() < 800ms);
    is_well(line, 811, -135, 135, 15);
    STRCMP_CONTAINS(told, line.health().about.c_str());
  }
}

TEST(SickColaSim, ChatterAndWorkInProgressDoNotDisturb) {
  SimLine line("sick_cola", {{"chatter", "on"}, {"streaming", "on"}}, {}, 0, 777ms);
  CHECK_TRUE(line.until_streaming() < 500ms);
  is_well(line, 811, -135, 135, 15);
  CHECK_TRUE(line.health().silent_frames > 10);
}

TEST(SickColaSim, FrequencyResolutionAndAnglesAreSet) {
  SimLine line(
      "sick_cola", {{"model", "LMS111"}},
      {{"frequency_hz", "25"}, {"resolution_deg", "0.25"}, {"start_deg", "-90"}, {"end_deg", "60"}},
      0);
  CHECK_TRUE(line.until_streaming() < 500ms);
  is_well(line, 601, -90, 60, 25);
}

TEST(SickColaSim, AllReturnsAreEchoes) {
  for (const char* model : {"LMS511", "LMS111"}) {
    SimLine line("sick_cola", {{"model", model}}, {{"echoes", "all"}}, 0);
    CHECK_TRUE(line.until_streaming() < 500ms);
    line.run_for(1s);
    CHECK_TRUE(!line.log.echoes.back().empty());
    const bool behind = std::ranges::any_of(line.log.echoes.back(),
                                            [](const Echo& echo) { return echo.range > 0; });
    CHECK_TRUE(behind);
    CHECK_TRUE(line.health().balances());
  }
}

TEST(SickColaSim, NarrowIntensitiesAndNoneAreTaken) {
  for (const auto& [bits, has] :
       {std::pair{"16", true}, std::pair{"8", true}, std::pair{"off", false}}) {
    SimLine line("sick_cola", {{"model", "LMS111"}}, {{"intensities", bits}}, 0);
    CHECK_TRUE(line.until_streaming() < 500ms);
    is_well(line, 541, -135, 135, 50);
    CHECK_TRUE(line.log.slices.back().has_intensity == has);
  }
}

TEST(SickColaSim, ScaleAndUnknownChannelsAreUnderstood) {
  SimLine line("sick_cola", {{"model", "LMS511"}, {"scale", "2"}, {"unknown_channel", "on"}}, {},
               0);
  CHECK_TRUE(line.until_streaming() < 500ms);
  is_well(line, 1141, -95, 95, 25);
}

TEST(SickColaSim, RefusalsNameTheStepAndTheReason) {
  is_refused({{"refuse", "login"}}, {}, "refused 'log in': the password is wrong");
  is_refused({{"refuse", "content"}}, {},
             "refused 'set content of scans': a value is out of its range");
  is_refused({{"refuse", "range"}}, {{"start_deg", "-90"}},
             "refused 'set angles': a value is out of");
  is_refused({{"refuse", "filter"}, {"model", "LMS511"}}, {{"echoes", "all"}},
             "refused 'set echoes'");
  is_refused({{"refuse", "start"}}, {}, "refused 'start measuring': it does not measure");
  is_refused({{"refuse", "events"}}, {}, "refused 'ask for scans': it does not know this event");
  is_refused({}, {{"frequency_hz", "25"}}, "this model has one speed: leave frequency_hz out");
  is_refused({{"model", "LMS111"}}, {{"frequency_hz", "33"}},
             "refused 'set frequency and resolution'");
}

TEST(SickColaSim, ALossOfPowerIsSurvived) {
  SimLine line("sick_cola", {{"model", "LMS111"}}, {{"start_deg", "-90"}}, 0, {}, {"off@3+2"});
  line.run_for(4900ms);
  CHECK_TRUE(line.health().state != State::streaming);
  line.run_for(100ms);
  CHECK_TRUE(line.until_streaming() <= 1s);
  is_well(line, 451, -90, 135, 50);
}

TEST(SickColaSim, TelegramsThatNeverCameAreCounted) {
  SimLine line("sick_cola", {}, {}, 0, {}, {"drop@5+20%10"});
  line.run_for(30s);
  const std::uint64_t lost = line.health().lost;
  CHECK_TRUE(lost > 10 && lost < 60);
  CHECK_TRUE(line.health().balances());
}

TEST(SickColaSim, IsSilentAfterTheStop) {
  SimLine line("sick_cola", {{"model", "LMS111"}}, {}, 0);
  line.run_for(1s);
  line.stop();
  CHECK_TRUE(line.health().state == State::idle);
  const std::size_t said = line.truth.beams.size();
  line.run_for(1s);
  LONGS_EQUAL(said, line.truth.beams.size());
}
