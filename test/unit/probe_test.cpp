// What probe finds out about every simulated device, on a line with its own baud rate, in simulated
// time.
#include "app/lidarctl/probe_report.h"
#include "config/load.h"
#include "test/sim/faults.h"
#include "test/sim/player.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/sim_port.h"

using lidarctl::Prober;
using lidarctl::ProbeResult;
using namespace std::chrono_literals;

namespace {

// One device, one probe.
struct ProbeLine {
  ProbeLine(const char* driver, const sim::Options& set, const char* fault = nullptr) {
    sim::PlayerInputs inputs{*sim::find_model(driver), set, {}, 0.0, 1, true, nullptr, {}};
    if (fault) inputs.faults.push_back(*sim::parse_fault(fault));
    player = std::move(*sim::Player::make(inputs, clock.now()));
    auto owned = std::make_unique<test::SimPort>(clock, *player, true);
    port = owned.get();
    port->is_line = player->line_baud(clock.now()) > 0;
    shared = std::make_unique<lidarctl::SharedPort>(std::move(owned));
    prober = std::make_unique<Prober>(drivers::all(), *shared);
  }

  const ProbeResult& run() {
    run_for(300ms, false);
    prober->start(clock.now());
    run_for(20s, true);
    return prober->result();
  }
  void run_for(hal::Duration length, bool probes) {
    const hal::Time end = clock.now() + length;
    for (hal::Time tick = clock.now(); clock.now() < end && !prober->is_done();) {
      const hal::Time due = std::min(tick, player->advance(clock.now()));
      clock.set(std::max(due, clock.now()));
      player->advance(clock.now());
      if (is_noise) port->baud = 1;
      if (port->fetch()) port->deliver();
      if (clock.now() >= tick) {
        tick += 10ms;
        if (probes) prober->tick(clock.now());
      }
      port->hand_over();
    }
  }
  // Bytes that the device sends of itself now.
  std::uint64_t bytes_of(hal::Duration length) {
    const std::uint64_t before = shared->bytes();
    const hal::Time end = clock.now() + length;
    while (clock.now() < end) {
      const hal::Time due = std::min(end, player->advance(clock.now()));
      clock.set(std::max(due, clock.now()));
      player->advance(clock.now());
      if (port->fetch()) port->deliver();
    }
    return shared->bytes() - before;
  }

