#include "config/values.h"

#include <charconv>
#include <cmath>
#include <numbers>

#include "config/wording.h"

namespace config {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr std::size_t kMaxWindows = 32;  // angular windows of one sensor

template <class T>
std::optional<T> number(const Node& node) {
  if (node.kind != Node::Kind::scalar || node.quoted) return std::nullopt;
  std::string_view text = node.text;
  if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
  T value{};
  const auto [end, ec] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (ec != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> number_within(const Node& node, double min, double max) {
  const std::optional<double> value = number<double>(node);
  if (!value || !std::isfinite(*value) || *value < min || *value > max) return std::nullopt;
  return value;
}

std::optional<int> integer_within(const Node& node, double min, double max) {
  const std::optional<int> value = number<int>(node);
  if (!value || *value < min || *value > max) return std::nullopt;
  return value;
}

const std::string* word(const Node& node) {
  return node.kind == Node::Kind::scalar ? &node.text : nullptr;
}

bool printable(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) { return c > ' ' && c < 0x7f; });
}

bool valid_frame(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  return !text.empty() && text.size() <= 64 && text[0] != '/' &&
         text.find_first_not_of(kAllowed) == text.npos;
}

bool valid_type(std::string_view text) {
  constexpr std::string_view kAllowed =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./";
  return !text.empty() && text.size() <= 128 && text[0] != '/' && text.back() != '/' &&
         text.find_first_not_of(kAllowed) == text.npos;
}

bool valid_topic(std::string_view text) {
  return text.size() > 1 && text[0] == '/' && valid_type(text.substr(1)) &&
         text.find("//") == text.npos;
}

std::optional<std::array<double, 3>> vector(const Node& node, const Key& key) {
  std::array<double, 3> result{};
  if (node.kind != Node::Kind::list || node.items.size() != result.size()) return std::nullopt;
  for (std::size_t i = 0; i < result.size(); ++i) {
    const std::optional<double> value = number_within(node.items[i], key.min, key.max);
    if (!value) return std::nullopt;
    result[i] = *value;
  }
  return result;
}

// [from, to]: from the one counter-clockwise to the other; a whole turn only when written as one.
std::optional<collation::AngleWindow> window(const Node& node, const Key& key) {
  if (node.kind != Node::Kind::list || node.items.size() != 2) return std::nullopt;
  const std::optional<double> from = number_within(node.items[0], key.min, key.max);
  const std::optional<double> to = number_within(node.items[1], key.min, key.max);
  if (!from || !to) return std::nullopt;
  const double width = *to - *from + (*to < *from ? 360 : 0);
  if (width < 0) return std::nullopt;
  return collation::AngleWindow{static_cast<float>(*from * kRadPerDeg),
                                static_cast<float>(width * kRadPerDeg)};
}

// One overload per kind of slot. Answers whether the value was right, and then took it.
struct Assign {
  const Key& key;
  const Node& node;

