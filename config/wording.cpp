#include "config/wording.h"

#include <algorithm>
#include <numbers>

#include "hal/text.h"

namespace config {
namespace {

constexpr double kDegPerRad = 180 / std::numbers::pi;

std::string digits(double value) { return std::string(hal::Text<32>::of("%.10g", value).view()); }

std::string range(const char* noun, double min, double max, std::string_view unit) {
  std::string text = std::string(noun) + " from " + digits(min) + " to " + digits(max);
  return unit.empty() ? text : text + " " + std::string(unit);
}

std::string driver_names() {
  std::vector<std::string_view> names;
  for (const drivers::Row& row : drivers::all()) names.push_back(row.name);
  return joined(names);
}

// One overload per kind of slot.
struct Expected {
  const Key& key;
  std::string operator()(Section) { return "a map"; }
  std::string operator()(SensorOptions) { return "a map of the driver's options"; }
  std::string operator()(bool*) { return "true or false"; }
  std::string operator()(int*) { return range("an integer", key.min, key.max, key.unit); }
  std::string operator()(std::optional<int>*) {
    return range("an integer", key.min, key.max, key.unit);
  }
  std::string operator()(double*) { return range("a number", key.min, key.max, key.unit); }
  std::string operator()(std::optional<hal::Duration>*) {
    return range("a number", key.min, key.max, key.unit);
  }
  std::string operator()(hal::Duration*) { return range("a number", key.min, key.max, key.unit); }
  std::string operator()(std::array<double, 3>*) { return three(); }
  std::string operator()(Degrees) { return three(); }
  std::string operator()(Name) { return "a name of at most 32 characters, [a-z][a-z0-9_]*"; }
  std::string operator()(SensorName) { return "the name of an IMU, or NAME/imu of a lidar"; }
  std::string operator()(Names) { return "a list of different names, as [front, rear]"; }
  std::string operator()(FrameId) {
    return "a frame of at most 64 letters, digits, '_', '-', '.' and '/', not beginning with '/'";
  }
  std::string operator()(Topic) { return "a topic as /odom, of at most 129 characters"; }
  std::string operator()(TypeName) {
    return "the name of a message type, as nav_msgs/msg/Odometry";
  }
  std::string operator()(Path) { return "the absolute path of a file, without spaces"; }
  std::string operator()(Pick) { return listed(key.choices); }
  std::string operator()(const drivers::Row**) { return driver_names(); }
  std::string operator()(std::optional<hal::PortSpec>*) {
    return "serial:PATH, udp:[BIND:]PORT or tcp:HOST:PORT, PATH absolute, hosts as IPv4 numbers";
  }
  std::string operator()(std::optional<hal::HostPort>*) {
    return "HOST or HOST:PORT, the host as IPv4 numbers";
  }
  std::string operator()(Emit*) {
    return "turn, chunk or {subdivisions: N} with N " +
           range("an integer", key.min, key.max, key.unit);
  }
  std::string operator()(Outputs*) { return "[points], [scan] or [points, scan]"; }
  std::string operator()(WantedReadings*) {
    return "a list of some of " + listed(key.choices) + ", or []";
  }
  std::string operator()(std::vector<collation::AngleWindow>*) {
    return "a list of at most 32 pairs [from, to], each " + bounds();
  }

 private:
  std::string three() { return "a list of three numbers, each " + bounds(); }
  std::string bounds() { return range("a number", key.min, key.max, key.unit).substr(9); }
};

struct Written {
  const Key& key;
  std::string operator()(Section) { return ""; }
  std::string operator()(SensorOptions) { return ""; }
  std::string operator()(bool* value) { return *value ? "true" : "false"; }
  std::string operator()(int* value) { return std::to_string(*value); }
  std::string operator()(double* value) { return digits(*value); }
  std::string operator()(hal::Duration* value) { return digits(hal::to_seconds(*value) * 1e3); }
  std::string operator()(std::array<double, 3>* value) { return three(*value, 1); }
  std::string operator()(Degrees value) { return three(*value.radians, kDegPerRad); }
  std::string operator()(Name value) { return *value.text; }
  std::string operator()(SensorName value) { return *value.text; }
  std::string operator()(Names) { return ""; }
  std::string operator()(FrameId value) { return *value.text; }
  std::string operator()(Topic value) { return *value.text; }
  std::string operator()(TypeName value) { return *value.text; }
  std::string operator()(Path value) { return *value.text; }
  std::string operator()(Pick pick) {
    return std::string(split(key.choices)[pick.get(pick.value)]);
  }
  std::string operator()(Emit*) { return "turn"; }
  std::string operator()(Outputs* value) {
    return value->points && value->scan ? "[points, scan]" : value->points ? "[points]" : "[scan]";
  }
  std::string operator()(WantedReadings*) { return "[]"; }
  std::string operator()(std::vector<collation::AngleWindow>*) { return "[]"; }
  // No fixed default: keys.cpp says it in words, or the key must be given.
  template <class T>
  std::string operator()(T*) {
    return "";
  }

 private:
  static std::string three(const std::array<double, 3>& v, double scale) {
    return "[" + digits(v[0] * scale) + ", " + digits(v[1] * scale) + ", " + digits(v[2] * scale) +
           "]";
  }
};

}  // namespace

std::vector<std::string_view> split(std::string_view choices) {
  std::vector<std::string_view> words;
  while (!choices.empty()) {
    const std::size_t bar = std::min(choices.find('|'), choices.size());
    words.push_back(choices.substr(0, bar));
    choices.remove_prefix(std::min(bar + 1, choices.size()));
  }
  return words;
}

std::string expected(const Key& key) {
  Stack stack;
  Sensor sensor;
  return std::visit(Expected{key}, key.slot(stack, sensor));
}

std::string expected(const drivers::OptionSpec& spec) {
  switch (spec.type) {
    case drivers::OptionType::flag:
      return "true or false";
    case drivers::OptionType::integer:
      return range("an integer", spec.min, spec.max, spec.unit);
    case drivers::OptionType::number:
      return range("a number", spec.min, spec.max, spec.unit);
    case drivers::OptionType::text:
      return "a text without spaces";
    case drivers::OptionType::choice:
      return listed(spec.choices);
  }
  return "";
}

std::string fallback(const Key& key) {
  if (!key.fallback.empty()) return std::string(key.fallback);
  Stack stack;
  Sensor sensor;
  return std::visit(Written{key}, key.slot(stack, sensor));
}

std::string listed(std::string_view choices) { return joined(split(choices)); }

std::string joined(std::span<const std::string_view> words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += words[i];
  }
  return text;
}

std::string description(const Node& node) {
  switch (node.kind) {
    case Node::Kind::empty:
      return "no value";
    case Node::Kind::list:
      return "a list";
    case Node::Kind::map:
      return "a map";
    case Node::Kind::scalar:
      break;
  }
  std::string shown = node.text.substr(0, 60);
  for (char& c : shown) {
    if (c < ' ' || c == 0x7f) c = '?';
  }
  if (shown.size() < node.text.size()) shown += "...";
  return (node.quoted ? "the text '" : "'") + shown + "'";
}

}  // namespace config