  bool is_noise = false;  // at no rate anything can be read
  test::ManualClock clock;
  std::unique_ptr<sim::Player> player;
  test::SimPort* port = nullptr;  // owned by shared
  std::unique_ptr<lidarctl::SharedPort> shared;
  std::unique_ptr<Prober> prober;
};

struct Case {
  const char* driver;
  sim::Options set;
  bool by_itself;
  const char* about;        // what it must contain
  const char* option = "";  // of the snippet, "model: LD19"
  int baud = 0;             // 0: as the device has it
};

const sim::Options kNone{};

std::vector<Case> cases() {
  std::vector<Case> all{
      {"bluesea", kNone, false, "LDS-50C-2"},
      {"bluesea", {{"running", "on"}, {"format", "C7"}}, true, "LDS-50C-2"},
      {"bluesea", {{"baud", "460800"}}, false, "LDS-50C-2"},
      {"camsense_x1", kNone, true, "", "# zero_deg"},
      {"coin_d4", kNone, false, "COIN-D4"},
      {"coin_d4", {{"running", "on"}}, true, "COIN-D4"},
      {"coin_d4", {{"baud", "230400"}}, false, "COIN-D4"},
      {"hlds_lds01", kNone, true, ""},
      {"hlds_lds01", {{"running", "off"}}, false, ""},
      {"hokuyo_scip", {{"model", "URG-04LX"}}, false, "serial H0508486", "", 115200},
      {"hokuyo_scip", {{"model", "UBG-04LX"}, {"port", "usb"}}, false, "UBG-04LX-F01"},
      {"ldrobot", {{"model", "LD06"}}, true, "", "model: LD19  # as fast: LD06"},
      {"ldrobot", {{"model", "LD19"}}, true, "", "model: LD19"},
      {"ldrobot", {{"model", "STL-06P"}}, true, "", "model: STL-06P"},
      {"ldrobot", {{"model", "STL-26"}}, true, "", "STL-26"},
      {"ldrobot", {{"model", "STL-27L"}}, true, "", "model: STL-27L\n"},
      {"ldrobot", {{"model", "LD14"}}, true, "", "model: LD14\n"},
      {"ldrobot", {{"model", "LD14P"}}, true, "", "model: LD14P\n"},
      {"ldrobot", {{"model", "LD14"}, {"running", "off"}}, false, "", "model: LD14\n"},
      {"ldrobot", {{"model", "LD14P"}, {"running", "off"}}, false, "", "model: LD14P\n"},
      {"microstrain_mip", {{"model", "7series"}}, false, "serial 6286.000042"},
      {"microstrain_mip", {{"model", "gx5"}}, false, "3DM-GX5-25"},
      {"microstrain_mip", {{"streaming", "on"}, {"baud", "921600"}}, true, "3DM-CV7"},
      {"bno055", kNone, false, "BNO055"},
      {"bno08x_rvc", kNone, true, ""},
      {"epson", kNone, false, "M-G370PDG0, serial"},
      {"fdilink", kNone, true, ""},
      {"hipnuc", kNone, true, ""},
      {"inertial_labs", kNone, false, "firmware"},
      {"lpms", kNone, true, "LPMS-IG1, serial"},
      {"ngimu", kNone, true, ""},
      {"sbg", kNone, true, "serial 045001234"},
      {"ximu3", kNone, true, "x-IMU3, serial"},
      {"xsens", kNone, false, "MTi-300-2A8G4"},
      {"um7", {{"found", "streaming"}}, true, "UM7, firmware"},
      {"um7", {{"found", "silent"}}, false, "UM7, firmware"},
      {"vectornav", kNone, true, "VN-100"},
      {"vectornav", {{"found", "silent"}}, false, "VN-100"},
      {"vectornav", {{"baud", "921600"}}, true, "VN-100"},
      {"xv11", kNone, true, ""},
      {"xv11", {{"firmware", "2.1"}}, true, ""},
  };
  for (const char* const m : {"2A", "2B", "2D", "2G", "LDS08RR"}) {
    all.push_back({"delta2", {{"model", m}}, true, "packets in a turn", "# unit_mm"});
  }
  for (const char* const m : {"N10", "L10", "N10P", "M10", "M10GPS", "M10P", "M10PLUS"}) {
    all.push_back({"lslidar_m10", {{"model", m}}, false, "its packets are of"});
    all.push_back({"lslidar_m10", {{"model", m}, {"running", "on"}}, true, "its packets are of"});
  }
  for (const char* const m : {"A1", "A2", "A3", "S1", "S2", "S3", "C1"}) {
    all.push_back({"rplidar", {{"model", m}}, false, m});
    all.push_back({"rplidar", {{"model", m}, {"streaming", "on"}}, true, m});
  }
  for (const char* const m :
       {"X4", "S4", "S4B", "G1", "G2", "G2A", "G2C", "G4", "G4B", "G6", "F4", "R2", "TG15", "TG30",
        "TG50", "TminiPro", "TminiPlus", "TminiPlusSH"}) {
    all.push_back({"ydlidar", {{"model", m}}, false, m});
    all.push_back({"ydlidar", {{"model", m}, {"streaming", "on"}}, true, m});
  }
  for (const char* const m : {"X2", "X3", "S2"}) {
    all.push_back({"ydlidar", {{"model", m}}, true, "perhaps", "model: X2  # as fast: X3, S2"});
  }
  all.push_back({"ydlidar", {{"model", "X4Pro"}}, true, "perhaps", "model: X4Pro\n"});
  all.push_back({"ydlidar", {{"model", "TX"}}, true, "perhaps", "model: TX\n"});
  return all;
}

std::string text_of(const Case& c) {
  std::string text = c.driver;
  for (const auto& [key, value] : c.set) text += " " + key + "=" + value;
  return text;
}

void is_accepted(const std::string& config) {
  const config::Loaded loaded = config::load_text(config, "probe");
  if (const auto* const faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    FAIL((config + config::to_string(faults->front())).c_str());
  }
}

}  // namespace

