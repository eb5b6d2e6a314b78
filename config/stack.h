// The configuration as plain structs. Every default stands here, and only here; keys.cpp says how
// each member is written in a file.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "collation/cloud_builder.h"
#include "collation/imu_aligner.h"
#include "collation/ordered_multi_queue.h"
#include "drivers/options.h"
#include "drivers/registry.h"
#include "hal/port_spec.h"
#include "hal/serial_port.h"
#include "hal/time.h"
#include "hal/wall_offset.h"

namespace config {

using collation::EchoChoice;
using collation::Overflow;
using collation::Policy;
using collation::Role;
using collation::WantedReadings;
using hal::WallClock;

enum class Frame : std::uint8_t { tracking, sensor };
enum class TimeReference : std::uint8_t { end, start };

struct Pose {
  std::array<double, 3> xyz{};  // m, of the sensor's origin in the tracking frame
  std::array<double, 3> rpy{};  // rad, see collation/pose.h
};

// What becomes one cloud.
struct Emit {
  using By = collation::Emit;
  By by = By::turn;
  int subdivisions = 1;  // clouds per turn; 1 unless by subdivisions
};

struct Outputs {
  bool points = true;
  bool scan = true;
};

// What is taken from a lidar's clouds; collation/filters.h says how.
struct Filters {
  std::vector<collation::AngleWindow> angles{};  // empty: every angle
  double min_intensity = 0;
  std::array<double, 3> box_min{}, box_max{};  // m, tracking frame; equal: off
  double shadow_min_angle_deg = 0;             // 0: off
  int shadow_window = 1;                       // beams
  double speckle_distance = 0;                 // m; 0: off
  int speckle_window = 2;                      // beams
  int speckle_neighbours = 1;
  int median_window = 1;  // beams; 1: off
  int decimate = 1;       // 1: off
  double voxel = 0;       // m; 0: off
};

struct Collation {
  Policy policy = Policy::live;
  bool by_trajectory = false;
  Overflow overflow = Overflow::release;
};

struct Stream {
  std::string unix_path = "/run/lidard/stream.sock";
  int clients = 4;
  int client_buffer_kib = 512;
};

struct Sensor {
  std::string name;                      // a part of topics: [a-z][a-z0-9_]*
  const drivers::Row* driver = nullptr;  // never null once loaded
  // Of its device. A second one is a sensor of its own, NAME/imu, right behind the device's first:
  // the same pose, role and trajectory, but no ports.
  unsigned output = drivers::kMainOutput;
  std::optional<hal::PortSpec> port{};  // never empty once loaded
  std::optional<hal::PortSpec> control{}, imu{};
  int baud = 0;  // 0 once loaded: not a serial line. In a file: the driver's default
  // UDP: the accepted sender. With a port it is also where commands are sent to. Empty: anybody.
  // Empty, where commands have a TCP port of their own: that host.
  std::optional<hal::HostPort> from{};
  std::optional<hal::HostPort> host{};  // our own end, as the device is told; empty: as it is
  hal::Latency latency = hal::Latency::low;
  hal::Line line = hal::Line::automatic;
  Pose pose;
  std::string trajectory = "main";
  Role role = Role::required;
  std::optional<hal::Duration> max_wait{};  // empty: computed, see plan.h
  drivers::StampOptions stamps;
  std::optional<int> capacity{};  // of the collation queue; empty: computed
  double sampling_ratio = 1;      // of the packets that are kept
  EchoChoice echo = EchoChoice::first;
  double min_range = 0, max_range = 1000;  // m, bounds of a valid range
  Filters filters;
  Emit emit;
  Outputs outputs;
  WantedReadings readings;  // of an inertial sensor, besides its samples
  Frame frame = Frame::tracking;
  TimeReference time_reference = TimeReference::end;
  std::string deskew;  // name of the IMU whose gyro turns the points back; empty: none
  drivers::Options options{std::span<const drivers::OptionSpec>{}};
};

// `s` has a driver.
inline drivers::Kind kind_of(const Sensor& s) {
  return s.output == drivers::kImuOutput ? drivers::Kind::imu : s.driver->kind;
}
// Whose datagrams are taken; empty: anybody's.
inline std::string accepted_sender(const Sensor& s) {
  if (s.from) return s.from->host == "0.0.0.0" ? "" : s.from->host;
  const bool tcp = s.control && s.control->kind == hal::PortSpec::Kind::tcp;
  return tcp ? s.control->host : "";
}
inline bool is_device(const Sensor& s) { return s.output == drivers::kMainOutput; }

// Where other programs send what is put in order with the sensors.
struct InputSocket {
  std::string unix_path = "/run/lidard/input.sock";
  int clients = 2;
};

// The messages of one topic of the input socket.
struct Input {
  std::string name;
  std::string topic;   // once loaded never empty: "/NAME" unless given
  std::string schema;  // never empty once loaded
  int max_bytes = 4096;
  double rate_hz = 100;
  hal::Duration max_wait = std::chrono::milliseconds(30);
  std::string trajectory = "main";
  Role role = Role::optional;
  Overflow overflow = Overflow::drop_oldest;
  std::optional<int> capacity{};  // of the collation queue; empty: computed
};

// Several lidars as one, on /NAME/points.
struct Merged {
  std::string name;
  std::vector<std::string> sensors;  // their index is the `origin` of a point
  std::string deskew;                // as of a sensor
};

struct Stack {
  std::string frame = "base_link";  // tracking frame
  Collation collation;
  Stream stream;
  WallClock wall_clock = WallClock::follow;
  double rate_log_period_s = 15;  // 0: never
  std::string capture;            // raw capture file; empty: none
  InputSocket input;
  std::vector<Input> inputs;  // in the order of the file, as are
  std::vector<Merged> merged;
  std::vector<Sensor> sensors;
};

// In the order all of them have one numbering: the sensors, then the inputs.
inline std::size_t ordered(const Stack& stack) {
  return stack.sensors.size() + stack.inputs.size();
}
// How many sensors the device of stack.sensors[id] is.
inline std::size_t outputs_of(const Stack& stack, std::size_t id) {
  const bool two = id + 1 < stack.sensors.size() && !is_device(stack.sensors[id + 1]);
  return two ? 2 : 1;
}
inline const std::string& name_of(const Stack& stack, std::size_t id) {
  const std::size_t sensors = stack.sensors.size();
  return id < sensors ? stack.sensors[id].name : stack.inputs[id - sensors].name;
}
inline Role role_of(const Stack& stack, std::size_t id) {
  const std::size_t sensors = stack.sensors.size();
  return id < sensors ? stack.sensors[id].role : stack.inputs[id - sensors].role;
}

}  // namespace config
