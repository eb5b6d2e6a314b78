#include "config/rules.h"

#include <cmath>
#include <filesystem>

#include "config/derived_rules.h"
#include "config/input_rules.h"
#include "config/keys.h"
#include "config/plan.h"
#include "hal/text.h"

namespace config {
namespace {

using Kind = hal::PortSpec::Kind;

// What of a line may be used. The lines of lidars were made for them (an STL-27L fills 92 % of its
// own); what inertial sensors send is chosen, and grows by what they are asked for.
constexpr double most_of_line(drivers::Kind kind) {
  switch (kind) {
    case drivers::Kind::lidar:
      return 0.95;
    case drivers::Kind::imu:
      return 0.9;
  }
  return 0;
}
constexpr std::uint64_t kMaxSensorBytes = 256U << 20;  // bytes
constexpr std::uint64_t kMaxBytes = 1U << 30;
constexpr std::size_t kMaxUnixPath = 107;  // characters of sockaddr_un::sun_path
constexpr const char* kLeaveOut = "leave it out";

std::string path_of(const Sensor& sensor, std::string_view leaf) {
  return "sensors." + sensor.name + "." + std::string(leaf);
}

bool is(const std::optional<hal::PortSpec>& port, Kind kind) { return port && port->kind == kind; }

bool any_port_is(const Sensor& s, Kind kind) {
  return is(s.port, kind) || is(s.control, kind) || is(s.imu, kind);
}

bool has_second_output(const Sensor& s) { return s.driver->figures(s.options, s.baud).imu_hz > 0; }

bool measures_motion(const Sensor& s) {
  return kind_of(s) == drivers::Kind::imu || has_second_output(s);
}

bool applies(Applies to, const Sensor& s) {
  switch (to) {
    case Applies::lidar:
      return !s.driver || kind_of(s) == drivers::Kind::lidar;
    case Applies::serial:
      return !s.port || any_port_is(s, Kind::serial);
    case Applies::udp:
      return !s.port || any_port_is(s, Kind::udp);
    case Applies::control:
      return !s.driver || s.driver->has_control;
    case Applies::imu:
      return !s.driver || s.driver->has_imu;
    case Applies::inertial:
      return !s.driver || measures_motion(s);
    case Applies::any:
      return true;
  }
  return true;
}

const char* audience(Applies to) {
  switch (to) {
    case Applies::lidar:
      return "makes sense for lidars only";
    case Applies::serial:
      return "makes sense for serial ports only";
    case Applies::udp:
      return "makes sense for udp ports only";
    case Applies::control:
      return "makes sense for devices with a second port for commands only";
    case Applies::imu:
      return "makes sense for devices with a second port for inertial data only";
    case Applies::inertial:
      return "makes sense for inertial sensors only";
    case Applies::any:
      break;
  }
  return "";
}

void check_applicable(const Sensor& s, Draft& draft) {
  for (const Key& key : keys()) {
    if (!key.path.starts_with("sensors.*.") || applies(key.applies, s)) continue;
    const std::string path = path_of(s, key.path.substr(10));
    if (draft.given(path)) draft.blame(path, audience(key.applies), kLeaveOut);
  }
}

void check_port(const Sensor& s, Draft& draft) {
  if (!s.driver || !is(s.port, Kind::serial) || s.driver->default_baud > 0) return;
  draft.blame(path_of(s, "port"), std::string(s.driver->name) + " devices have no serial line",
              "expected udp:[BIND:]PORT or tcp:HOST:PORT");
}

void check_clock(const Sensor& s, Draft& draft) {
  const bool utc = s.stamps.clock == drivers::StampOptions::Clock::device_utc;
  if (!s.driver || !utc || s.driver->sends_utc) return;
  draft.blame(path_of(s, "clock"), std::string(s.driver->name) + " devices send no UTC",
              "leave it out, or give mapped");
}

// Commands go to `from`; without one the device could neither be stopped nor started.
void check_destination(const Sensor& s, Draft& draft) {
  if (!s.driver || !s.driver->speaks || s.driver->has_control || !is(s.port, Kind::udp)) return;
  if (s.from && s.from->port != 0) return;
  const std::string path = path_of(s, "from");
  if (draft.given(path) && !s.from) return;  // it is blamed for what it is
  draft.blame(draft.given(path) ? path : path_of(s, "port"),
              std::string(s.driver->name) + " devices need commands, and these have no destination",
              "expected from: HOST:PORT, the device's own address");
}

// Devices that are spoken to at another port than they send to.
void check_control(const Sensor& s, Draft& draft) {
  if (!s.driver || !s.driver->speaks || !s.driver->has_control || !s.port || s.control) return;
  if (draft.given(path_of(s, "control"))) return;  // it is blamed for what it is
  const std::uint16_t usual = s.driver->finding.control;
  draft.blame(path_of(s, "port"),
              std::string(s.driver->name) +
                  " devices need commands at a second port, and none is "
                  "given",
              "expected control: tcp:HOST:" + std::to_string(usual) + " beside it");
}

// Names that topics or frames of lidard itself have.
void check_name(const Sensor& s, Draft& draft) {
  const std::string path = "sensors." + s.name;
  if (s.name == "lidard") {
    draft.blame(path, "the topics of /lidard are the daemon's own", "give it another name");
  }
  if (s.name == draft.stack.frame) {
    draft.blame(path, "the tracking frame is called so", "give the sensor or `frame` another name");
  }
}

void check_ranges(const Sensor& s, Draft& draft) {
  if (s.min_range < s.max_range) return;
  const bool blame_min = draft.given(path_of(s, "min_range"));
  draft.blame(path_of(s, blame_min ? "min_range" : "max_range"),
              "min_range is not less than max_range", "expected min_range below max_range");
}

// Only what was given is blamed, and what is off is not looked at.
void check_filters(const Sensor& s, Draft& draft) {
  const Filters& f = s.filters;
  const auto blame = [&](const char* leaf, const char* wrong, const std::string& remedy) {
    draft.blame(path_of(s, std::string("filters.") + leaf), wrong, remedy);
  };
  for (std::size_t i = 0; i < 3 && f.box_min != f.box_max; ++i) {
    if (f.box_min[i] < f.box_max[i]) continue;
    blame(draft.given(path_of(s, "filters.box.max")) ? "box.max" : "box.min", "the box is empty",
          "expected every number of max above that of min");
    break;
  }
  if (f.median_window % 2 == 0) {
    blame("median_window", "an even number has no middle", "expected an odd number of beams");
  }
  if (f.speckle_distance > 0 && f.speckle_neighbours > 2 * f.speckle_window) {
    blame(draft.given(path_of(s, "filters.speckle.neighbours")) ? "speckle.neighbours"
                                                                : "speckle.window",
          "more neighbours than there are beams around a return",
          "expected at most " + std::to_string(2 * f.speckle_window) +
              " neighbours, or a wider window");
  }
}

// How a port is known to the system: two sensors with the same one cannot work.
std::string identity(const hal::PortSpec& spec) {
  if (spec.kind != Kind::serial) return hal::to_string(spec);
  std::error_code ignored;
  const auto real = std::filesystem::weakly_canonical(spec.path, ignored);
  return "serial:" + (real.empty() ? spec.path : real.string());
}

bool any_address(const hal::PortSpec& spec) { return spec.host.empty() || spec.host == "0.0.0.0"; }

struct Use {
  const hal::PortSpec* spec;
  std::string from;  // the accepted sender; empty: anybody
  std::string path;
};

// Devices may send to one UDP port when they are told apart by their addresses.
bool collide(const Use& one, const Use& other) {
  const hal::PortSpec &a = *one.spec, &b = *other.spec;
  if (a.kind != b.kind) return false;
  if (a.kind != Kind::udp) return identity(a) == identity(b);
  if (a.port != b.port || a.port == 0) return false;
  const bool same = a.host == b.host || (any_address(a) && any_address(b));
  const bool apart = !one.from.empty() && !other.from.empty() && one.from != other.from;
  return same ? !apart : any_address(a) || any_address(b);
}

void check_duplicate_ports(Draft& draft) {
  std::vector<Use> uses;
  for (const Sensor& s : draft.stack.sensors) {
    if (!is_device(s)) continue;
    const auto use = [&](const std::optional<hal::PortSpec>& port, const char* leaf) {
      if (!port) return;
      const Use mine{&*port, accepted_sender(s), path_of(s, leaf)};
      const auto other =
          std::ranges::find_if(uses, [&](const Use& earlier) { return collide(earlier, mine); });
      if (other != uses.end()) {
        draft.blame(mine.path, "the same port as " + other->path,
                    port->kind == Kind::udp && !other->path.starts_with(path_of(s, ""))
                        ? "give each its own port, or both their own from"
                        : "give each its own port");
      }
      uses.push_back(mine);
    };
    use(s.port, "port");
    use(s.control, "control");
    use(s.imu, "imu");
  }
}

void check_line(const Sensor& s, const SensorPlan& p, Draft& draft) {
  const double most = most_of_line(kind_of(s));
  if (p.line_load <= most || !has_line_rate(s)) return;
  const bool given = draft.given(path_of(s, "baud"));
  const auto wrong = hal::Text<96>::of("%d baud carry %.0f bytes/s and the device sends %.0f",
                                       s.baud, s.baud / 10.0, p.line_load * s.baud / 10);
  std::string remedy(
      hal::Text<160>::of(
          "expected at least %.0f baud (%.0f %% of the line), or options that make it send less",
          std::ceil(p.line_load * s.baud / most), 100 * most)
          .view());
  if (kind_of(s) == drivers::Kind::imu) {
    const double hz = s.driver->figures(s.options, s.baud).packets_hz;
    remedy += hal::Text<96>::of(": with these at most %.0f of its %.0f packets/s fit",
                                std::floor(hz * most / p.line_load), hz)
                  .view();
  }
  draft.blame(path_of(s, given ? "baud" : "port"), std::string(wrong.view()), std::move(remedy));
}

void check_capacity(const Sensor& s, const SensorPlan& p, Draft& draft) {
  if (s.capacity && p.capacity < p.needed) {
    draft.blame(path_of(s, "capacity"),
                std::to_string(p.capacity) + " data are less than arrive in the largest max_wait",
                "expected at least " + std::to_string(p.needed));
  }
  if (p.bytes <= kMaxSensorBytes) return;
  const bool given = draft.given(path_of(s, "capacity"));
  draft.blame(path_of(s, given ? "capacity" : "max_wait_ms"),
              "its queue and clouds would take " + std::to_string(p.bytes >> 20) + " MiB",
              "expected at most " + std::to_string(kMaxSensorBytes >> 20) +
                  " MiB: a smaller capacity or max_wait_ms");
}

void check_budgets(Draft& draft) {
  const auto incomplete = [](const Sensor& s) { return !s.driver || !s.port; };
  if (std::ranges::any_of(draft.stack.sensors, incomplete)) return;
  const Plan budget = plan(draft.stack);
  for (std::size_t i = 0; i < budget.sensors.size(); ++i) {
    check_line(draft.stack.sensors[i], budget.sensors[i], draft);
    check_capacity(draft.stack.sensors[i], budget.sensors[i], draft);
  }
  check_input_budgets(budget, draft);
  if (budget.bytes > kMaxBytes) {
    draft.blame(budget.client_bytes > kMaxBytes / 2 ? "stream" : "sensors",
                "all of it would take " + std::to_string(budget.bytes >> 20) + " MiB of memory",
                "expected at most " + std::to_string(kMaxBytes >> 20) +
                    " MiB: fewer clients or sensors, smaller buffers or capacities");
  }
  const std::size_t buffer = static_cast<std::size_t>(draft.stack.stream.client_buffer_kib) << 10;
  if (buffer < 2 * budget.max_message) {
    draft.blame(
        "stream.client_buffer_kib",
        "a message may be as long as " + std::to_string(budget.max_message) + " bytes",
        "expected room for two: at least " + std::to_string((2 * budget.max_message >> 10) + 1));
  }
}

// A device with a second output is two sensors from here on. What was given for the device holds
// for both, but the length of the queue.
void add_second_outputs(Draft& draft) {
  std::vector<Sensor> all;
  for (Sensor& s : draft.stack.sensors) {
    all.push_back(std::move(s));
    const Sensor& device = all.back();
    if (!device.driver || !device.port) continue;
    if (has_second_output(device)) {
      Sensor imu = device;
      imu.name += "/imu";
      imu.output = drivers::kImuOutput;
      if (device.imu) imu.port = device.imu;
      imu.control.reset();
      imu.imu.reset();
      imu.capacity.reset();
      imu.deskew.clear();
      all.push_back(std::move(imu));
    } else if (device.imu) {
      draft.blame(path_of(device, "imu"), "with these options it sends no inertial data",
                  "leave it out, or see the driver's options");
    }
  }
  draft.stack.sensors = std::move(all);
}

void check_outputs(Draft& draft) {
  const Stack& c = draft.stack;
  if (c.stream.unix_path.size() > kMaxUnixPath) {
    draft.blame("stream.unix", "the path is too long for a socket",
                "expected at most " + std::to_string(kMaxUnixPath) + " characters");
  }
  if (!c.capture.empty() && c.capture == c.stream.unix_path) {
    draft.blame("capture", "the same path as stream.unix", "give each its own path");
  }
}

}  // namespace

void check(Draft& draft) {
  if (draft.stack.sensors.empty() && draft.faults.empty()) {
    draft.blame("sensors", "no sensor is configured",
                "add at least one: sensors: {front: {driver: ..., port: ...}}");
  }
  for (Sensor& s : draft.stack.sensors) {
    if (s.baud == 0 && s.driver) s.baud = s.driver->default_baud;
    if (s.port && !is(s.port, Kind::serial)) s.baud = 0;
    check_applicable(s, draft);
    check_port(s, draft);
    check_clock(s, draft);
    check_destination(s, draft);
    check_control(s, draft);
    check_control(s, draft);
    check_ranges(s, draft);
    check_filters(s, draft);
    check_name(s, draft);
  }
  add_second_outputs(draft);
  check_outputs(draft);
  check_duplicate_ports(draft);
  check_derived(draft);
  check_inputs(draft);
  check_budgets(draft);
}

}  // namespace config
