#include "config/load.h"

#include <sys/stat.h>
#include <unistd.h>

#include <numbers>

#include "config/plan.h"
#include "test/support/harness.h"
#include "test/support/places.h"

namespace {

std::string complaints(const config::Loaded& loaded) {
  std::string text;
  if (const auto* faults = std::get_if<std::vector<config::Fault>>(&loaded)) {
    for (const config::Fault& fault : *faults) text += config::to_string(fault) + "\n";
  }
  return text;
}

config::Stack loaded(const std::string& text) {
  auto result = config::load_text(text, "t.yaml");
  STRCMP_EQUAL("", complaints(result).c_str());
  return std::get<config::Stack>(std::move(result));
}

constexpr const char* kFull = R"(
frame: base
collation: {policy: strict, by_trajectory: true, overflow: drop_newest}
stream: {unix: /tmp/s.sock, clients: 3, client_buffer_kib: 512}
wall_clock: hold
rate_log_period_s: 2.5
capture: /tmp/raw.mcap
sensors:
  front:
    driver: ldrobot
    port: serial:/dev/lidar0
    baud: 460800
    latency: batched
    line: uart
    pose: {xyz: [0.1, -2, 3e-1], rpy_deg: [180, 0, -90]}
    trajectory: left
    role: optional
    max_wait_ms: 30.5
    fixed_latency_ms: 1.25
    capacity: 77
    sampling_ratio: 0.5
    min_range: 0.05
    max_range: 12
    echo: strongest
    filters:
      angles_deg: [[-90, 90], [170, -170]]
      min_intensity: 12.5
      box: {min: [-0.3, -0.2, 0], max: [0.3, 0.2, 1]}
      shadow: {min_angle_deg: 8, window: 2}
      speckle: {distance: 0.1, window: 3, neighbours: 2}
      median_window: 5
      decimate: 2
      voxel: 0.05
    emit: {subdivisions: 10}
    outputs: [scan]
    frame: sensor
    time_reference: start
    options: {model: LD06}
)";

}  // namespace

TEST_GROUP(ConfigLoad){};

TEST(ConfigLoad, EveryKeyReachesItsMember) {
  using namespace std::chrono_literals;
  const config::Stack c = loaded(kFull);
  STRCMP_EQUAL("base", c.frame.c_str());
  CHECK(c.collation.policy == config::Policy::strict);
  CHECK(c.collation.by_trajectory);
  CHECK(c.collation.overflow == config::Overflow::drop_newest);
  STRCMP_EQUAL("/tmp/s.sock", c.stream.unix_path.c_str());
  LONGS_EQUAL(3, c.stream.clients);
  LONGS_EQUAL(512, c.stream.client_buffer_kib);
  CHECK(c.wall_clock == config::WallClock::hold);
  DOUBLES_EQUAL(2.5, c.rate_log_period_s, 0);
  STRCMP_EQUAL("/tmp/raw.mcap", c.capture.c_str());
  LONGS_EQUAL(1, c.sensors.size());
}

