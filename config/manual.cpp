#include "config/manual.h"

#include <algorithm>

#include "config/cartographer.h"
#include "config/wording.h"

namespace config {
namespace {

using drivers::OptionSpec;
using drivers::OptionType;

constexpr std::string_view kSensor = "sensors.*.";

std::string upper_first(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z') text[0] -= 'a' - 'A';
  return text;
}

std::string default_in_words(const std::string& value) {
  return value.empty() ? "must be given" : "default: " + value;
}

std::string details(const Key& key) {
  return "(" + expected(key) + "; " + default_in_words(fallback(key)) + ")";
}
std::string details(const OptionSpec& spec) {
  const std::string value = spec.fallback.empty() ? "\"\"" : std::string(spec.fallback);
  return "(" + expected(spec) + "; default: " + value + ")";
}

bool is_section(const Key& key) {
  Stack stack;
  Sensor sensor;
  const Slot slot = key.slot(stack, sensor);
  return std::holds_alternative<Section>(slot) || std::holds_alternative<SensorOptions>(slot);
}

std::string value_of(const Key& key) {
  return key.example.empty() ? fallback(key) : std::string(key.example);
}

// A comment of at most 100 columns, words kept whole.
std::string comment(const std::string& text, const std::string& indent) {
  std::string result, line = indent + "#";
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t end = std::min(text.find(' ', at), text.size());
    if (line.size() + 1 + end - at > 100) {
      result += line + "\n";
      line = indent + "#";
    }
    line += " " + text.substr(at, end - at);
    at = end + 1;
  }
  return result + line + "\n";
}

std::string entry(const Key& key, const std::string& indent, const std::string& value) {
  std::string text =
      comment(std::string(key.help) + (is_section(key) ? "" : " " + details(key)), indent);
  const bool commented_out = key.applies == Applies::control || key.applies == Applies::imu ||
                             key.applies == Applies::inertial;
  text += indent + (commented_out ? "# " : "") + std::string(key.leaf()) + ":";
  return text + (value.empty() ? "" : " " + value) + "\n";
}

std::string indent_of(const Key& key) {
  return std::string(2 * static_cast<std::size_t>(std::ranges::count(key.path, '.')), ' ');
}

std::string options_of(const drivers::Row& row) {
  if (row.options.empty()) return "";
  std::string text = "    options:\n";
  for (const OptionSpec& spec : row.options) {
    text += comment(upper_first(std::string(spec.help)) + ". " + details(spec), "      ");
    const std::string value(spec.fallback);
    const bool quoted = spec.type == OptionType::text || spec.type == OptionType::choice;
    text += "      " + std::string(spec.key) + ": " + (quoted ? "\"" + value + "\"" : value) + "\n";
  }
  return text;
}

std::string port_of(const drivers::Row& row) {
  const auto index = &row - drivers::all().data();
  if (row.default_baud > 0) return "serial:/dev/lidar/" + std::string(row.name);
  return "udp:" + std::to_string(40000 + index);
}

// The sensor that shows every key but those of network ports, and of each driver a shorter one.
std::string full_sensor(const drivers::Row& row) {
  std::string text = "  " + std::string(row.name) + ":\n";
  for (const Key& key : keys()) {
    if (!key.path.starts_with(kSensor) || key.applies == Applies::udp) continue;
    std::string value = value_of(key);
    if (key.leaf() == "driver") value = row.name;
    if (key.leaf() == "port") value = port_of(row);
    if (key.leaf() == "baud") value = std::to_string(row.default_baud);
    if (key.leaf() != "options") text += entry(key, indent_of(key), value);
  }
  return text + comment(std::string(find_key("sensors.*.options")->help), "    ") + options_of(row);
}

std::string network_sensor(const drivers::Row& row) {
  std::string text = "  remote:\n    driver: " + std::string(row.name) + "\n    port: udp:8090\n";
  for (const Key& key : keys()) {
    if (key.applies == Applies::udp) text += entry(key, indent_of(key), value_of(key));
  }
  return text;
}

std::string short_sensor(const drivers::Row& row) {
  std::string text = comment(std::string(row.models), "  ");
  text += "  " + std::string(row.name) + ":\n    driver: " + std::string(row.name) +
          "\n    port: " + port_of(row) + "\n";
  if (row.speaks && row.has_control) {
    text += "    control: tcp:192.168.1.10:" + std::to_string(row.finding.control) + "\n";
  } else if (row.default_baud == 0) {
    text += "    from: 192.168.1.10:" + port_of(row).substr(4) + "\n";
  }
  return text + options_of(row);
}

std::string troff(std::string_view text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '\\')
      escaped += "\\e";
    else if (c == '-')
      escaped += "\\-";
    else if ((c == '.' || c == '\'') && escaped.empty())
      escaped += std::string("\\&") + c;
    else
      escaped += c;
  }
  return escaped;
}

