// What a sensor may not say.
#include <string>

#include "config/load.h"
#include "test/support/harness.h"

namespace {

struct Bad {
  const char* text;
  const char* fault;  // how the first one begins, after the name of the file
};

// The fifth line of a file, inside a sensor whose driver and port are good.
constexpr Bad kLines[] = {
    {"baud: fast", "5:11: sensors.a.baud: 'fast' is not valid, expected an"},
    {"baud: 0", "5:11: sensors.a.baud: '0' is not valid, expected an integer"},
    {"baud: -1", "5:11: sensors.a.baud: '-1' is not valid, expected an integer"},
    {"baud: 1e6", "5:11: sensors.a.baud: '1e6' is not valid, expected an integer"},
    {"baud: 9999999", "5:11: sensors.a.baud: '9999999' is not valid, expected an"},
    {"baud: '115200'", "5:11: sensors.a.baud: the text '115200' is not valid,"},
    {"baud: 0x1C200", "5:11: sensors.a.baud: '0x1C200' is not valid, expected an"},
    {"baud: .inf", "5:11: sensors.a.baud: '.inf' is not valid, expected an"},
    {"baud:", "5:5: sensors.a.baud: no value is not valid, expected an"},
    {"baud: [115200]", "5:11: sensors.a.baud: a list is not valid, expected an"},
    {"baud: 115200.5", "5:11: sensors.a.baud: '115200.5' is not valid, expected an"},
    {"baud: 99999999999999999999", "5:11: sensors.a.baud: '99999999999999999999' is not valid,"},
    {"baud: 19200", "5:11: sensors.a.baud: 19200 baud carry 1920 bytes/s and the"},
    {"bauds: 115200", "5:5: sensors.a.bauds: unknown key, did you mean 'baud'?"},
    {"Baud: 115200", "5:5: sensors.a.Baud: unknown key, did you mean 'baud'?"},
    {"port: serial:/dev/b", "5:5: sensors.a.port: given again, first in line 4, keep one"},
    {"driver: ldrobot", "5:5: sensors.a.driver: given again, first in line 3, keep one"},
    {"clock: utc", "5:12: sensors.a.clock: 'utc' is not valid, expected mapped or"},
    {"clock: device_utc", "5:12: sensors.a.clock: ldrobot devices send no UTC, leave it out"},
    {"warm_up_ms: -1", "5:17: sensors.a.warm_up_ms: '-1' is not valid, expected"},
    {"latency: lo", "5:14: sensors.a.latency: 'lo' is not valid, expected low or"},
    {"latency: 1", "5:14: sensors.a.latency: '1' is not valid, expected low or"},
    {"line: usb", "5:11: sensors.a.line: 'usb' is not valid, expected auto, uart"},
    {"from: 10.0.0.1", "5:11: sensors.a.from: makes sense for udp ports only, leave"},
    {"from: lidar.local", "5:11: sensors.a.from: 'lidar.local' is not valid, expected"},
    {"control: 80", "5:14: sensors.a.control: '80' is not valid, expected"},
    {"control: tcp:1.2.3.4", "5:14: sensors.a.control: 'tcp:1.2.3.4' is not valid, expected"},
    {"control: serial:/dev/a", "5:14: sensors.a.control: makes sense for devices with a second"},
    {"control: tcp:1.2.3.4:80", "5:14: sensors.a.control: makes sense for devices with a second"},
    {"imu: udp:7503", "5:10: sensors.a.imu: makes sense for devices with a second port for"},
    {"imu: udp:70000", "5:10: sensors.a.imu: 'udp:70000' is not valid, expected"},
    {"pose: [0, 0, 0]", "5:11: sensors.a.pose: a list is not valid, expected a map"},
    {"pose: {xyz: [0, 0]}", "5:17: sensors.a.pose.xyz: a list is not valid, expected a list of"},
    {"pose: {xyz: [0, 0, 0, 0]}",
     "5:17: sensors.a.pose.xyz: a list is not valid, expected a list of"},
    {"pose: {xyz: 0}", "5:17: sensors.a.pose.xyz: '0' is not valid, expected a list of"},
    {"pose: {xyz: [0, .nan, 0]}",
     "5:17: sensors.a.pose.xyz: a list is not valid, expected a list of"},
    {"pose: {xyz: [0, nan, 0]}",
     "5:17: sensors.a.pose.xyz: a list is not valid, expected a list of"},
    {"pose: {xyz: [0, .inf, 0]}",
     "5:17: sensors.a.pose.xyz: a list is not valid, expected a list of"},
    {"pose: {xyz: [0, 1e300, 0]}",
     "5:17: sensors.a.pose.xyz: a list is not valid, expected a list of"},
    {"pose: {xyz: [0, 1e999, 0]}",
     "5:17: sensors.a.pose.xyz: a list is not valid, expected a list of"},
    {"pose: {xyz: [a, b, c]}", "5:17: sensors.a.pose.xyz: a list is not valid, expected a list of"},
    {"pose: {rpy: [0, 0, 0]}", "5:12: sensors.a.pose.rpy: unknown key, the keys here are xyz or"},
    {"pose: {rpy_deg: [0, 0, 361]}",
     "5:21: sensors.a.pose.rpy_deg: a list is not valid, expected a list of"},
    {"pose: {xyz: [0, 0, 0], xyz: [1, 0, 0]}",
     "5:28: sensors.a.pose.xyz: given again, first in line 5, keep one"},
    {"pose: {xyz: {x: 1}}", "5:17: sensors.a.pose.xyz: a map is not valid, expected a list of"},
    {"trajectory: Main", "5:17: sensors.a.trajectory: 'Main' is not valid, expected a name of"},
    {"trajectory: ''", "5:17: sensors.a.trajectory: the text '' is not valid, expected a"},
    {"trajectory: [a]", "5:17: sensors.a.trajectory: a list is not valid, expected a name of"},
    {"trajectory: 1st", "5:17: sensors.a.trajectory: '1st' is not valid, expected a name of"},
    {"role: needed", "5:11: sensors.a.role: 'needed' is not valid, expected"},
    {"role: true", "5:11: sensors.a.role: 'true' is not valid, expected required,"},
    {"max_wait_ms: 0", "5:18: sensors.a.max_wait_ms: '0' is not valid, expected a number"},
    {"max_wait_ms: -5", "5:18: sensors.a.max_wait_ms: '-5' is not valid, expected a number"},
    {"max_wait_ms: 1000000", "5:18: sensors.a.max_wait_ms: '1000000' is not valid, expected a"},
    {"max_wait_ms: 30ms", "5:18: sensors.a.max_wait_ms: '30ms' is not valid, expected a number"},
    {"max_wait_ms: nan", "5:18: sensors.a.max_wait_ms: 'nan' is not valid, expected a number"},
    {"max_wait: 30", "5:5: sensors.a.max_wait: unknown key, the keys here are driver,"},
    {"max_wait_s: 1", "5:5: sensors.a.max_wait_s: unknown key, did you mean 'max_wait_ms'?"},
    {"fixed_latency_ms: -1",
     "5:23: sensors.a.fixed_latency_ms: '-1' is not valid, expected a number"},
    {"fixed_latency_ms: 5000",
     "5:23: sensors.a.fixed_latency_ms: '5000' is not valid, expected a number"},
    {"capacity: 0", "5:15: sensors.a.capacity: '0' is not valid, expected an integer"},
    {"capacity: 8.5", "5:15: sensors.a.capacity: '8.5' is not valid, expected an integer"},
    {"capacity: 1000000000000", "5:15: sensors.a.capacity: '1000000000000' is not valid, expected"},
    {"capacity: 10000", "5:15: sensors.a.capacity: its queue and clouds would take 277"},
    {"sampling_ratio: 0", "5:21: sensors.a.sampling_ratio: '0' is not valid, expected a number"},
    {"sampling_ratio: 1.1",
     "5:21: sensors.a.sampling_ratio: '1.1' is not valid, expected a number"},
    {"sampling_ratio: -0.5",
     "5:21: sensors.a.sampling_ratio: '-0.5' is not valid, expected a number"},
    {"sampling_ratio: .NaN",
     "5:21: sensors.a.sampling_ratio: '.NaN' is not valid, expected a number"},
    {"min_range: -1", "5:16: sensors.a.min_range: '-1' is not valid, expected a number"},
    {"min_range: 2000", "5:16: sensors.a.min_range: '2000' is not valid, expected a number"},
    {"max_range: 0", "5:16: sensors.a.max_range: '0' is not valid, expected a number"},
    {"max_range: inf", "5:16: sensors.a.max_range: 'inf' is not valid, expected a number"},
    {"{min_range: 1}", "5:5: yaml: end of map not found, correct the YAML"},
    {"emit: turns", "5:11: sensors.a.emit: 'turns' is not valid, expected turn,"},
    {"emit: subdivisions", "5:11: sensors.a.emit: 'subdivisions' is not valid, expected"},
    {"emit: {subdivisions: 0}", "5:11: sensors.a.emit: a map is not valid, expected turn,"},
    {"emit: {subdivisions: 2.5}", "5:11: sensors.a.emit: a map is not valid, expected turn,"},
    {"emit: {subdivisions: 2000}", "5:11: sensors.a.emit: a map is not valid, expected turn,"},
    {"emit: {subdivision: 2}", "5:11: sensors.a.emit: a map is not valid, expected turn,"},
    {"emit: {subdivisions: 2, turn: 1}",
     "5:11: sensors.a.emit: a map is not valid, expected turn,"},
    {"emit: [turn]", "5:11: sensors.a.emit: a list is not valid, expected turn,"},
    {"outputs: points", "5:14: sensors.a.outputs: 'points' is not valid, expected"},
    {"outputs: []", "5:14: sensors.a.outputs: a list is not valid, expected [points],"},
    {"outputs: [cloud]", "5:14: sensors.a.outputs: a list is not valid, expected [points],"},
    {"outputs: [points, points]",
     "5:14: sensors.a.outputs: a list is not valid, expected [points],"},
    {"outputs: [[points]]", "5:14: sensors.a.outputs: a list is not valid, expected [points],"},
    {"frame: lidar", "5:12: sensors.a.frame: 'lidar' is not valid, expected tracking"},
    {"time_reference: middle",
     "5:21: sensors.a.time_reference: 'middle' is not valid, expected end or"},
    {"options: LD06", "5:14: sensors.a.options: 'LD06' is not valid, expected a map of"},
    {"options: {modle: LD06}",
     "5:15: sensors.a.options.modle: unknown option of ldrobot, did you mean"},
    {"options: {model: LD07}",
     "5:22: sensors.a.options.model: 'LD07' is not valid, expected LD06,"},
    {"options: {model: [LD06]}",
     "5:22: sensors.a.options.model: a list is not valid, expected LD06,"},
    {"options: {scan_hz: 99}",
     "5:24: sensors.a.options.scan_hz: '99' is not valid, expected a number"},
    {"options: {scan_hz: nan}",
     "5:24: sensors.a.options.scan_hz: 'nan' is not valid, expected a number"},
    {"options: {scan_hz: fast}",
     "5:24: sensors.a.options.scan_hz: 'fast' is not valid, expected a number"},
    {"options: {model: LD06, model: LD19}",
     "5:28: sensors.a.options.model: given again, first in line 5, keep one"},
    {"options: {model: STL-27L}", "4:11: sensors.a.port: 230400 baud carry 23040 bytes/s and the"},
    {"options: [model]", "5:14: sensors.a.options: a list is not valid, expected a map of"},
    {"options: {xyzzyplugh: 1}",
     "5:15: sensors.a.options.xyzzyplugh: unknown option of ldrobot, the keys"},
    {"? [a, b]\n    : c", "5:7: sensors.a.?: a key cannot be a list, expected a"},
    {"*x: 1", "5:5: yaml: the referenced anchor is not defined,"},
    {"x: !!int 5", "5:8: yaml: the tag tag:yaml.org,2002:int is not"},
    {"role: &r required\n    trajectory: *r", "6:17: yaml: an alias (*name) is not supported,"},
    {"<<: {baud: 9600}", "5:5: sensors.a.<<: unknown key, the keys here are driver,"},
};

void check(const std::string& text, const char* expected) {
  const config::Loaded loaded = config::load_text(text, "t");
  const auto* faults = std::get_if<std::vector<config::Fault>>(&loaded);
  CHECK_TEXT(faults, text.c_str());
  const std::string first = config::to_string(faults->front());
  STRNCMP_EQUAL_TEXT(("t:" + std::string(expected)).c_str(), first.c_str(),
                     2 + std::string(expected).size(), text.c_str());
  for (const config::Fault& fault : *faults) {
    CHECK_TEXT(!fault.wrong.empty() && !fault.remedy.empty(), text.c_str());
  }
}

}  // namespace

