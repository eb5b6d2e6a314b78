// The driver and its simulated device, which was written from the manual alone: every model,
// whatever the device does when the driver comes.
#include <cmath>

#include "drivers/ydlidar/ydlidar.h"
#include "test/sim/room.h"
#include "test/support/framing_properties.h"
#include "test/support/sim_line.h"
#include "test/unit/sim_fixture.h"

using drivers::Cause;
using drivers::State;
using test::SimLine;
using namespace std::chrono_literals;

namespace {

struct Model {
  const char* name;
  int baud;
  bool one_way;
};
constexpr Model kModels[] = {
    {"X2", 115200, true},         {"X3", 115200, true},           {"X4", 128000, false},
    {"X4Pro", 128000, true},      {"S2", 115200, true},           {"S4", 115200, false},
    {"S4B", 153600, false},       {"F4", 115200, false},          {"R2", 230400, false},
    {"G1", 230400, false},        {"G2", 230400, false},          {"G2A", 230400, false},
    {"G2C", 115200, false},       {"G4", 230400, false},          {"G4B", 512000, false},
    {"G6", 512000, false},        {"TG15", 512000, false},        {"TG30", 512000, false},
    {"TG50", 512000, false},      {"TX", 115200, true},           {"TminiPro", 230400, false},
    {"TminiPlus", 230400, false}, {"TminiPlusSH", 230400, false},
};

SimLine::Set told(const Model& m) {
  return m.one_way ? SimLine::Set{{"model", m.name}} : SimLine::Set{};
}

}  // namespace

TEST_GROUP(YdlidarDialogue){
    // Streaming, with the room where it is, one start per turn, and nothing lost in the books.
    static void is_well(SimLine & line, const Model& m){line.run_for(1s);
const std::size_t from = line.log.slices.size();
const std::uint64_t rejected = line.health().framing.rejected;
const hal::Time begin = line.clock.now();
line.run_for(3s);
CHECK_TRUE_TEXT(line.health().state == State::streaming, m.name);
CHECK_TRUE_TEXT(line.health().balances(), m.name);
LONGS_EQUAL_TEXT(rejected, line.health().framing.rejected, m.name);
std::size_t turns = 0, far = 0;
for (std::size_t i = from; i < line.log.slices.size(); ++i) {
  turns += line.log.slices[i].starts_turn;
  for (const drivers::Beam& beam : line.log.beams[i]) {
    const double true_range = sim::Room::range(double{beam.angle});
    far += beam.range > 0 && std::abs(double{beam.range} - true_range) > 0.02;
  }
}
const double hz = static_cast<double>(turns) / hal::to_seconds(line.clock.now() - begin);
CHECK_TRUE_TEXT(hz > 5.5 && hz < 10.5, m.name);
LONGS_EQUAL_TEXT(0, far, m.name);
}
}
;

TEST(YdlidarDialogue, EveryModelIsStartedFromSilence) {
  for (const Model& m : kModels) {
    SimLine line("ydlidar", {{"model", m.name}}, told(m), m.baud);
    line.port->baud = m.baud;
    CHECK_TRUE_TEXT(line.until_streaming() < 1s, m.name);
    is_well(line, m);
  }
}

TEST(YdlidarDialogue, EveryModelIsTakenOverWhileItStreams) {
  for (const Model& m : kModels) {
    SimLine line("ydlidar", {{"model", m.name}, {"streaming", "on"}}, told(m), m.baud, 1234567us);
    line.port->baud = m.baud;
    CHECK_TRUE_TEXT(line.until_streaming() < 1s, m.name);
    is_well(line, m);
  }
}

TEST(YdlidarDialogue, WhatItTellsCountsMoreThanWhatWasGuessedFromItsPackets) {
  SimLine line("ydlidar", {{"model", "G2"}, {"streaming", "on"}}, {}, 230400, 1234567us);
  line.port->baud = 230400;
  line.until_streaming();
  STRCMP_EQUAL("G2, model code 15, firmware 1.5, serial 5905185300704269, 5 kHz",
               line.health().about.c_str());
}

TEST(YdlidarDialogue, EveryModelIsFoundAtAnotherRate) {
  for (const Model& m : kModels) {
    const int wrong = m.baud == 115200 ? 230400 : 115200;
    for (const char* streaming : {"off", "on"}) {
      SimLine line("ydlidar", {{"model", m.name}, {"streaming", streaming}}, told(m), wrong, 100ms);
      line.port->baud = wrong;
      CHECK_TRUE_TEXT(line.until_streaming() < 5s, m.name);
      LONGS_EQUAL_TEXT(m.baud, line.health().baud, m.name);
      is_well(line, m);
    }
  }
}

