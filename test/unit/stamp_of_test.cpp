// Which instant each driver stamps, held against the truth of its simulator: on a line without any
// noise every beam and every sample must get its own time. A row of the registry that
// has a simulator and no case here fails.
#include <algorithm>
#include <cmath>
#include <string>

#include "test/sim/room.h"
#include "test/support/harness.h"
#include "test/support/sim_line.h"
#include "test/unit/sim_fixture.h"

using drivers::StampOf;
using namespace std::chrono_literals;

namespace {

struct Case {
  const char* driver;
  sim::Options device;                                       // what --set would be
  std::vector<std::pair<const char*, const char*>> options;  // of the driver
  int baud;                                                  // 0: UDP
  bool sends_stamps;
  hal::Duration quantum;  // of what the device's own stamp is cut to
  hal::Duration limit;    // of the error of any stamp, once the clock is locked
  // Of formats without a stamp (or with one of another time), where others of the driver have one.
  std::optional<StampOf> frames_leave{};
};

// Exact but for rounding, also where packets follow each other faster than the stamps count.
const Case kCases[] = {
    // An N10 tells a 24th of its turn in whole microseconds.
    {"lslidar_m10", {{"model", "N10"}}, {}, 230400, false, 0ns, 300ns},
    {"lslidar_m10", {{"model", "L10"}}, {{"model", "L10"}}, 230400, false, 0ns, 300ns},
    {"lslidar_m10", {{"model", "N10P"}}, {}, 460800, false, 0ns, 300ns},
    {"lslidar_m10", {{"model", "M10"}}, {}, 460800, false, 0ns, 40ns},
    {"lslidar_m10", {{"model", "M10GPS"}}, {}, 460800, false, 0ns, 40ns},
    {"lslidar_m10", {{"model", "M10P"}}, {}, 500000, false, 0ns, 40ns},
    {"lslidar_m10", {{"model", "M10PLUS"}}, {}, 921600, false, 0ns, 40ns},
    {"delta2", {{"model", "2A"}}, {}, 115200, false, 0ns, 40ns},
    {"delta2", {{"model", "2B"}}, {}, 230400, false, 0ns, 40ns},
    {"delta2", {{"model", "2D"}}, {}, 115200, false, 0ns, 40ns},
    {"delta2", {{"model", "2G"}}, {}, 115200, false, 0ns, 40ns},
    {"delta2", {{"model", "LDS08RR"}}, {{"model", "LDS08RR"}}, 115200, false, 0ns, 40ns},
    {"rplidar", {{"model", "A1"}}, {{"mode", "Standard"}}, 115200, false, 0ns, 10ns},
    {"rplidar", {{"model", "A1"}}, {{"mode", "Express"}}, 115200, false, 0ns, 10ns},
    {"rplidar", {{"model", "A1"}}, {{"mode", "Boost"}}, 115200, false, 0ns, 10ns},
    {"rplidar", {{"model", "A3"}}, {{"mode", "Sensitivity"}}, 256000, false, 0ns, 10ns},
    {"rplidar", {{"model", "S2"}}, {{"mode", "DenseBoost"}}, 1000000, false, 0ns, 10ns},
    {"rplidar", {{"model", "S2E"}}, {{"mode", "Standard"}}, 0, false, 0ns, 10ns},
    {"rplidar", {{"model", "S2E"}}, {{"mode", "UltraDense"}}, 0, false, 0ns, 10ns},
    {"rplidar", {{"model", "T1"}}, {{"mode", "HighQuality"}}, 0, false, 0ns, 10ns},
    // Sent 4.2 ms after its last beam, which only the exchange of times shows.
    {"hokuyo_scip", {{"model", "URG-04LX"}, {"port", "usb"}}, {}, 0, true, 1ms, 1ms},
    {"hokuyo_scip", {{"model", "UTM-30LX"}}, {{"time_sync", "false"}}, 0, true, 1ms, 200ns},
    {"hokuyo_scip", {{"model", "UTM-30LX"}}, {{"mode", "ME"}}, 0, true, 1ms, 200ns},
    {"hokuyo_scip", {{"model", "UBG-04LX"}}, {}, 0, true, 1ms, 1ms},
    {"hokuyo_scip", {{"model", "UST-10LX"}}, {}, 0, true, 1ms, 200ns},
    {"hokuyo_scip", {{"model", "UST-20LX"}}, {{"mode", "GD"}}, 0, true, 1ms, 25ms},
    {"hokuyo_scip", {{"model", "UTM-30LX-EW"}}, {{"mode", "NE"}}, 0, true, 1ms, 200ns},
    // The step between two beams is cut to nanoseconds.
    {"pepperl_fuchs", {{"model", "R2000"}}, {}, 0, true, 0ns, 1us},
    {"pepperl_fuchs",
     {{"model", "R2000"}},
     {{"packet_type", "A"}},
     test::SimLine::kTcp,
     true,
     0ns,
     1us},
    {"pepperl_fuchs", {{"model", "R2300"}}, {}, 0, true, 0ns, 1us},
    // Cut to microseconds, by which the speed is measured, too.
    {"lakibeam", {{"blind", "absent"}}, {}, 0, true, 1us, 5us},
    {"lslidar_n301", {{"protocol", "1.7"}}, {{"protocol", "1.7"}}, 0, true, 1us, 5us},
    {"lslidar_n301", {{"protocol", "1.6"}}, {{"protocol", "1.6"}}, 0, true, 1us, 5us},
    // Stamp and transmission are both cut to microseconds.
    {"sick_cola", {{"model", "TiM561"}}, {}, 0, true, 1us, 2us},
    {"sick_cola", {{"model", "LMS111"}}, {}, 0, true, 1us, 2us},
    {"sick_cola", {{"model", "LMS511"}}, {}, 0, true, 1us, 2us},
    // The times of its segments are cut to 1 us, and when it sends as well.
    {"sick_compact",
     {{"imu", "off"}, {"model", "picoScan150"}, {"preset", "on"}},
     {},
     0,
     true,
     1us,
     2us},
    {"sick_compact",
     {{"imu", "off"}, {"model", "multiScan136"}, {"preset", "on"}},
     {},
     0,
     true,
     1us,
     2us},
    {"ldrobot", {{"model", "LD06"}}, {{"model", "LD06"}}, 230400, true, 1ms, 10ns},
    {"ldrobot", {{"model", "LD19"}}, {{"model", "LD19"}}, 230400, true, 1ms, 10ns},
    {"ldrobot", {{"model", "STL-06P"}}, {{"model", "STL-06P"}}, 230400, true, 1ms, 10ns},
    {"ldrobot", {{"model", "STL-19P"}}, {{"model", "STL-19P"}}, 230400, true, 1ms, 10ns},
    {"ldrobot", {{"model", "STL-26"}}, {{"model", "STL-26"}}, 230400, true, 1ms, 10ns},
    {"ldrobot", {{"model", "STL-27L"}}, {{"model", "STL-27L"}}, 921600, true, 1ms, 10ns},
    {"ldrobot", {{"model", "LD14"}}, {{"model", "LD14"}}, 115200, true, 1ms, 10ns},
    {"ldrobot", {{"model", "LD14P"}}, {{"model", "LD14P"}}, 230400, true, 1ms, 10ns},
    {"anpp", {{"streaming", "on"}}, {}, 115200, true, 1us, 2us},
    {"ximu3", {{"extras", "off"}}, {{"orientation", "false"}}, 115200, true, 1us, 2us},
    {"ngimu",
     {{"date_s", "0"}, {"attitude", "none"}, {"extras", "off"}},
     {{"orientation", "false"}, {"rate_hz", "100"}},
     0,
     true,
     1ns,
     1us},
    {"sbg", {{"log", "short"}}, {{"orientation", "false"}}, 115200, true, 1us, 2us},
    {"bno08x_rvc", {{"motion", "swing"}}, {}, 115200, false, 0ns, 10ns},
    {"fdilink", {{"frames", "imu"}}, {}, 921600, true, 1us, 2us},
    {"epson",
     {{"model", "G370PDG0"}},
     {{"model", "G370PDG0"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     16us},
    {"epson",
     {{"model", "G370PDT0"}},
     {{"model", "G370PDT0"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     16us},
    {"epson",
     {{"model", "G330PDG0"}},
     {{"model", "G330PDG0"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     16us},
    {"epson",
     {{"model", "G366PDG0"}},
     {{"model", "G366PDG0"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     16us},
    {"epson",
     {{"model", "G370PDF1"}},
     {{"model", "G370PDF1"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     16us},
    {"epson",
     {{"model", "G365PDF1"}},
     {{"model", "G365PDF1"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     16us},
    {"epson",
     {{"model", "G365PDC1"}},
     {{"model", "G365PDC1"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     16us},
    {"epson",
     {{"model", "G364PDC0"}},
     {{"model", "G364PDC0"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     22us},
    {"epson",
     {{"model", "G354PDH0"}},
     {{"model", "G354PDH0"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     22us},
    {"epson",
     {{"model", "G320PDG0"}},
     {{"model", "G320PDG0"}, {"filter_delay", "false"}},
     460800,
     true,
     0ns,
     22us},
    {"inertial_labs", {{"types", "fine"}}, {}, 115200, true, 0ns, 10ns},
    {"lpms", {{"generation", "ig1"}}, {}, 115200, true, 0ns, 10ns},
    {"microstrain_mip", {{"model", "7series"}}, {}, 115200, true, 0ns, 10ns},
    {"microstrain_mip", {{"model", "gx5"}}, {}, 115200, true, 0ns, 10ns},
    {"hipnuc", {{"format", "HI91"}}, {}, 115200, true, 1ms, 10ns},
    {"hipnuc", {{"format", "HI83"}}, {}, 115200, true, 1us, 1us},
    {"hipnuc", {{"format", "HI92"}}, {{"message", "HI92"}}, 115200, false, 0ns, 10ns},
    {"xsens", {{"model", "MTi-300"}}, {}, 115200, true, 100us, 10ns},
    // It is asked: what it tells is up to a period of its own old.
    {"bno055", {{"overrun_percent", "0"}}, {}, 115200, false, 0ns, 16ms},
    {"um7", {{"found", "silent"}}, {}, 115200, true, 200ns, 2us},
    {"vectornav", {{"found", "silent"}}, {}, 115200, true, 0ns, 10ns},
    {"witmotion", {{"baud", "115200"}}, {{"rate_hz", "200"}}, 115200, false, 0ns, 10ns},
    {"bluesea", {{"format", "CE"}}, {}, 768000, false, 0ns, 40ns, StampOf::last_beam},
    {"bluesea", {{"format", "CF"}}, {}, 768000, false, 0ns, 40ns, StampOf::last_beam},
    {"bluesea", {{"format", "DF"}}, {}, 768000, false, 0ns, 40ns, StampOf::last_beam},
    {"bluesea", {{"format", "AA"}}, {}, 768000, false, 0ns, 40ns, StampOf::last_beam},
    {"bluesea", {{"format", "C7"}}, {}, 768000, true, 1ms, 40ns},
    {"bluesea", {{"format", "99"}}, {}, 768000, true, 1ms, 40ns},
    {"coin_d4", {{"model", "COIN-D4"}}, {}, 115200, false, 0ns, 40ns},
    {"ydlidar", {{"model", "X4"}}, {}, 128000, false, 0ns, 40ns},
    {"ydlidar", {{"model", "S4"}}, {}, 115200, false, 0ns, 40ns},
    {"ydlidar", {{"model", "S4B"}}, {}, 153600, false, 0ns, 40ns},
    {"ydlidar", {{"model", "F4"}}, {}, 115200, false, 0ns, 40ns},
    {"ydlidar", {{"model", "R2"}}, {}, 230400, false, 0ns, 40ns},
    {"ydlidar", {{"model", "G1"}}, {}, 230400, false, 0ns, 40ns},
    {"ydlidar", {{"model", "G2"}}, {}, 230400, false, 0ns, 40ns},
    {"ydlidar", {{"model", "G2A"}}, {}, 230400, false, 0ns, 40ns},
    {"ydlidar", {{"model", "G2C"}}, {}, 115200, false, 0ns, 40ns},
    {"ydlidar", {{"model", "G4"}}, {}, 230400, false, 0ns, 40ns},
    {"ydlidar", {{"model", "G4B"}}, {}, 512000, false, 0ns, 40ns},
    {"ydlidar", {{"model", "G6"}}, {}, 512000, false, 0ns, 40ns},
    {"ydlidar", {{"model", "TG15"}}, {}, 512000, false, 0ns, 40ns},
    {"ydlidar", {{"model", "TG30"}}, {}, 512000, false, 0ns, 40ns},
    {"ydlidar", {{"model", "TG50"}}, {}, 512000, false, 0ns, 40ns},
    {"ydlidar", {{"model", "TminiPro"}}, {}, 230400, false, 0ns, 40ns},
    {"ydlidar", {{"model", "TminiPlus"}}, {}, 230400, false, 0ns, 40ns},
    {"ydlidar", {{"model", "TminiPlusSH"}}, {}, 230400, false, 0ns, 40ns},
    {"ydlidar", {{"model", "X2"}}, {{"model", "X2"}}, 115200, false, 0ns, 40ns},
    {"ydlidar", {{"model", "X3"}}, {{"model", "X3"}}, 115200, false, 0ns, 40ns},
    {"ydlidar", {{"model", "X4Pro"}}, {{"model", "X4Pro"}}, 128000, false, 0ns, 40ns},
    {"ydlidar", {{"model", "S2"}}, {{"model", "S2"}}, 115200, false, 0ns, 40ns},
    {"ydlidar", {{"model", "TX"}}, {{"model", "TX"}}, 115200, false, 0ns, 40ns},
    // Set up before, without a control port. The step of 2751 beams is cut to whole nanoseconds.
    {"sick_safety", {{"model", "microScan3"}, {"preset", "on"}}, {}, 0, true, 1ms, 1us},
    {"sick_safety", {{"model", "nanoScan3"}, {"preset", "on"}}, {}, 0, true, 1ms, 1us},
    {"sick_safety", {{"model", "outdoorScan3"}, {"preset", "on"}}, {}, 0, true, 1ms, 1us},
    // A turn in whole nanoseconds a step.
    {"leuze_rsl", {{"model", "RSL400"}}, {}, 0, false, 0ns, 1us, StampOf::last_beam},
    {"leuze_rsl", {{"model", "RSL200"}}, {}, 0, false, 0ns, 1us, StampOf::last_beam},
    // Frames of intensities would stand between those of beams.
    {"vanjee",
     {{"model", "716mini"}, {"intensities", "none"}},
     {{"model", "716mini"}},
     0,
     false,
     0ns,
     1us},
    {"vanjee",
     {{"model", "718H"}, {"intensities", "none"}},
     {{"model", "718H"}},
     0,
     false,
     0ns,
     1us},
    {"vanjee", {{"model", "719"}}, {{"model", "719"}}, 0, false, 0ns, 1us},
    {"xv11", {{"model", "XV-11"}}, {}, 115200, false, 0ns, 40ns},
    {"xv11", {{"model", "LDS02RR"}, {"rpm", "333"}}, {}, 115200, false, 0ns, 40ns},
    {"hlds_lds01", {{"model", "LDS-01"}}, {}, 230400, false, 0ns, 40ns},
    // Its angles, which tell the time, are cut to 1/64 degree: to 8 us.
    {"camsense_x1", {{"model", "X1"}}, {}, 115200, false, 0ns, 15us},
    {"xv11", {{"firmware", "2.1"}}, {{"firmware", "2.1"}}, 115200, false, 0ns, 400ns},
};

std::string name_of(const Case& c) {
  std::string name = std::string(c.driver) + " " + c.device.begin()->second;
  for (const auto& [key, value] : c.options) name += " " + std::string(value);
  return name;
}

struct Measured {
  hal::Time at;
  double angle = 0;
};

std::vector<Measured> measured(const test::PacketLog& log) {
  std::vector<Measured> all;
  for (const drivers::ScanSlice& slice : log.slices) {
    for (std::size_t i = 0; i < slice.beams.size(); ++i) {
      all.push_back(
          {slice.first + slice.step * static_cast<std::int64_t>(i), double{slice.beams[i].angle}});
    }
  }
  for (const drivers::ImuSample& sample : log.samples) all.push_back({sample.at});
  return all;
}

std::vector<Measured> measured(const test::TruthLog& log) {
  std::vector<Measured> all;
  for (const sim::TrueBeam& beam : log.beams) all.push_back({beam.at, beam.angle});
  for (const sim::ImuTruth& sample : log.samples) all.push_back({sample.at});
  return all;
}

// A device that streams only where it is asked to.
void begin_output(sim_test::Bench& bench) {
  const auto say = [&bench](const std::string& command) {
    const std::string request = "GET /cmd/" + command + " HTTP/1.0\r\n\r\n";
    bench.model->receive(sim::Channel::control, std::as_bytes(std::span(request)), bench.now,
                         bench.out);
    std::string answer;
    for (const sim::Frame& frame : bench.out.frames) {
      for (const std::byte b : frame.bytes) answer += static_cast<char>(b);
    }
    bench.out.clear();
    return answer;
  };
  const std::string answer = say("request_handle_tcp?watchdog=off");
  const std::size_t colon = answer.find(':', answer.find("\"handle\""));
  const std::size_t at = answer.find('"', colon) + 1;
  say("start_scanoutput?handle=" + answer.substr(at, answer.find('"', at) - at));
}

double apart(const Measured& a, const Measured& b) {
  return std::abs(std::remainder(a.angle - b.angle, sim::kTurn));
}

}  // namespace

TEST_GROUP(StampOf){
    // Where in the truth what was seen first was measured. A beam alone may lie near another one's
    // direction: that of a triangulating lidar depends on the distance.
    static std::size_t first_of(const std::vector<Measured>& seen,
                                const std::vector<Measured>& truth){std::size_t first = 0;
constexpr std::size_t kRun = 20;
double best = 1;
for (std::size_t i = 0; i + kRun <= truth.size(); ++i) {
  const double off = std::abs(hal::to_seconds(truth[i].at - seen[0].at));
  if (off >= 0.05) continue;
  // Beams that follow each other lie far apart in angle, samples in time.
  double here = off;
  for (std::size_t k = 0; k < kRun; ++k) here += apart(truth[i + k], seen[k]);
  if (here < best) best = here, first = i;
}
return first;
}
}
;

TEST(StampOf, EveryRowOfTheRegistryHasACase) {
  for (const drivers::Row& row : drivers::all()) {
    if (sim::find_model(row.name) == nullptr) {
      UT_PRINT(("no simulator of " + std::string(row.name)).c_str());
      continue;
    }
    const bool found =
        std::ranges::any_of(kCases, [&](const Case& c) { return row.name == c.driver; });
    CHECK_TRUE_TEXT(found, std::string(row.name).c_str());
    for (const drivers::OptionSpec& option : row.options) {
      if (option.key != "model") continue;
      // Each model of a driver that is told its model.
      std::string all(option.choices);
      for (std::size_t at = 0; at <= all.size();) {
        const std::size_t end = std::min(all.find('|', at), all.size());
        const std::string model = all.substr(at, end - at);
        at = end + 1;
        if (model == "auto") continue;
        const bool has = std::ranges::any_of(kCases, [&](const Case& c) {
          return row.name == c.driver && c.device.contains("model") &&
                 c.device.at("model") == model;
        });
        CHECK_TRUE_TEXT(has, model.c_str());
      }
    }
  }
}

// The device alone: its stamp, or the begin of its frame where it sends none, is the instant that
// the registry says.
TEST(StampOf, TheDeviceTiesItsFramesToTheInstantOfTheRegistry) {
  for (const Case& c : kCases) {
    if (c.driver == std::string_view("bno055")) continue;  // alone it says nothing
    sim::Options set = c.device;
    for (const sim::OptionRow& row : sim::find_model(c.driver)->options) {
      const std::string key = row.key;
      if (key == "streaming" || key == "running") set[key] = "on";
      if (key == "found") set[key] = "streaming";
    }
    sim_test::Bench bench(c.driver, set);
    bench.out.clear();
    if (bench.row.name == std::string_view("pepperl_fuchs")) begin_output(bench);
    bench.run_for(1.5);
    if (bench.row.name == std::string_view("leuze_rsl")) {  // a status is no measurement
      std::erase_if(bench.out.frames,
                    [](const sim::Frame& f) { return f.bytes[12] == std::byte{1}; });
    }
    const StampOf stamp_of = c.frames_leave.value_or(drivers::find(c.driver)->stamp_of);
    CHECK_TRUE_TEXT(bench.out.scans.size() + bench.out.imus.size() > 4, name_of(c).c_str());
    const auto check = [&](std::int64_t device_ns, hal::Time sent, hal::Time first,
                           hal::Time last) {
      const hal::Time tie = c.sends_stamps ? sim_test::kStart + hal::Duration(device_ns) : sent;
      const hal::Time wanted = stamp_of == StampOf::first_beam  ? first
                               : stamp_of == StampOf::frame_end ? sent
                                                                : last;
      const hal::Duration off = wanted - tie;
      CHECK_TRUE_TEXT(off >= -2ns && off <= c.quantum + 2ns, name_of(c).c_str());
    };
    for (std::size_t i = 0; i < bench.out.scans.size(); ++i) {
      const auto& beams = bench.out.scans[i].beams;
      CHECK_TRUE(stamp_of == StampOf::first_beam || stamp_of == StampOf::last_beam ||
                 stamp_of == StampOf::frame_end);
      check(bench.out.scans[i].device_ns, bench.out.frames[i].at, beams.front().at,
            beams.back().at);
    }
    for (const sim::ImuTruth& imu : bench.out.imus) {
      CHECK_TRUE(stamp_of == StampOf::sync);
      check(imu.device_ns, imu.at, imu.at, imu.at);
    }
  }
}

TEST(StampOf, OnALineWithoutNoiseEveryMeasurementGetsItsOwnTime) {
  for (const Case& c : kCases) {
    const bool is_asked = drivers::find(c.driver)->has_control && !c.device.contains("preset");
    test::SimLine line(c.driver, c.device, c.options, c.baud, {}, {}, is_asked);
    line.run_for(12s);
    const std::vector<Measured> seen = measured(line.log), truth = measured(line.truth);
    CHECK_TRUE_TEXT(seen.size() > 500, name_of(c).c_str());
    const std::size_t first = first_of(seen, truth);
    CHECK_TRUE_TEXT(truth.size() - first >= seen.size(), name_of(c).c_str());
    hal::Duration least = 1h, most = -1h;
    bool same_beams = true;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      same_beams &= apart(seen[i], truth[first + i]) < 0.01;
      if (seen[i].at < line.clock.now() - 3s) continue;  // the fit needs some blocks of a second
      const hal::Duration error = seen[i].at - truth[first + i].at;
      least = std::min(least, error), most = std::max(most, error);
    }
    std::printf("%-32s %8.3f to %8.3f us\n", name_of(c).c_str(), hal::to_seconds(least) * 1e6,
                hal::to_seconds(most) * 1e6);
    CHECK_TRUE_TEXT(same_beams, name_of(c).c_str());
    CHECK_TRUE_TEXT(least >= -c.limit && most <= c.limit, name_of(c).c_str());
  }
}