TEST(ConfigLoad, EveryKeyOfASensorReachesItsMember) {
  using namespace std::chrono_literals;
  const config::Stack c = loaded(kFull);
  const config::Sensor& s = c.sensors[0];
  STRCMP_EQUAL("front", s.name.c_str());
  STRCMP_EQUAL("ldrobot", std::string(s.driver->name).c_str());
  STRCMP_EQUAL("serial:/dev/lidar0", hal::to_string(*s.port).c_str());
  LONGS_EQUAL(460800, s.baud);
  CHECK(s.latency == hal::Latency::batched);
  CHECK(s.line == hal::Line::uart);
  DOUBLES_EQUAL(-2, s.pose.xyz[1], 0);
  DOUBLES_EQUAL(std::numbers::pi, s.pose.rpy[0], 1e-12);
  DOUBLES_EQUAL(-std::numbers::pi / 2, s.pose.rpy[2], 1e-12);
  STRCMP_EQUAL("left", s.trajectory.c_str());
  CHECK(s.role == config::Role::optional);
  CHECK(s.max_wait == 30500us);
  CHECK(s.stamps.fixed_latency == 1250us);
  LONGS_EQUAL(77, *s.capacity);
  DOUBLES_EQUAL(0.5, s.sampling_ratio, 0);
  DOUBLES_EQUAL(0.05, s.min_range, 0);
  DOUBLES_EQUAL(12, s.max_range, 0);
  CHECK(s.emit.by == config::Emit::By::subdivisions);
  LONGS_EQUAL(10, s.emit.subdivisions);
  CHECK(!s.outputs.points && s.outputs.scan);
  CHECK(s.frame == config::Frame::sensor);
  CHECK(s.time_reference == config::TimeReference::start);
  STRCMP_EQUAL("LD06", std::string(s.options.text("model")).c_str());
}

TEST(ConfigLoad, EveryFilterReachesItsMember) {
  const config::Stack c = loaded(kFull);
  CHECK(c.sensors[0].echo == config::EchoChoice::strongest);
  const config::Filters& f = c.sensors[0].filters;
  LONGS_EQUAL(2, f.angles.size());
  DOUBLES_EQUAL(-std::numbers::pi / 2, f.angles[0].from, 1e-6);
  DOUBLES_EQUAL(std::numbers::pi, f.angles[0].width, 1e-6);
  DOUBLES_EQUAL(std::numbers::pi / 9, f.angles[1].width, 1e-6);  // across the rear
  DOUBLES_EQUAL(12.5, f.min_intensity, 0);
  DOUBLES_EQUAL(-0.2, f.box_min[1], 0);
  DOUBLES_EQUAL(1, f.box_max[2], 0);
  DOUBLES_EQUAL(8, f.shadow_min_angle_deg, 0);
  LONGS_EQUAL(2, f.shadow_window);
  DOUBLES_EQUAL(0.1, f.speckle_distance, 0);
  LONGS_EQUAL(3, f.speckle_window);
  LONGS_EQUAL(2, f.speckle_neighbours);
  LONGS_EQUAL(5, f.median_window);
  LONGS_EQUAL(2, f.decimate);
  DOUBLES_EQUAL(0.05, f.voxel, 0);
}

TEST(ConfigLoad, FiltersReachTheClouds) {
  const config::Stack c = loaded(kFull);
  const config::Plan plan = config::plan(c);
  const collation::CloudOptions o = config::cloud_options(c.sensors[0], plan.sensors[0]);
  CHECK(o.echo == collation::EchoChoice::strongest);
  LONGS_EQUAL(2, o.windows.size());
  DOUBLES_EQUAL(12.5, o.min_intensity, 0);
  CHECK_TRUE(o.filters.box.on());
  DOUBLES_EQUAL(8 * std::numbers::pi / 180, o.filters.shadow.min_angle, 1e-6);
  LONGS_EQUAL(2, o.filters.shadow.window);
  DOUBLES_EQUAL(0.1, o.filters.speckle.distance, 1e-7);
  LONGS_EQUAL(3, o.filters.speckle.window);
  LONGS_EQUAL(2, o.filters.speckle.neighbours);
  LONGS_EQUAL(5, o.filters.median.window);
  LONGS_EQUAL(2, o.filters.decimation.every);
  DOUBLES_EQUAL(0.05, o.filters.voxel, 1e-7);
  // Its points are in the sensor's frame, the box is not.
  CHECK_TRUE(o.tracking_from_sensor.isApprox(Eigen::Isometry3f::Identity()));
  DOUBLES_EQUAL(-2, o.filters.box.tracking_from_points.translation().y(), 1e-6);
}