TEST(YdlidarDialogue, EveryModelIsTakenOverInTheMiddleOfAFrame) {
  for (const Model& m : kModels) {
    for (const std::size_t cut : {1U, 9U, 11U, 40U}) {
      SimLine line("ydlidar", {{"model", m.name}, {"streaming", "on"}}, told(m), m.baud, 777777us);
      line.port->lose(cut);
      CHECK_TRUE_TEXT(line.until_streaming() < 1s, m.name);
      is_well(line, m);
    }
  }
}

TEST(YdlidarDialogue, NoBeamIsEarlierThanTheOneBefore) {
  for (const Model& m : kModels) {
    SimLine line("ydlidar", {{"model", m.name}}, told(m), m.baud);
    line.run_for(4s);
    for (std::size_t i = 1; i < line.log.slices.size(); ++i) {
      CHECK_TRUE_TEXT(line.log.slices[i].first > line.log.slices[i - 1].last(), m.name);
    }
  }
}

TEST(YdlidarDialogue, AModelThatAnswersIsNamed) {
  for (const Model& m : kModels) {
    SimLine line("ydlidar", {{"model", m.name}}, told(m), m.baud);
    line.until_streaming();
    STRCMP_CONTAINS(m.one_way ? m.name : "model code", line.health().about.c_str());
    if (!m.one_way) STRCMP_CONTAINS(m.name, line.health().about.c_str());
  }
}

TEST(YdlidarDialogue, PowerLossIsSurvivedWithinASecondOfTheDevice) {
  for (const Model& m : kModels) {
    SimLine line("ydlidar", {{"model", m.name}}, told(m), m.baud, {}, {"off@3+2"});
    line.run_for(4s);
    CHECK_TRUE_TEXT(line.health().state != State::streaming, m.name);
    line.run_for(1s);
    CHECK_TRUE_TEXT(line.until_streaming() <= 1s, m.name);
    is_well(line, m);
  }
}

TEST(YdlidarDialogue, EveryIntactPacketOfADamagedStreamIsDelivered) {
  for (const Model& m : kModels) {
    sim_test::Bench device("ydlidar", {{"model", m.name}, {"streaming", "on"}});
    device.run_for(3);
    std::vector<test::Stream> frames;
    for (const sim::Frame& frame : device.out.frames) frames.push_back(frame.bytes);
    CHECK_TRUE(frames.size() > 100);
    test::check_damaged_stream(drivers::YdlidarFraming{}, frames);
  }
}

TEST(YdlidarDialogue, ASampleRateIsSetByItsName) {
  SimLine line("ydlidar", {{"model", "G4"}}, {{"sample_khz", "4"}}, 230400);
  line.until_streaming();
  line.run_for(1s);
  CHECK_TRUE(line.log.slices.back().step == 250us);
  STRCMP_CONTAINS("4 kHz", line.health().about.c_str());
}

TEST(YdlidarDialogue, AScanFrequencyIsSet) {
  SimLine line("ydlidar", {{"model", "TG30"}}, {{"scan_hz", "8.3"}}, 512000);
  line.until_streaming();
  line.log = {};
  line.run_for(10s);
  const auto turns = std::ranges::count(line.log.slices, true, &drivers::ScanSlice::starts_turn);
  CHECK_TRUE(turns >= 82 && turns <= 84);
}

TEST(YdlidarDialogue, BadHealthIsTold) {
  SimLine line("ydlidar", {{"model", "G4"}, {"health", "2"}, {"health_code", "4660"}}, {}, 230400);
  line.run_for(1s);
  CHECK_TRUE(line.health().cause == Cause::refused);
  STRCMP_CONTAINS("its health is bad, code 0x1234", line.health().why.c_str());
}

TEST(YdlidarDialogue, IsSilentAfterTheStop) {
  for (const Model& m : kModels) {
    if (m.one_way) continue;
    SimLine line("ydlidar", {{"model", m.name}}, {}, m.baud);
    line.until_streaming();
    line.stop();
    CHECK_TRUE_TEXT(line.health().state == State::idle, m.name);
    const std::size_t said = line.truth.beams.size();
    line.run_for(1s);
    LONGS_EQUAL_TEXT(said, line.truth.beams.size(), m.name);
  }
}