TEST_GROUP(Probe) {
  // Slowest first of those that stream by themselves, and of the others.
  hal::Duration slowest[2] = {};

  void check(const Case& c) {
    const std::string text = text_of(c);
    ProbeLine line(c.driver, c.set);
    const ProbeResult& r = line.run();
    const std::string what = text + ": " + (r.found.row ? r.about : r.why);
    CHECK_TRUE_TEXT(r.found.row != nullptr, what.c_str());
    STRCMP_EQUAL_TEXT(c.driver, std::string(r.found.row->name).c_str(), what.c_str());
    CHECK_TRUE_TEXT(r.streams, what.c_str());
    CHECK_EQUAL_TEXT(c.by_itself, r.by_itself, what.c_str());
    CHECK_TRUE_TEXT(r.about.find(c.about) != std::string::npos, what.c_str());
    const lidarctl::Place place{"serial:/dev/ttyUSB0"};
    const std::string config = lidarctl::snippet(r, place);
    CHECK_TRUE_TEXT(config.find(c.option) != std::string::npos, config.c_str());
    is_accepted(config);
    const int true_baud = static_cast<int>(line.player->line_baud(line.clock.now()));
    if (true_baud > 0) LONGS_EQUAL_TEXT(true_baud, r.baud, what.c_str());
    if (c.baud > 0) {
      CHECK_TRUE_TEXT(config.find("baud: " + std::to_string(c.baud)) != std::string::npos,
                      config.c_str());
    }
    const hal::Duration limit = c.by_itself ? 3s : 10s;
    CHECK_TRUE_TEXT(r.took <= limit, (what + std::to_string(hal::to_seconds(r.took))).c_str());
    slowest[c.by_itself] = std::max(slowest[c.by_itself], r.took);
    // As it was found.
    CHECK_EQUAL_TEXT(c.by_itself, r.left_streaming, what.c_str());
    line.bytes_of(300ms);  // what is under way
    CHECK_EQUAL_TEXT(c.by_itself, line.bytes_of(1s) > 0, what.c_str());
  }
};

TEST(Probe, EveryDeviceIsFoundAtItsRateAndLeftAsItWas) {
  for (const Case& c : cases()) check(c);
  std::printf("slowest: %.2f s when it streams by itself, %.2f s otherwise ",
              hal::to_seconds(slowest[1]), hal::to_seconds(slowest[0]));
}

TEST(Probe, NobodyThereIsToldWithTheRemedyWithinTenSeconds) {
  ProbeLine line("ydlidar", {{"model", "X4"}}, "off@0+100");
  const ProbeResult& r = line.run();
  CHECK_TRUE(r.found.row == nullptr);
  LONGS_EQUAL(0, r.bytes);
  CHECK_TRUE(r.took <= 10s);
  CHECK_TRUE(r.why.find("is the device powered") != std::string::npos);
}

