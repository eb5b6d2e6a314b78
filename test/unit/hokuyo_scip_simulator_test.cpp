// The driver and its simulated device, which was written from the manual alone: every model and
// every mode, whatever the device does when the driver comes.
#include <cmath>

#include "drivers/hokuyo_scip/hokuyo_scip.h"
#include "test/sim/hokuyo_scan.h"
#include "test/sim/room.h"
#include "test/support/lidar_properties.h"
#include "test/support/sim_line.h"

using drivers::Cause;
using drivers::State;
using test::SimLine;
using namespace std::chrono_literals;

namespace {

struct Model {
  const char* name;
  int baud;  // 0: a socket
  std::size_t beams;
  double hz;
  double least_m, most_m;
};
constexpr Model kModels[] = {
    {"URG-04LX", 750'000, 682, 10, 0.02, 5.6},    {"URG-04LX-UG01", 115'200, 682, 10, 0.02, 5.6},
    {"UBG-04LX", 115'200, 682, 35.72, 0.02, 5.6}, {"UTM-30LX", 115'200, 1081, 40, 0.023, 60},
    {"UTM-30LX-EW", 0, 1081, 40, 0.023, 60},      {"UST-10LX", 0, 1081, 40, 0.02, 30},
    {"UST-20LX", 0, 1081, 40, 0.02, 60},
};
constexpr const char* kSerial = "URG-04LX";

bool is_usb(const Model& m) { return m.baud > 0 && std::string_view(m.name) != kSerial; }

// A USB device has no rate: nothing is garbled, whatever the host sets.
void plug(SimLine& line, int baud) { line.port->baud = baud; }

}  // namespace

TEST_GROUP(HokuyoScipSimulator){
    // Streams the room at its speed, and the books balance. Returns the scans that it looked at.
    static std::size_t is_well(SimLine & line, const Model& m, double hz,
                               double most_m){line.run_for(200ms);
const std::size_t from = line.log.slices.size();
const std::uint64_t garbage = line.health().framing.garbage_bytes;
line.run_for(2s);
CHECK_TRUE_TEXT(line.health().state == State::streaming, m.name);
CHECK_TRUE_TEXT(line.health().balances(), m.name);
LONGS_EQUAL_TEXT(garbage, line.health().framing.garbage_bytes, m.name);
const std::size_t scans = line.log.slices.size() - from;
CHECK_TRUE_TEXT(std::abs(static_cast<double>(scans) - 2 * hz) <= 2, m.name);
std::size_t far = 0, returns = 0;
for (std::size_t i = from; i < line.log.slices.size(); ++i) {
  LONGS_EQUAL_TEXT(m.beams, line.log.beams[i].size(), m.name);
  CHECK_TRUE_TEXT(line.log.slices[i].starts_turn, m.name);
  for (const drivers::Beam& beam : line.log.beams[i]) {
    const double room = sim::Room::range(double{beam.angle});
    const double truth = room < m.least_m || room > most_m ? 0 : room;
    returns += beam.range > 0;
    far += std::abs(double{beam.range} - truth) > 0.0011;
  }
}
LONGS_EQUAL_TEXT(0, far, m.name);
CHECK_TRUE_TEXT(returns > scans * m.beams / 2, m.name);
return scans;
}
static void is_well(SimLine& line, const Model& m) { is_well(line, m, m.hz, m.most_m); }
}
;

TEST(HokuyoScipSimulator, EveryModelIsStartedFromSilence) {
  for (const Model& m : kModels) {
    SimLine line("hokuyo_scip", {{"model", m.name}}, {}, m.baud);
    if (!is_usb(m)) plug(line, m.baud);
    CHECK_TRUE_TEXT(line.until_streaming() < 2s, m.name);
    is_well(line, m);
    STRCMP_CONTAINS(m.name, line.health().about.c_str());
    STRCMP_CONTAINS("clock known to 0.", line.health().about.c_str());
  }
}

