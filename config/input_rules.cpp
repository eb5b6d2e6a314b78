#include "config/input_rules.h"

#include <algorithm>

namespace config {
namespace {

constexpr std::size_t kMaxUnixPath = 107;        // characters of sockaddr_un::sun_path
constexpr std::uint64_t kMaxBytes = 256U << 20;  // of one input

std::string path_of(const Input& input, std::string_view leaf) {
  return "inputs." + input.name + "." + std::string(leaf);
}

void check_socket(Draft& draft) {
  const Stack& c = draft.stack;
  const std::string& path = c.input.unix_path;
  if (c.inputs.empty()) {
    if (draft.given("input") && !draft.given("inputs")) {
      draft.blame("input", "nothing is to come on this socket",
                  "add inputs: {odom: {topic: /odom, schema: ...}}, or leave it out");
    }
    return;
  }
  const std::string key = draft.given("input.unix") ? "input.unix" : "inputs";
  if (path.size() > kMaxUnixPath) {
    draft.blame("input.unix", "the path is too long for a socket",
                "expected at most " + std::to_string(kMaxUnixPath) + " characters");
  }
  if (path == c.stream.unix_path || path == c.capture) {
    draft.blame(key,
                path == c.capture ? "the same path as capture" : "the same path as stream.unix",
                "give each its own path");
  }
}

bool is_taken(const Stack& c, const std::string& name) {
  return name == "lidard" || std::ranges::find(c.sensors, name, &Sensor::name) != c.sensors.end() ||
         std::ranges::find(c.merged, name, &Merged::name) != c.merged.end();
}

// Topics that lidard itself writes: /NAME/points and so on, its own and those of tf.
bool is_own_topic(const Stack& c, const std::string& topic) {
  if (topic == "/diagnostics" || topic == "/tf_static" || topic.starts_with("/lidard/"))
    return true;
  const auto of = [&](const std::string& name) {
    return topic == "/" + name + "/points" || topic == "/" + name + "/scan" ||
           topic == "/" + name + "/imu";
  };
  const auto is_reading = [&](const Sensor& s) {
    const std::string device = "/" + s.name.substr(0, s.name.find('/'));
    return (s.readings.mag && topic == device + "/mag") ||
           (s.readings.pressure && topic == device + "/pressure") ||
           (s.readings.temperature && topic == device + "/temperature");
  };
  const auto is_second = [&](const Sensor& s) { return !is_device(s) && topic == "/" + s.name; };
  return std::ranges::any_of(c.sensors, is_second) || std::ranges::any_of(c.sensors, is_reading) ||
         std::ranges::any_of(c.sensors, of, &Sensor::name) ||
         std::ranges::any_of(c.merged, of, &Merged::name);
}

void check_input(std::size_t i, Draft& draft) {
  const Stack& c = draft.stack;
  const Input& input = c.inputs[i];
  if (is_taken(c, input.name)) {
    draft.blame("inputs." + input.name, "something else is called so", "give it another name");
  }
  if (is_own_topic(c, input.topic)) {
    draft.blame(path_of(input, "topic"), "lidard itself writes " + input.topic,
                "expected another topic");
  }
  for (std::size_t k = 0; k < i; ++k) {
    if (c.inputs[k].topic != input.topic) continue;
    draft.blame(path_of(input, "topic"), "the same topic as inputs." + c.inputs[k].name,
                "give each its own topic");
  }
}

}  // namespace

void check_inputs(Draft& draft) {
  check_socket(draft);
  for (std::size_t i = 0; i < draft.stack.inputs.size(); ++i) check_input(i, draft);
}

void check_input_budgets(const Plan& plan, Draft& draft) {
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const Input& input = draft.stack.inputs[i];
    const InputPlan& p = plan.inputs[i];
    if (input.capacity && p.capacity < p.needed) {
      draft.blame(path_of(input, "capacity"),
                  std::to_string(p.capacity) + " data are less than arrive in the largest max_wait",
                  "expected at least " + std::to_string(p.needed));
    }
    if (p.bytes <= kMaxBytes) continue;
    draft.blame(path_of(input, draft.given(path_of(input, "capacity")) ? "capacity" : "max_bytes"),
                "its messages would take " + std::to_string(p.bytes >> 20) + " MiB",
                "expected at most " + std::to_string(kMaxBytes >> 20) +
                    " MiB: smaller max_bytes, capacity or rate_hz");
  }
}

}  // namespace config
