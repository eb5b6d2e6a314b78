#include "config/reader.h"

#include "config/values.h"
#include "config/wording.h"

namespace config {
namespace {

constexpr std::size_t kMaxSensors = 64, kMaxInputs = 32;

std::vector<std::string_view> children_of(const std::string& pattern) {
  std::vector<std::string_view> names;
  for (const Key& key : keys()) {
    const bool inside = pattern.empty() || key.path.starts_with(pattern + ".");
    const std::string_view name = inside ? key.path.substr(pattern.size() + !pattern.empty()) : "";
    if (!name.empty() && name.find('.') == name.npos) names.push_back(name);
  }
  return names;
}

std::string below(const std::string& path, std::string_view name) {
  return path.empty() ? std::string(name) : path + "." + std::string(name);
}

std::string remedy_for_unknown(std::string_view name, const std::vector<std::string_view>& known) {
  const std::string_view near = drivers::nearest(name, known);
  if (!near.empty()) return "did you mean '" + std::string(near) + "'?";
  return known.empty() ? "leave it out" : "the keys here are " + joined(known);
}

class Reader {
 public:
  explicit Reader(Draft& draft) : draft_(draft) {}

  void read_map(const Node& map, const std::string& path, const std::string& pattern,
                Sensor& sensor) {
    each_entry(map, path, [&](const std::string& name, Mark at, const Node& value) {
      const std::string key_path = below(path, name);
      const Key* const key = name == "*" ? nullptr : find_key(below(pattern, name));
      if (!key) {
        return draft_.blame(at, key_path, "unknown key",
                            remedy_for_unknown(name, children_of(pattern)));
      }
      read_key(*key, key_path, value, sensor);
    });
  }

 private:
  void read_key(const Key& key, const std::string& path, const Node& value, Sensor& sensor) {
    if (const auto problem = assign(key, value, draft_.stack, sensor)) {
      return draft_.blame(path, problem->wrong, problem->remedy);
    }
    const Slot slot = key.slot(draft_.stack, sensor);
    if (key.path == "sensors") return read_sensors(value);
    if (key.path == "merged") return read_merged(value, sensor);
    if (key.path == "inputs") return read_inputs(value, sensor);
    if (std::holds_alternative<Section>(slot)) {
      read_map(value, path, std::string(key.path), sensor);
    }
    if (std::holds_alternative<SensorOptions>(slot)) options_ = &value;
  }

  void read_sensors(const Node& map) {
    each_named(map, "sensors", "a sensor", "driver and port",
               [&](const std::string& name, const std::string& path, const Node& value) {
                 read_sensor(name, path, value);
               });
    if (draft_.stack.sensors.size() > kMaxSensors) {
      draft_.blame("sensors", std::to_string(draft_.stack.sensors.size()) + " sensors are too many",
                   "at most " + std::to_string(kMaxSensors));
    }
  }

  void read_inputs(const Node& map, Sensor& nobody) {
    each_named(map, "inputs", "an input", "schema",
               [&](const std::string& name, const std::string& path, const Node& value) {
                 Input& input = draft_.stack.inputs.emplace_back();
                 input.name = name;
                 input.topic = "/" + name;
                 read_map(value, path, "inputs.*", nobody);
                 if (!draft_.given(path + ".schema")) {
                   draft_.blame(path, "no schema is given",
                                "add schema: " + expected(*find_key("inputs.*.schema")));
                 }
               });
    if (draft_.stack.inputs.size() > kMaxInputs) {
      draft_.blame("inputs", std::to_string(draft_.stack.inputs.size()) + " inputs are too many",
                   "at most " + std::to_string(kMaxInputs));
    }
  }

  void read_merged(const Node& map, Sensor& nobody) {
    each_named(map, "merged", "a merged cloud", "sensors",
               [&](const std::string& name, const std::string& path, const Node& value) {
                 draft_.stack.merged.emplace_back().name = name;
                 read_map(value, path, "merged.*", nobody);
                 if (!draft_.given(path + ".sensors")) {
                   draft_.blame(path, "no sensors are given",
                                "add sensors: " + expected(*find_key("merged.*.sensors")));
                 }
               });
  }