TEST_GROUP(ConfigBadSensors){};

TEST(ConfigBadSensors, AreRefusedAtTheirPlaceWithARemedy) {
  for (const Bad& bad : kLines) {
    check("sensors:\n  a:\n    driver: ldrobot\n    port: serial:/dev/a\n    " +
              std::string(bad.text) + "\n",
          bad.fault);
  }
}

TEST(ConfigBadSensors, KeysOfALidarAreRefusedForAnInertialSensor) {
  for (const char* line : {"emit: turn", "outputs: [points]", "min_range: 1", "max_range: 9",
                           "time_reference: start", "frame: sensor"}) {
    const std::string key(line, std::string(line).find(':'));
    check("sensors:\n  a:\n    driver: microstrain_mip\n    port: serial:/dev/a\n    " +
              std::string(line) + "\n",
          ("5:" + std::to_string(key.size() + 7) + ": sensors.a." + key +
           ": makes sense for lidars only, leave it out")
              .c_str());
  }
}

TEST(ConfigBadSensors, ReadingsAreForInertialSensors) {
  check("sensors:\n  a:\n    driver: ldrobot\n    port: serial:/dev/a\n    readings: [mag]\n",
        "5:15: sensors.a.readings: makes sense for inertial sensors only, leave it out");
  const std::string imu = "sensors:\n  a:\n    driver: microstrain_mip\n    port: serial:/dev/a\n";
  for (const char* readings : {"mag", "[magnet]", "[mag, mag]", "[[mag]]", "{mag: true}"}) {
    check(imu + "    readings: " + readings + "\n", "5:15: sensors.a.readings: ");
  }
}

// 1000 packets of 66 bytes a second; a tenth of 460 800 baud is 46 080, nine tenths of that 41 472.
TEST(ConfigBadSensors, InertialSensorsMayFillNineTenthsOfTheirLine) {
  const std::string imu =
      "sensors:\n  a:\n    driver: microstrain_mip\n    port: serial:/dev/a\n    baud: 460800\n"
      "    options: {rate_hz: ";
  check(
      imu + "1000}\n",
      "5:11: sensors.a.baud: 460800 baud carry 46080 bytes/s and the device sends 66000, expected "
      "at least 733334 baud (90 % of the line), or options that make it send less: with these at "
      "most 628 of its 1000 packets/s fit");
  check(imu + "629}\n", "5:11: sensors.a.baud: ");
  const auto fits = config::load_text(imu + "628}\n", "t");
  CHECK_TRUE(std::holds_alternative<config::Stack>(fits));
}