TEST(Probe, BytesOfNobodyAreShownAsTheyAre) {
  ProbeLine line("ldrobot", {{"model", "LD19"}});
  line.is_noise = true;
  const ProbeResult& r = line.run();
  CHECK_TRUE_TEXT(r.found.row == nullptr,
                  (std::string(r.found.row ? r.found.row->name : "") + ": " + r.about).c_str());
  CHECK_TRUE(r.bytes > 10'000);
  LONGS_EQUAL(47, r.first_bytes.size());
  CHECK_TRUE(r.took <= 10s);
  CHECK_TRUE(r.why.find("of no device that is known here") != std::string::npos);
}

TEST(Probe, APortThatIsNotThereIsAFaultOfThePortAtOnce) {
  ProbeLine line("ldrobot", {{"model", "LD19"}}, "unplug@0+100");
  const ProbeResult& r = line.run();
  CHECK_TRUE(r.found.row == nullptr);
  CHECK_TRUE(r.is_port_fault);
  CHECK_TRUE(r.took <= 20ms);
}

TEST(Probe, ADeviceThatVanishesMeanwhileIsAFaultOfThePort) {
  ProbeLine line("rplidar", {{"model", "A1"}}, "unplug@1+100");
  CHECK_TRUE(line.run().is_port_fault);
}

TEST(Probe, OneWhoseHealthIsBadIsNamedAndWhyItDoesNotStream) {
  ProbeLine line("ydlidar", {{"model", "X4"}, {"health", "2"}, {"health_code", "7"}});
  const ProbeResult& r = line.run();
  CHECK_TRUE(r.found.row != nullptr);
  STRCMP_EQUAL("ydlidar", std::string(r.found.row->name).c_str());
  CHECK_FALSE(r.streams);
  CHECK_TRUE(r.why.find("0x0007") != std::string::npos);
}

TEST(Probe, WithoutALineEachDriverIsTriedOnce) {
  std::size_t speaking = 0, variants = 0;
  for (const drivers::Row& row : drivers::all()) {
    if (row.default_baud == 0) continue;
    speaking += row.speaks;
    variants += row.finding.variants.size();
  }
  const auto trials = lidarctl::silent_trials(drivers::all(), false);
  LONGS_EQUAL(speaking + variants, trials.size());
  for (const lidarctl::Trial& t : trials) LONGS_EQUAL(0, t.baud);
}

TEST(Probe, AtEachRateThoseThatAskComeBeforeThoseThatStart) {
  const auto trials = lidarctl::silent_trials(drivers::all(), true);
  bool started = false;
  for (const lidarctl::Trial& t : trials) {
    if (t.row->finding.bauds.size() > 1 && t.baud != t.row->finding.bauds[0]) break;
    started |= !t.row->finding.asks_first;
    CHECK_FALSE(started && t.row->finding.asks_first);
  }
  CHECK_TRUE(started);
}

TEST(Probe, TheRateThatMostDevicesHaveIsListenedToFirst) {
  const auto rates = lidarctl::listening_rates(drivers::all());
  LONGS_EQUAL(115200, rates[0]);
  for (const drivers::Row& row : drivers::all()) {
    for (const int baud : row.finding.bauds) {
      LONGS_EQUAL(1, std::ranges::count(rates, baud));
    }
  }
}

TEST(Probe, OfEquallyAlikeTheOneThatCanBeAskedIsAskedFirst) {
  std::array rows{*drivers::find("coin_d4"), *drivers::find("ydlidar"), *drivers::find("xv11")};
  rows[0].likeness = [](hal::Bytes) { return 0.99; };
  rows[1].likeness = [](hal::Bytes) { return 0.98; };
  rows[2].likeness = [](hal::Bytes) { return 0.7; };
  auto trials = lidarctl::heard(rows, {}, 115200);
  LONGS_EQUAL(3, trials.size());
  STRCMP_EQUAL("ydlidar", std::string(trials[0].row->name).c_str());
  STRCMP_EQUAL("coin_d4", std::string(trials[1].row->name).c_str());
  rows[1].likeness = [](hal::Bytes) { return 0.8; };
  rows[2].likeness = [](hal::Bytes) { return 0.5; };
  trials = lidarctl::heard(rows, {}, 115200);
  LONGS_EQUAL(2, trials.size());
  STRCMP_EQUAL("coin_d4", std::string(trials[0].row->name).c_str());
}

TEST(Probe, AtAnAddressEachDriverIsTriedAtEachPortThatItKnows) {
  static constexpr std::array<std::uint16_t, 2> kTwo{2111, 2112};
  static constexpr std::array<std::uint16_t, 1> kOne{10940};
  // One that needs no words to stream can be asked where it has a control port.
  std::array rows{*drivers::find("coin_d4"), *drivers::find("hokuyo_scip"),
                  *drivers::find("rplidar"), *drivers::find("sick_safety")};
  rows[0].finding = {.tcp = kTwo};
  rows[1].finding = {.asks_first = true, .tcp = kOne};
  rows[2].finding = {.udp = kTwo, .control = 80};
  const auto text = [&](bool is_tcp, std::uint16_t port) {
    std::string all;
    for (const lidarctl::Trial& t : lidarctl::network_trials(rows, is_tcp, port)) {
      all += std::string(t.row->name) + (t.is_control ? "!" : ":") + std::to_string(t.port) + " ";
    }
    return all;
  };
  STRCMP_EQUAL("hokuyo_scip:10940 coin_d4:2111 coin_d4:2112 rplidar!80 sick_safety!2122 ",
               text(true, 0).c_str());
  STRCMP_EQUAL("hokuyo_scip:7 coin_d4:7 rplidar!7 sick_safety!7 ", text(true, 7).c_str());
  STRCMP_EQUAL("rplidar:2111 rplidar:2112 sick_safety:6060 ", text(false, 0).c_str());
  const auto ports = lidarctl::udp_ports(std::span(rows).first(3));
  CHECK_TRUE(std::ranges::equal(ports, kTwo));
}