std::string item(std::string_view name, const std::string& text) {
  return ".TP\n.B " + troff(name) + "\n" + troff(text) + "\n";
}

// As a reader of the manual sees it: sensors.NAME.pose.
std::string with_name(std::string_view path) {
  std::string name(path);
  if (const std::size_t star = name.find('*'); star != name.npos) name.replace(star, 1, "NAME");
  return name;
}

constexpr const char* kManualHead = R"(.TH LIDARD.YAML 5 "" "lidard" "File Formats"
.SH NAME
lidard.yaml \- configuration of lidard
.SH SYNOPSIS
.I /etc/lidard/lidard.yaml
.SH DESCRIPTION
A YAML file of at most 1 MiB, without anchors and tags.
Units stand in the key (_ms, _s, _deg); bare lengths are metres.
Unknown keys, wrong types, values out of range, duplicate ports and impossible combinations are
refused before any device is opened.
.B lidarctl check
names each of them with its line and what would be right, and prints the budgets of memory, lines
and latency.
)";

constexpr const char* kManualTail = R"(.SH EXAMPLE
.nf
sensors:
  front:
    driver: ldrobot
    port: serial:/dev/lidar0
.fi
.SH SEE ALSO
.BR lidard (8),
.BR lidarctl (1)
)";

}  // namespace

std::string every_key_yaml() {
  std::string text =
      "# Every key that lidard knows, with what is allowed and the default. Only driver and port\n"
      "# of a sensor must be given. Made from the tables of the program.\n";
  for (const Key& key : keys()) {
    if (key.path.starts_with(kSensor)) continue;
    text += entry(key, indent_of(key), value_of(key));
    if (key.path == "merged") text += "  around:\n";
    if (key.path == "inputs") text += "  odom:\n";
  }
  const auto rows = drivers::all();
  const auto shown = std::ranges::find_if(rows, [](const drivers::Row& row) {
    return row.kind == drivers::Kind::lidar && row.default_baud > 0;
  });
  text += full_sensor(*shown) + network_sensor(*shown);
  for (const drivers::Row& row : rows) {
    if (&row != &*shown) text += short_sensor(row);
  }
  return text;
}

std::string keys_troff() {
  std::string text = kManualHead;
  text += ".SH KEYS\n";
  for (const Key& key : keys()) {
    text += item(with_name(key.path),
                 std::string(key.help) + (is_section(key) ? "" : " " + details(key)));
  }
  text += ".SH DRIVER OPTIONS\n";
  for (const drivers::Row& row : drivers::all()) {
    text += ".SS " + troff(row.name) + "\n" + troff(row.models) + "\n";
    for (const OptionSpec& spec : row.options) {
      text += item(spec.key, upper_first(std::string(spec.help)) + ". " + details(spec));
    }
  }
  text += ".SH COMING FROM CARTOGRAPHER\nIts options, each with the key that does its work:\n";
  for (const CartographerOption& option : cartographer_options()) {
    const std::string key = option.key.empty() ? "" : with_name(option.key) + ". ";
    text += item(option.name, key + std::string(option.words));
  }
  return text + kManualTail;
}

}  // namespace config