TEST(ConfigLoad, OnlyDriverAndPortMustBeGiven) {
  const config::Stack c = loaded("sensors: {a: {driver: ldrobot, port: 'serial:/dev/a'}}");
  LONGS_EQUAL(230400, c.sensors[0].baud);
  CHECK(!c.sensors[0].max_wait);
  CHECK(c.collation.policy == config::Policy::live);
  STRCMP_EQUAL("LD19", std::string(c.sensors[0].options.text("model")).c_str());
}

TEST(ConfigLoad, ANetworkPortHasNoBaudRate) {
  const config::Stack c =
      loaded("sensors: {a: {driver: ldrobot, port: 'udp:8090', from: 10.0.0.2}}");
  LONGS_EQUAL(0, c.sensors[0].baud);
  STRCMP_EQUAL("10.0.0.2", c.sensors[0].from->host.c_str());
}

TEST(ConfigLoad, TheTextOfAFileIsGivenAsItWasRead) {
  std::string text = "before";
  const std::string path = test::in_source("config/examples/one_lidar.yaml");
  CHECK(std::holds_alternative<config::Stack>(config::load(path, text)));
  const config::Loaded again = config::load_text(text, path);
  CHECK(std::holds_alternative<config::Stack>(again));
  STRCMP_CONTAINS("sensors:", text.c_str());
  CHECK(text.back() == '\n');
}

TEST(ConfigLoad, ADeviceWithADialogueOverUdpHasADestination) {
  const config::Stack c =
      loaded("sensors: {a: {driver: rplidar, port: 'udp:0', from: '10.0.0.2:8089'}}");
  LONGS_EQUAL(8089, c.sensors[0].from->port);
}

TEST(ConfigLoad, DevicesMaySendToOnePortWhenTheirAddressesTellThemApart) {
  const config::Stack c = loaded(
      "sensors:\n  a: {driver: ldrobot, port: 'udp:7', from: 10.0.0.1}\n"
      "  b: {driver: ldrobot, port: 'udp:7', from: 10.0.0.2}\n");
  LONGS_EQUAL(2, c.sensors.size());
}

TEST(ConfigLoad, DatagramsAreTakenFromTheHostOfTheControlPort) {
  config::Sensor s;
  STRCMP_EQUAL("", config::accepted_sender(s).c_str());
  s.control = *hal::parse_port_spec("tcp:10.0.0.7:2111");
  STRCMP_EQUAL("10.0.0.7", config::accepted_sender(s).c_str());
  s.from = hal::HostPort{"10.0.0.8", 0};
  STRCMP_EQUAL("10.0.0.8", config::accepted_sender(s).c_str());
  s.from = hal::HostPort{"0.0.0.0", 0};
  STRCMP_EQUAL("", config::accepted_sender(s).c_str());
}

TEST(ConfigLoad, AUsbDeviceIsNotLimitedByALineRate) {
  const std::string fast = "sensors: {a: {driver: microstrain_mip, baud: 9600, port: 'serial:";
  loaded(fast + "/dev/ttyACM0'}}");
  CHECK(!complaints(config::load_text(fast + "/dev/ttyUSB0'}}", "t.yaml")).empty());
}

TEST(ConfigLoad, SensorsKeepTheOrderOfTheFile) {
  const config::Stack c = loaded(
      "sensors:\n  z: {driver: ldrobot, port: 'udp:1'}\n  a: {driver: ldrobot, port: 'udp:2'}\n");
  STRCMP_EQUAL("z", c.sensors[0].name.c_str());
  STRCMP_EQUAL("a", c.sensors[1].name.c_str());
}

TEST(ConfigLoad, FindsAllFaultsInTheOrderOfTheFile) {
  const auto result = config::load_text(
      "fram: x\nwall_clock: later\nsensors:\n  a:\n    driver: ldrobt\n    port: usb\n", "t.yaml");
  STRCMP_EQUAL(
      "t.yaml:1:1: fram: unknown key, did you mean 'frame'?\n"
      "t.yaml:2:13: wall_clock: 'later' is not valid, expected follow or hold\n"
      "t.yaml:5:13: sensors.a.driver: 'ldrobt' is not valid, expected ",
      complaints(result)
          .substr(0, complaints(result).find("ldrobt' is not valid, expected ") + 31)
          .c_str());
  LONGS_EQUAL(4, std::get<1>(result).size());
}

