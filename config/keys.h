// Every key of a configuration file, once: validation, the documented example and the manual are
// made from this table.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "config/stack.h"

namespace config {

// An enumeration by the position of its value in Key::choices.
struct Pick {
  void* value;
  std::size_t (*get)(const void*);
  void (*set)(void*, std::size_t);
};
struct Name {  // [a-z][a-z0-9_]*: a part of topics
  std::string* text;
};
struct SensorName {  // a name, or NAME/imu: the second output of a lidar
  std::string* text;
};
struct Names {  // a list of different names
  std::vector<std::string>* list;
};
struct FrameId {  // as in ROS
  std::string* text;
};
struct Topic {  // as in ROS, absolute
  std::string* text;
};
struct TypeName {  // of a message: "nav_msgs/msg/Odometry"
  std::string* text;
};
struct Path {  // absolute
  std::string* text;
};
struct Degrees {  // held in radians
  std::array<double, 3>* radians;
};
struct Section {};      // a map whose keys have rows of their own
struct SensorOptions {  // a map whose keys are the driver's
  drivers::Options* options;
};

// Where the value of a key is kept, which also says how it is written. A duration is written in
// milliseconds, an angular window as [from, to] in degrees; an optional value is computed when it
// is not given.
using Slot =
    std::variant<Section, bool*, int*, double*, std::optional<int>*, std::optional<hal::Duration>*,
                 hal::Duration*, std::array<double, 3>*, Degrees, Name, SensorName, Names, FrameId,
                 Topic, TypeName, Path, Pick, const drivers::Row**, std::optional<hal::PortSpec>*,
                 std::optional<hal::HostPort>*, Emit*, Outputs*, WantedReadings*, SensorOptions,
                 std::vector<collation::AngleWindow>*>;

// What a key of a sensor makes sense for.
enum class Applies : std::uint8_t {
  any,
  lidar,
  serial,
  udp,
  control,
  imu,       // has a second port, of inertial data
  inertial,  // measures motion, first or besides
};

struct Key {
  std::string_view path;  // "sensors.*.max_wait_ms"
  std::string_view unit;  // empty: none
  double min = 0, max = 0;
  std::string_view choices;  // "live|strict"
  Applies applies;
  std::string_view example;   // where there is no fixed default
  std::string_view fallback;  // the default in words; empty: the member's own
  std::string_view help;
  Slot (*slot)(Stack&, Sensor&);

  std::string_view leaf() const { return path.substr(path.rfind('.') + 1); }
};

std::span<const Key> keys();
const Key* find_key(std::string_view path);  // null when unknown
bool valid_name(std::string_view name);
bool valid_sensor_name(std::string_view name);

}  // namespace config
