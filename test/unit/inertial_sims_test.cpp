// Every inertial driver with its simulated device: what it is told is what was measured, in
// whatever state the device was found.
#include <algorithm>
#include <cmath>
#include <string>

#include "drivers/registry.h"
#include "test/sim/motion.h"
#include "test/support/harness.h"
#include "test/support/sim_line.h"

using drivers::State;
using namespace std::chrono_literals;

namespace {

struct Meeting {
  const char* driver;
  sim::Options device;                                       // what --set would be
  std::vector<std::pair<const char*, const char*>> options;  // of the driver
  int baud;
  double accel, gyro,
      attitude;  // most that may be off: m/s^2, rad/s, rad; attitude 0: none is told
  hal::Duration starts_within = 2s;
};

const std::vector<std::pair<const char*, const char*>> kFast{{"rate_hz", "50"}};

// Off by what the formats are cut to.
const Meeting kMeetings[] = {
    {"epson", {{"streaming", "off"}}, {{"filter_delay", "false"}}, 460800, 1e-5, 1e-6, 0},
    {"epson",
     {{"model", "G364PDC0"}},
     {{"filter_delay", "false"}, {"model", "G364PDC0"}},
     460800,
     1e-5,
     1e-6,
     0},
    {"epson", {{"streaming", "on"}}, {{"filter_delay", "false"}}, 460800, 1e-5, 1e-6, 0},
    {"epson",
     {{"baud", "921600"}},
     {{"filter_delay", "false"}, {"bits", "16"}},
     460800,
     0.0013,
     1.4e-4,
     0},
    {"epson", {{"pps", "on"}}, {{"filter_delay", "false"}, {"pps", "true"}}, 460800, 1e-5, 1e-6, 0},
    {"inertial_labs", {{"types", "fine"}}, {}, 115200, 1e-5, 1e-6, 4e-4},
    {"inertial_labs", {{"types", "full"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"inertial_labs", {{"types", "coarse"}}, {}, 115200, 0.0013, 9e-4, 4e-4},
    {"inertial_labs",
     {{"streaming", "on"}, {"sends", "orientation"}},
     {},
     115200,
     1e-5,
     1e-6,
     4e-4},
    {"inertial_labs",
     {{"baud", "460800"}},
     {{"data", "orientation"}},
     115200,
     0.0013,
     9e-4,
     4e-4,
     5s},
    {"lpms", {{"generation", "ig1"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"lpms", {{"streaming", "off"}, {"gyro_unit", "rad"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"lpms", {{"accel_sign", "plus"}}, {{"accel_sign", "positive"}}, 115200, 1e-5, 1e-6, 1e-4},
    {"lpms", {{"generation", "legacy"}}, {{"generation", "legacy"}}, 115200, 1e-5, 1e-6, 1e-4},
    {"lpms",
     {{"generation", "legacy"}, {"low_precision", "on"}},
     {{"generation", "legacy"}},
     115200,
     0.005,
     6e-4,
     4e-4},
    {"lpms", {{"baud", "921600"}}, {}, 115200, 1e-5, 1e-6, 1e-4, 3s},
    // What it is asked for is up to a period old.
    {"bno055", {{"overrun_percent", "2"}}, {}, 115200, 0.03, 0.02, 0.012},
    {"bno055",
     {{"overrun_percent", "20"}, {"junk", "on"}},
     {{"mode", "imu"}},
     115200,
     0.03,
     0.02,
     0.012,
     3s},
    {"bno055", {{"overrun_percent", "2"}}, {{"mode", "accgyro"}}, 115200, 0.03, 0.02, 0},
    {"anpp", {{"streaming", "off"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"anpp", {{"streaming", "on"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"anpp", {{"streaming", "state"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"anpp", {{"baud", "460800"}}, {}, 115200, 1e-5, 1e-6, 1e-4, 3s},
    {"anpp", {{"lacks", "49"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"anpp", {{"lacks", "40"}}, {}, 115200, 1e-5, 1e-6, 0},
    {"anpp", {{"streaming", "on"}, {"commands", "mute"}}, {}, 115200, 1e-5, 1e-6, 1e-4, 3s},
    {"anpp", {{"bundle", "on"}, {"utc_at_s", "2"}}, {}, 0, 1e-5, 1e-6, 1e-4},
    {"anpp", {{"streaming", "off"}}, {}, test::SimLine::kTcp, 1e-5, 1e-6, 1e-4},
    {"bno08x_rvc", {{"axes", "printed"}}, {}, 115200, 5e-3, 0, 5e-4},
    {"bno08x_rvc", {{"axes", "rfu"}}, {{"axes", "rfu"}}, 115200, 5e-3, 0, 5e-4},
    {"fdilink", {{"frames", "both"}}, {}, 921600, 1e-5, 1e-6, 1e-4},
    {"fdilink", {{"accel", "gravity"}}, {}, 921600, 1e-5, 1e-6, 1e-4},
    {"fdilink", {{"stamps", "apart"}, {"motion", "yaw"}}, {}, 921600, 1e-5, 1e-6, 1e-4},
    {"fdilink", {{"frames", "imu"}, {"motion", "shake"}}, {}, 921600, 1e-5, 1e-6, 0},
    {"fdilink",
     {{"frames", "imu"}, {"accel", "gravity"}, {"motion", "rest"}},
     {{"accel_sign", "gravity"}},
     921600,
     1e-5,
     1e-6,
     0},
    {"hipnuc", {{"format", "HI91"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"hipnuc", {{"format", "HI91"}, {"chatter", "on"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"hipnuc", {{"format", "HI92"}}, {}, 115200, 0.003, 6e-4, 4e-4},
    {"hipnuc", {{"format", "HI81"}}, {}, 115200, 0.003, 6e-4, 4e-4},
    {"hipnuc", {{"format", "HI83"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"hipnuc", {{"format", "HI91"}}, {{"message", "HI92"}}, 115200, 0.003, 6e-4, 4e-4},
    {"hipnuc", {{"streaming", "off"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"hipnuc", {{"streaming", "off"}, {"model", "CH010"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"hipnuc", {{"model", "CH010"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"microstrain_mip", {{"model", "7series"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"microstrain_mip", {{"model", "gx5"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"xsens", {{"model", "MTi-1"}}, {}, 115200, 1e-5, 1e-6, 0},
    {"xsens", {{"model", "MTi-30"}, {"streaming", "on"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"xsens", {{"model", "MTi-G-710"}, {"gnss", "on"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"xsens", {{"model", "MTi-630"}}, {{"rate_hz", "50"}}, 115200, 1e-5, 1e-6, 1e-4},
    {"ngimu", {{"bundles", "apart"}}, {}, 0, 1e-5, 1e-6, 1e-4},
    {"ngimu", {{"bundles", "together"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"sbg", {{"log", "short"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"sbg", {{"log", "data"}, {"firmware", "new"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"sbg", {{"log", "none"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"sbg", {{"streaming", "off"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"sbg", {{"baud", "460800"}}, {}, 115200, 1e-5, 1e-6, 1e-4, 3s},
    {"sbg", {{"log", "data"}}, {{"configure", "false"}}, 115200, 1e-5, 1e-6, 1e-4},
    {"sbg", {{"log", "fast"}}, {{"configure", "false"}}, 115200, 6e-3, 6e-4, 1e-4},
    {"sbg", {{"commands", "mute"}}, {}, 115200, 1e-5, 1e-6, 1e-4, 5s},
    {"sbg", {{"bundle", "on"}, {"unix_s", "1700000000"}}, {}, 0, 1e-5, 1e-6, 1e-4},
    {"ximu3", {{"mode", "binary"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"ximu3", {{"mode", "ascii"}}, {{"format", "ascii"}}, 115200, 1e-3, 2e-6, 4e-4},
    {"ximu3", {{"mode", "ascii"}}, {{"configure", "false"}}, 115200, 1e-3, 2e-6, 4e-4},
    {"ximu3", {{"world", "enu"}, {"firmware", "old"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"ximu3", {{"world", "ned"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"ximu3", {{"streaming", "off"}, {"applies", "at_once"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"ximu3", {{"stamps", "apart"}, {"announce", "on"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"ximu3", {{"bundle", "on"}, {"announce", "on"}}, {}, 0, 1e-5, 1e-6, 1e-4},
    {"ximu3", {{"streaming", "off"}}, {}, test::SimLine::kTcp, 1e-5, 1e-6, 1e-4},
    {"um7", {{"found", "other"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"um7", {{"found", "silent"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"um7", {{"found", "streaming"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"um7", {{"found", "raw"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"vectornav", {{"found", "other"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"vectornav", {{"found", "silent"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"vectornav", {{"found", "streaming"}, {"model", "VN-200"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"vectornav", {{"found", "mixed"}, {"model", "VN-300"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"vectornav", {{"found", "counts"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"vectornav", {{"baud", "921600"}}, {}, 115200, 1e-5, 1e-6, 1e-4},
    {"witmotion", {{"baud", "115200"}}, kFast, 115200, 0.003, 6e-4, 2e-4},
    {"witmotion", {{"baud", "115200"}, {"found", "silent"}}, kFast, 115200, 0.003, 6e-4, 2e-4},
    {"witmotion", {{"baud", "115200"}, {"found", "streaming"}}, kFast, 115200, 0.003, 6e-4, 2e-4},
    {"witmotion", {{"baud", "115200"}, {"quaternion", "xyzw"}}, kFast, 115200, 0.003, 6e-4, 2e-4},
    {"witmotion",
     {{"baud", "115200"}, {"axes", "rfu"}},
     {{"rate_hz", "50"}, {"axes", "rfu"}},
     115200,
     0.003,
     6e-4,
     2e-4},
    {"witmotion",
     {{"baud", "115200"}, {"found", "calendar"}},
     {{"rate_hz", "50"}, {"device_clock", "true"}},
     115200,
     0.003,
     6e-4,
     2e-4},
};

std::string name_of(const Meeting& m) {
  std::string name = m.driver;
  for (const auto& [key, value] : m.device) name += " " + value;
  for (const auto& [key, value] : m.options) name += " " + std::string(value);
  return name;
}

double apart(const sim::Vector3& a, const std::optional<drivers::ImuSample::Vector>& b) {
  double most = 0;
  for (std::size_t i = 0; b && i < 3; ++i) most = std::max(most, std::abs(a[i] - (*b)[i]));
  return most;
}

// The angle between two attitudes, of which one is told x, y, z, w: that of one back and the other
// forth.
double apart(const sim::Quaternion& a, const std::array<double, 4>& b) {
  const sim::Quaternion back{a[0], -a[1], -a[2], -a[3]};
  const sim::Quaternion both = sim::product(back, {b[3], b[0], b[1], b[2]});
  return 2 * std::hypot(both[1], both[2], both[3]);
}

// Of the truth, what was measured nearest to a stamp.
const sim::ImuTruth& nearest(const std::vector<sim::ImuTruth>& truth, hal::Time at) {
  const auto after = std::ranges::lower_bound(truth, at, {}, &sim::ImuTruth::at);
  if (after == truth.begin()) return *after;
  if (after == truth.end()) return truth.back();
  return after->at - at < at - std::prev(after)->at ? *after : *std::prev(after);
}

sim::MotionKind motion_of(const Meeting& m) {
  const sim::ModelRow& row = *sim::find_model(m.driver);
  return sim::motion_kind(*sim::Settings::check(row.options, m.device));
}

struct Errors {
  double accel = 0, gyro = 0, attitude = 0;
  bool has_attitude = false;
};

Errors errors_of(const test::SimLine& line, sim::MotionKind motion, hal::Time power_up,
                 hal::Time from) {
  Errors e;
  for (const drivers::ImuSample& s : line.log.samples) {
    if (s.at < from) continue;
    const sim::ImuTruth& truth = nearest(line.truth.samples, s.at);
    e.accel = std::max(e.accel, apart(truth.accel, s.accel));
    e.gyro = std::max(e.gyro, apart(truth.gyro, s.gyro));
    if (!s.orientation) continue;
    const double t = hal::to_seconds(truth.at - power_up);
    const sim::Motion m = sim::motion_at(t, motion);
    e.attitude = std::max(e.attitude, apart(m.orientation, *s.orientation));
    e.has_attitude = true;
  }
  return e;
}

}  // namespace

TEST_GROUP(InertialSims){};

TEST(InertialSims, EverySampleIsWhatWasMeasured) {
  for (const Meeting& m : kMeetings) {
    const std::string name = name_of(m);
    test::SimLine line(m.driver, m.device, m.options, m.baud);
    const hal::Time power_up = line.clock.now();
    const hal::Duration started = line.until_streaming();
    CHECK_TRUE_TEXT(started <= m.starts_within, (name + ": " + line.health().why.c_str()).c_str());
    line.run_for(4s);
    CHECK_TRUE_TEXT(line.log.samples.size() > 100, name.c_str());
    const Errors e = errors_of(line, motion_of(m), power_up, line.clock.now() - 2s);
    std::printf("%-32s %5lld ms, off by %.1e m/s^2, %.1e rad/s, %.1e rad\n", name.c_str(),
                static_cast<long long>(started / 1ms), e.accel, e.gyro, e.attitude);
    CHECK_TRUE_TEXT(e.accel <= m.accel && e.gyro <= m.gyro && e.attitude <= m.attitude,
                    name.c_str());
    CHECK_TRUE_TEXT(e.has_attitude == (m.attitude > 0), name.c_str());
    CHECK_TRUE_TEXT(line.health().balances(), name.c_str());
    CHECK_TRUE_TEXT(line.health().cause == drivers::Cause::none, line.health().why.c_str());
  }
}

TEST(InertialSims, AfterALossOfPowerItStreamsAgain) {
  for (const Meeting& m : kMeetings) {
    const std::string name = name_of(m);
    test::SimLine line(m.driver, m.device, m.options, m.baud, {}, {"off@6+1"});
    line.run_for(7s);
    CHECK_TRUE_TEXT(line.health().packets > 100, name.c_str());
    line.run_for(6s);
    CHECK_TRUE_TEXT(line.health().state == State::streaming, name.c_str());
    CHECK_TRUE_TEXT(line.health().balances(), name.c_str());
  }
}

TEST(InertialSims, EveryInertialDriverThatHasASimulatorMeetsIt) {
  for (const drivers::Row& row : drivers::all()) {
    if (row.kind != drivers::Kind::imu || sim::find_model(row.name) == nullptr) continue;
    const bool meets =
        std::ranges::any_of(kMeetings, [&](const Meeting& m) { return row.name == m.driver; });
    if (!meets) UT_PRINT(("no meeting of " + std::string(row.name)).c_str());
  }
}