TEST(ConfigLoad, NamesTheSystemsReasonForAFileThatCannotBeRead) {
  STRCMP_EQUAL(
      "/nowhere/x:1:1: file: No such file or directory, give the path of an existing file\n",
      complaints(config::load("/nowhere/x")).c_str());
  STRCMP_CONTAINS("not a regular file", complaints(config::load("/dev")).c_str());
  STRCMP_CONTAINS("not a regular file", complaints(config::load("/dev/null")).c_str());
}

TEST(ConfigLoad, RefusesAFileThatIsTooLarge) {
  const std::string text(config::kMaxFileSize + 1, '#');
  STRCMP_CONTAINS("larger than 1 MiB", complaints(config::load_text(text, "t")).c_str());
}

TEST(ConfigLoad, SurvivesDeepNesting) {
  const std::string text = "frame: " + std::string(10'000, '[');
  CHECK(complaints(config::load_text(text, "t")) != "");
}

TEST(ConfigLoad, SurvivesAnyTruncationOfAFile) {
  const std::string full = kFull;
  for (std::size_t n = 0; n < full.size(); ++n) {
    const auto result = config::load_text(full.substr(0, n), "t.yaml");
    for (const auto& fault : std::holds_alternative<config::Stack>(result)
                                 ? std::vector<config::Fault>{}
                                 : std::get<1>(result)) {
      CHECK(fault.at.line >= 1 && fault.at.column >= 1);
      CHECK(!fault.wrong.empty() && !fault.remedy.empty() && !fault.key.empty());
    }
  }
}

TEST(ConfigLoad, SensorsMayEachTakeAnyFreeUdpPort) {
  const config::Stack c =
      loaded("sensors: {a: {driver: ldrobot, port: 'udp:0'}, b: {driver: ldrobot, port: 'udp:0'}}");
  LONGS_EQUAL(2, c.sensors.size());
}

TEST(ConfigLoad, ALineMayBeLoadedTo95PerCent) {
  const auto with = [](const char* baud) {
    return complaints(
        config::load_text("sensors: {a: {driver: ldrobot, port: 'serial:/dev/a', "
                          "baud: " +
                              std::string(baud) + "}}",
                          "t"));
  };
  STRCMP_EQUAL("", with("185527").c_str());
  STRCMP_CONTAINS("expected at least 185527 baud", with("185526").c_str());
}

TEST(ConfigLoad, RefusesANamedPipeWithoutWaitingForAWriter) {
  const std::string path = "/tmp/lidard_config_test." + std::to_string(::getpid());
  LONGS_EQUAL(0, ::mkfifo(path.c_str(), 0600));
  const std::string text = complaints(config::load(path));
  ::unlink(path.c_str());
  STRCMP_CONTAINS("not a regular file", text.c_str());
}

TEST(ConfigLoad, ReadingsAreNoneUnlessTheyAreAskedFor) {
  const std::string imu = "sensors:\n  a:\n    driver: microstrain_mip\n    port: serial:/dev/a\n";
  const config::WantedReadings none = loaded(imu).sensors[0].readings;
  CHECK(!none.mag && !none.pressure && !none.temperature);
  const config::WantedReadings some =
      loaded(imu + "    readings: [temperature, mag]\n").sensors[0].readings;
  CHECK(some.mag && !some.pressure && some.temperature);
  const config::WantedReadings empty = loaded(imu + "    readings: []\n").sensors[0].readings;
  CHECK(!empty.mag && !empty.pressure && !empty.temperature);
}