  void read_sensor(const std::string& name, const std::string& path, const Node& value) {
    Sensor sensor;
    sensor.name = name;
    options_ = nullptr;
    read_map(value, path, "sensors.*", sensor);
    if (sensor.driver) {
      sensor.options = drivers::Options(sensor.driver->options);
      if (options_) read_options(*options_, path + ".options", sensor);
    } else if (!draft_.given(path + ".driver")) {
      draft_.blame(path, "no driver is given",
                   "add driver: " + expected(*find_key("sensors.*.driver")));
    }
    if (!draft_.given(path + ".port")) {
      draft_.blame(path, "no port is given", "add port: " + expected(*find_key("sensors.*.port")));
    }
    draft_.stack.sensors.push_back(std::move(sensor));
  }

  void read_options(const Node& map, const std::string& path, Sensor& sensor) {
    const std::span<const drivers::OptionSpec> specs = sensor.driver->options;
    each_entry(map, path, [&](const std::string& name, Mark at, const Node& value) {
      const auto spec = std::ranges::find(specs, name, &drivers::OptionSpec::key);
      if (spec == specs.end()) {
        std::vector<std::string_view> known;
        for (const drivers::OptionSpec& s : specs) known.push_back(s.key);
        return draft_.blame(at, below(path, name),
                            "unknown option of " + std::string(sensor.driver->name),
                            remedy_for_unknown(name, known));
      }
      if (const auto problem = assign(sensor.options, *spec, value)) {
        draft_.blame(below(path, name), problem->wrong, problem->remedy);
      }
    });
  }

  // Calls visit(name, path, value) for each map that has a name of its own.
  template <class Visit>
  void each_named(const Node& map, const std::string& around, const std::string& what,
                  const std::string& needed, Visit visit) {
    each_entry(map, around, [&](const std::string& name, Mark at, const Node& value) {
      const std::string path = below(around, name);
      draft_.places[path] = at;
      if (!valid_name(name)) {
        draft_.blame(at, path, what + " cannot be called that",
                     "expected a name of at most 32 characters, [a-z][a-z0-9_]*");
      }
      if (value.kind != Node::Kind::map) {
        return draft_.blame(path, description(value) + " is not valid",
                            "expected a map with at least " + needed);
      }
      visit(name, path, value);
    });
  }

  // Calls visit(name, place, value) for each entry that has a name of its own.
  template <class Visit>
  void each_entry(const Node& map, const std::string& path, Visit visit) {
    for (std::size_t i = 0; i + 1 < map.items.size(); i += 2) {
      const Node& key = map.items[i];
      if (key.kind != Node::Kind::scalar) {
        draft_.blame(key.at, below(path, "?"), "a key cannot be " + description(key),
                     "expected a plain word");
        continue;
      }
      const std::string full = below(path, key.text);
      if (const auto first = draft_.places.find(full); first != draft_.places.end()) {
        draft_.blame(key.at, full,
                     "given again, first in line " + std::to_string(first->second.line),
                     "keep one of them");
        continue;
      }
      const Node& value = map.items[i + 1];
      draft_.places[full] = value.kind == Node::Kind::empty ? key.at : value.at;
      visit(key.text, key.at, value);
    }
  }

  Draft& draft_;
  const Node* options_ = nullptr;  // of the sensor that is being read
};

}  // namespace

void Draft::blame(const std::string& key, std::string wrong, std::string remedy) {
  std::string around = key;
  while (!places.contains(around) && around.rfind('.') != around.npos) {
    around.resize(around.rfind('.'));
  }
  const auto found = places.find(around);
  blame(found == places.end() ? Mark{1, 1} : found->second, key, std::move(wrong),
        std::move(remedy));
}

void Draft::blame(Mark at, const std::string& key, std::string wrong, std::string remedy) {
  std::string shown = key.substr(0, 120);
  for (char& c : shown) {
    if (c < ' ' || c == 0x7f) c = '?';
  }
  faults.push_back({file, at, std::move(shown), std::move(wrong), std::move(remedy)});
}

void read(const Node& root, Draft& draft) {
  Sensor nobody;
  if (root.kind != Node::Kind::map) {
    return draft.blame(root.at.line > 0 ? root.at : Mark{1, 1}, "yaml",
                       description(root) + " is not a configuration",
                       "expected a map with at least sensors");
  }
  Reader(draft).read_map(root, "", "", nobody);
}

}  // namespace config