  bool operator()(Section) { return node.kind == Node::Kind::map; }
  bool operator()(SensorOptions) { return node.kind == Node::Kind::map; }
  bool operator()(bool* value) {
    if (node.kind != Node::Kind::scalar || node.quoted) return false;
    if (node.text != "true" && node.text != "false") return false;
    *value = node.text == "true";
    return true;
  }
  bool operator()(int* value) { return take(value, integer_within(node, key.min, key.max)); }
  bool operator()(std::optional<int>* value) {
    return take(value, integer_within(node, key.min, key.max));
  }
  bool operator()(double* value) { return take(value, number_within(node, key.min, key.max)); }
  bool operator()(std::optional<hal::Duration>* value) {
    const std::optional<double> ms = number_within(node, key.min, key.max);
    if (ms) *value = hal::from_seconds(*ms * 1e-3);
    return ms.has_value();
  }
  bool operator()(hal::Duration* value) {
    const std::optional<double> ms = number_within(node, key.min, key.max);
    if (ms) *value = hal::from_seconds(*ms * 1e-3);
    return ms.has_value();
  }
  bool operator()(std::array<double, 3>* value) { return take(value, vector(node, key)); }
  bool operator()(Degrees value) {
    const bool right = take(value.radians, vector(node, key));
    if (right) {
      for (double& angle : *value.radians) angle *= kRadPerDeg;
    }
    return right;
  }
  bool operator()(Name value) { return take_word(value.text, valid_name); }
  bool operator()(SensorName value) { return take_word(value.text, valid_sensor_name); }
  bool operator()(Names value) {
    if (node.kind != Node::Kind::list || node.items.empty()) return false;
    std::vector<std::string> taken;
    for (const Node& item : node.items) {
      if (!word(item) || !valid_name(*word(item))) return false;
      if (std::ranges::find(taken, *word(item)) != taken.end()) return false;
      taken.push_back(*word(item));
    }
    *value.list = std::move(taken);
    return true;
  }
  bool operator()(FrameId value) { return take_word(value.text, valid_frame); }
  bool operator()(Topic value) { return take_word(value.text, valid_topic); }
  bool operator()(TypeName value) { return take_word(value.text, valid_type); }
  bool operator()(Path value) {
    return take_word(value.text, [](std::string_view text) {
      return printable(text) && text[0] == '/' && text.back() != '/' && text.size() < 4096;
    });
  }
  bool operator()(Pick value) {
    const std::vector<std::string_view> words = split(key.choices);
    const auto found = word(node) ? std::ranges::find(words, *word(node)) : words.end();
    if (found == words.end()) return false;
    value.set(value.value, static_cast<std::size_t>(found - words.begin()));
    return true;
  }
  bool operator()(const drivers::Row** value) {
    const drivers::Row* const row = word(node) ? drivers::find(*word(node)) : nullptr;
    if (row) *value = row;
    return row != nullptr;
  }
  bool operator()(std::optional<hal::PortSpec>* value) {
    return word(node) && printable(*word(node)) && take(value, hal::parse_port_spec(*word(node)));
  }
  bool operator()(std::optional<hal::HostPort>* value) {
    return word(node) && printable(*word(node)) && take(value, hal::parse_host_port(*word(node)));
  }
  bool operator()(Emit* value) {
    if (word(node) && *word(node) == "turn")
      *value = {};
    else if (word(node) && *word(node) == "chunk")
      *value = {Emit::By::chunk};
    else
      return take_subdivisions(*value);
    return true;
  }
  bool operator()(std::vector<collation::AngleWindow>* value) {
    if (node.kind != Node::Kind::list || node.items.size() > kMaxWindows) return false;
    std::vector<collation::AngleWindow> taken;
    for (const Node& item : node.items) {
      const std::optional<collation::AngleWindow> one = window(item, key);
      if (!one) return false;
      taken.push_back(*one);
    }
    *value = std::move(taken);
    return true;
  }
  bool operator()(Outputs* value) {
    if (node.kind != Node::Kind::list || node.items.empty()) return false;
    Outputs taken{false, false};
    for (const Node& item : node.items) {
      bool* const output = !word(item)               ? nullptr
                           : *word(item) == "points" ? &taken.points
                           : *word(item) == "scan"   ? &taken.scan
                                                     : nullptr;
      if (!output || *output) return false;
      *output = true;
    }
    *value = taken;
    return true;
  }
  bool operator()(WantedReadings* value) {
    if (node.kind != Node::Kind::list) return false;
    WantedReadings taken;
    for (const Node& item : node.items) {
      bool* const reading = !word(item)                    ? nullptr
                            : *word(item) == "mag"         ? &taken.mag
                            : *word(item) == "pressure"    ? &taken.pressure
                            : *word(item) == "temperature" ? &taken.temperature
                                                           : nullptr;
      if (!reading || *reading) return false;
      *reading = true;
    }
    *value = taken;
    return true;
  }

 private:
  template <class T, class Parsed>
  static bool take(T* value, const Parsed& parsed) {
    if (parsed) *value = *parsed;
    return static_cast<bool>(parsed);
  }
  template <class Valid>
  bool take_word(std::string* value, Valid valid) {
    if (!word(node) || !valid(*word(node))) return false;
    *value = *word(node);
    return true;
  }
  bool take_subdivisions(Emit& value) {
    if (node.kind != Node::Kind::map || node.items.size() != 2) return false;
    if (!word(node.items[0]) || *word(node.items[0]) != "subdivisions") return false;
    const std::optional<int> n = integer_within(node.items[1], key.min, key.max);
    if (n) value = {Emit::By::subdivisions, *n};
    return n.has_value();
  }
};

std::string nearest_hint(const Key& key, const Node& node) {
  std::vector<std::string_view> words = split(key.choices);
  if (key.leaf() == "driver") {
    for (const drivers::Row& row : drivers::all()) words.push_back(row.name);
  }
  const std::string_view near = word(node) ? drivers::nearest(node.text, words) : "";
  return near.empty() || near == node.text ? "" : "; did you mean '" + std::string(near) + "'?";
}

}  // namespace

std::optional<Problem> assign(const Key& key, const Node& node, Stack& stack, Sensor& sensor) {
  if (std::visit(Assign{key, node}, key.slot(stack, sensor))) return std::nullopt;
  return Problem{description(node) + " is not valid",
                 "expected " + expected(key) + nearest_hint(key, node)};
}

std::optional<Problem> assign(drivers::Options& options, const drivers::OptionSpec& spec,
                              const Node& node) {
  const bool right =
      word(node) && (node.text.empty() || printable(node.text)) && options.set(spec.key, node.text);
  if (right) return std::nullopt;
  return Problem{description(node) + " is not valid", "expected " + expected(spec)};
}

}  // namespace config