// At 1190 ms the serial one is sending.
TEST(HokuyoScipSimulator, EveryModelIsTakenOverWhileItStreams) {
  for (const Model& m : kModels) {
    for (const std::size_t cut : {0U, 1U, 7U}) {
      const std::string baud = std::to_string(m.baud > 0 ? m.baud : 19'200);
      SimLine line("hokuyo_scip", {{"model", m.name}, {"found", "streaming"}, {"baud", baud}}, {},
                   m.baud, 1190ms);
      if (!is_usb(m)) plug(line, m.baud);
      line.port->lose(cut);
      CHECK_TRUE_TEXT(line.until_streaming() < 1s, m.name);
      is_well(line, m);
    }
  }
}

TEST(HokuyoScipSimulator, AScanOfWhichOnlyTheEndArrivesHoldsNothingUp) {
  for (const std::size_t cut : {40U, 66U, 500U, 900U}) {
    SimLine line("hokuyo_scip", {{"model", kSerial}, {"found", "streaming"}, {"baud", "115200"}},
                 {{"group", "2"}}, 115'200, 1180ms);
    plug(line, 115'200);
    line.port->lose(cut);
    CHECK_TRUE(line.until_streaming() < 1s);
    CHECK_TRUE(line.health().framing.garbage_bytes > 0);
  }
}

TEST(HokuyoScipSimulator, EveryModelIsFoundInTimeAdjustment) {
  for (const Model& m : kModels) {
    SimLine line("hokuyo_scip", {{"model", m.name}, {"found", "adjust"}}, {}, m.baud);
    if (!is_usb(m)) plug(line, m.baud);
    CHECK_TRUE_TEXT(line.until_streaming() < 2s, m.name);
    is_well(line, m);
  }
}

TEST(HokuyoScipSimulator, ASerialDeviceIsFoundAtAnyRateAndSetToTheConfiguredOne) {
  const Model& m = kModels[0];
  for (const int baud : {115'200, 750'000}) {
    for (const char* at : {"19200", "38400", "57600", "115200", "250000", "500000", "750000"}) {
      for (const char* found : {"idle", "streaming"}) {
        for (const char* scip : {"1", "2"}) {
          SimLine line("hokuyo_scip",
                       {{"model", m.name}, {"baud", at}, {"found", found}, {"scip", scip}},
                       {{"group", "4"}}, baud, 150ms);
          plug(line, baud);
          CHECK_TRUE_TEXT(line.until_streaming() < 4s, at);
          LONGS_EQUAL(baud, line.health().baud);
          line.run_for(1s);
          LONGS_EQUAL(171, line.log.beams.back().size());
          const std::size_t scans = line.log.slices.size();
          line.run_for(2s);
          CHECK_TRUE_TEXT(line.log.slices.size() >= scans + 19, at);
          CHECK_TRUE(line.health().balances());
        }
      }
    }
  }
}

// Scans of 2133 bytes, or of 500.
TEST(HokuyoScipSimulator, ASerialDeviceAtItsBootRateStreamsAsFastAsTheLineCarries) {
  const std::pair<SimLine::Set, std::size_t> kCases[] = {{{{"mode", "MD"}}, 8},
                                                         {{{"mode", "MS"}, {"group", "3"}}, 30}};
  for (const auto& [options, least] : kCases) {
    SimLine line("hokuyo_scip", {{"model", kSerial}}, options, 19'200);
    plug(line, 19'200);
    CHECK_TRUE(line.until_streaming() < 3s);
    const std::size_t scans = line.log.slices.size();
    line.run_for(10s);
    CHECK_TRUE(line.log.slices.size() >= scans + least);
    CHECK_TRUE(line.health().balances());
    LONGS_EQUAL(1, std::ranges::count(line.log.states, State::streaming));
  }
}

TEST(HokuyoScipSimulator, EveryModeShowsTheRoom) {
  const Model& m = kModels[4];
  for (const char* mode : {"MD", "MS", "ME", "ND", "NE", "GD", "GS", "GE", "HD", "HE"}) {
    SimLine line("hokuyo_scip", {{"model", m.name}}, {{"mode", mode}}, 0);
    CHECK_TRUE_TEXT(line.until_streaming() < 1s, mode);
    is_well(line, m, m.hz, mode[1] == 'S' ? 4.095 : m.most_m);
    const bool with_intensity = mode[1] == 'E';
    CHECK_EQUAL_TEXT(with_intensity, line.log.slices.back().has_intensity, mode);
    for (const drivers::Beam& b : line.log.beams.back()) {
      const double told = with_intensity && b.range > 0 ? 12000 - std::round(b.range * 1000.0) : 0;
      DOUBLES_EQUAL_TEXT(told, b.intensity, 0, mode);
    }
  }
}

TEST(HokuyoScipSimulator, EveryReturnOfABeamArrives) {
  for (const char* mode : {"ND", "NE", "HD", "HE"}) {
    SimLine line("hokuyo_scip", {{"model", "UTM-30LX-EW"}}, {{"mode", mode}}, 0);
    CHECK_TRUE_TEXT(line.until_streaming() < 1s, mode);
    line.run_for(500ms);
    const drivers::ScanSlice& slice = line.log.slices.back();
    LONGS_EQUAL(2 * 1081, slice.echoes.size());
    for (std::size_t i = 0; i < slice.beams.size(); ++i) {
      const drivers::Beam& beam = slice.beams[i];
      const int behind =
          beam.range > 0 ? sim::hokuyo_scip::further_returns(static_cast<int>(i)) : 0;
      for (int k = 1; k <= 2; ++k) {
        const drivers::Echo& echo = slice.echoes_of(i)[static_cast<std::size_t>(k - 1)];
        const double range = k <= behind ? double{beam.range} + 0.5 * k : 0;
        DOUBLES_EQUAL_TEXT(range, echo.range, 0.0011, mode);
        const bool told = mode[1] == 'E' && k <= behind;
        DOUBLES_EQUAL_TEXT(told ? int(beam.intensity) >> k : 0, echo.intensity, 0, mode);
      }
    }
  }
}

TEST(HokuyoScipSimulator, AModeThatTheModelLacksIsRefused) {
  SimLine line("hokuyo_scip", {{"model", "UST-10LX"}}, {{"mode", "NE"}}, 0);
  line.run_for(1s);
  CHECK_TRUE(line.health().cause == Cause::refused);
  STRCMP_CONTAINS("choose another mode", line.health().why.c_str());
}

// The device is heard of again when it answers: until then nobody knows that it is back.
TEST(HokuyoScipSimulator, LossOfPowerIsSurvivedWithinASecondOfTheDevicesAnswer) {
  for (const Model& m : kModels) {
    SimLine line("hokuyo_scip", {{"model", m.name}}, {}, m.baud, {}, {"off@3+2"});
    if (!is_usb(m)) plug(line, m.baud);
    line.run_for(4s);
    CHECK_TRUE_TEXT(line.health().state != State::streaming, m.name);
    line.run_for(1s);
    CHECK_TRUE_TEXT(line.until_streaming() <= 3s, m.name);
    CHECK_TRUE_TEXT(line.clock.now() - line.port->back_at() <= 1s, m.name);
    is_well(line, m);
  }
}

TEST(HokuyoScipSimulator, AResetIsSurvivedWithinASecondOfTheDevicesAnswer) {
  for (const Model& m : kModels) {
    SimLine line("hokuyo_scip", {{"model", m.name}}, {}, m.baud, {}, {"reset@3"});
    if (!is_usb(m)) plug(line, m.baud);
    line.run_for(3100ms);
    CHECK_TRUE_TEXT(line.wait_for([&] { return line.health().faults > 0; }, 3s) < 3s, m.name);
    CHECK_TRUE_TEXT(line.until_streaming() <= 3s, m.name);
    CHECK_TRUE_TEXT(line.clock.now() - line.port->back_at() <= 1s, m.name);
    is_well(line, m);
  }
}

TEST(HokuyoScipSimulator, APulledPlugIsSurvived) {
  for (const Model& m : kModels) {
    SimLine line("hokuyo_scip", {{"model", m.name}}, {}, m.baud, {}, {"unplug@3+1"});
    if (!is_usb(m)) plug(line, m.baud);
    line.run_for(3500ms);
    CHECK_TRUE_TEXT(line.health().cause == Cause::no_port, m.name);
    line.run_for(500ms);
    CHECK_TRUE_TEXT(line.until_streaming() <= 2s, m.name);
    is_well(line, m);
  }
}

TEST(HokuyoScipSimulator, GarbageBeforeTheFirstAnswerHoldsNothingUp) {
  for (const Model& m : kModels) {
    SimLine line("hokuyo_scip", {{"model", m.name}}, {}, m.baud, {}, {"garbage@0+0.3"});
    if (!is_usb(m)) plug(line, m.baud);
    CHECK_TRUE_TEXT(line.until_streaming() < 4s, m.name);
    line.run_for(500ms);
    is_well(line, m);
  }
}

TEST(HokuyoScipSimulator, AtTheEndLaserAndMotorAreOff) {
  for (const Model& m : kModels) {
    SimLine line("hokuyo_scip", {{"model", m.name}}, {}, m.baud);
    if (!is_usb(m)) plug(line, m.baud);
    line.until_streaming();
    line.run_for(500ms);
    line.stop();
    CHECK_TRUE_TEXT(line.health().state == State::idle, m.name);
    const std::size_t said = line.truth.beams.size();
    line.run_for(1s);
    LONGS_EQUAL_TEXT(said, line.truth.beams.size(), m.name);
  }
}

TEST(HokuyoScipSimulator, ALaserThatDoesNotLightIsNamed) {
  SimLine line("hokuyo_scip", {{"model", "UST-10LX"}, {"laser", "bad"}}, {}, 0);
  line.run_for(2s);
  CHECK_TRUE(line.health().cause == Cause::refused);
  STRCMP_CONTAINS("status 50, hardware trouble", line.health().why.c_str());
  STRCMP_CONTAINS("Laser malfunction", line.health().why.c_str());
}

// While it streams the clock is asked again: the bounds become no wider, and no scan is lost.
TEST(HokuyoScipSimulator, TheClockIsAskedAgainWhileItStreams) {
  SimLine line("hokuyo_scip", {{"model", "UST-20LX"}}, {}, 0, {}, {"drift=100"});
  line.until_streaming();
  line.run_for(10s);
  const std::uint64_t replies = line.health().replies;
  const std::size_t scans = line.log.slices.size();
  line.run_for(60s);
  LONGS_EQUAL(replies + 8, line.health().replies);
  CHECK_TRUE(line.log.slices.size() >= scans + 2399);
  for (std::size_t i = 400; i < line.log.slices.size(); ++i) {
    const hal::Duration age = line.log.arrivals[i] - line.log.slices[i].last();
    CHECK_TRUE(age >= 0ns && age < 1500us);
  }
}

TEST(HokuyoScipSimulator, DamagedScansHideNoOthersAndTwoDevicesDoNotMeet) {
  const drivers::Options options(drivers::HokuyoScip::options());
  std::vector<std::vector<test::TimedFrame>> all;
  for (const char* model : {"UTM-30LX", "URG-04LX"}) {
    const auto frames = test::frames_of(
        "hokuyo_scip", {{"model", model}, {"found", "streaming"}, {"port", "usb"}}, 8);
    std::vector<test::Stream> streams;
    for (const test::TimedFrame& frame : frames) streams.push_back(frame.bytes);
    test::check_damaged_stream(drivers::ScipFraming{}, streams);
    all.push_back(frames);
  }
  test::check_interleaved<drivers::HokuyoScip>(options, all[0], all[1]);
}
