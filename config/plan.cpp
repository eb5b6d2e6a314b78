#include "config/plan.h"

#include <algorithm>
#include <cmath>

#include "collation/datum.h"
#include "collation/pose.h"
#include "config/derived_plan.h"
#include "hal/capture.h"
#include "hal/event_loop.h"
#include "hal/mcap/records.h"
#include "hal/text.h"

namespace config {
namespace {

using namespace std::chrono_literals;
using collation::Delays;
using drivers::Figures;

constexpr double kRadPerDeg = std::numbers::pi / 180;

constexpr hal::Duration kUsbTimer = 16ms;    // FTDI's default
constexpr hal::Duration kUsbLowTimer = 1ms;  // the least it can be set to
// Figures tell the fastest turn; a pause as short as that is no end of a cloud.
constexpr hal::Duration kShortestTurn = 100ms;
constexpr std::size_t kCloudsInHand = 3;  // being built, just ended, being given out

bool is_imu(const Sensor& s) { return kind_of(s) == drivers::Kind::imu; }
bool is_serial(const Sensor& s) { return s.port->kind == hal::PortSpec::Kind::serial; }
bool sends_whole_turns(const Figures& f) { return f.packets_hz <= f.turns_hz * 1.5; }

hal::Duration delivery(const Sensor& s, const Figures& f) {
  const bool stamped_at_packet_end = is_imu(s) || s.emit.by == Emit::By::chunk ||
                                     (s.emit.by == Emit::By::turn && sends_whole_turns(f));
  if (stamped_at_packet_end || f.packets_hz <= 0) return f.delivery;
  // The last beam of a cloud may be the first of its packet.
  return f.delivery + hal::from_seconds(1 / f.packets_hz);
}

Delays delays_of(const Sensor& s, const Figures& f) {
  Delays delays{.delivery = delivery(s, f)};
  if (s.latency == hal::Latency::batched) delays.batch = hal::EventLoop::kBatchPeriod;
  if (!is_serial(s)) return delays;
  if (f.packets_hz > 0 && s.baud > 0) {
    delays.wire = hal::from_seconds(f.bytes_per_s / f.packets_hz * 10 / s.baud);
  }
  if (s.line != hal::Line::uart) {
    delays.adapter = s.latency == hal::Latency::low ? kUsbLowTimer : kUsbTimer;
  }
  return delays;
}

double rate_of(const Sensor& s, const Figures& f) {
  if (is_imu(s) || s.emit.by == Emit::By::chunk) return f.packets_hz;
  return f.turns_hz * s.emit.subdivisions;
}

std::size_t points_of(const Sensor& s, const Figures& f) {
  if (is_imu(s)) return 0;
  double parts = s.emit.subdivisions;
  if (s.emit.by == Emit::By::chunk && f.turns_hz > 0) parts = f.packets_hz / f.turns_hz;
  const double points = static_cast<double>(f.beams_per_turn) / std::max(parts, 1.0);
  return std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(points)));
}

std::size_t datum_bytes(const Sensor& s, const SensorPlan& p) {
  const std::size_t cloud =
      is_imu(s) ? 0 : collation::cloud_pool_bytes(1, p.points, s.outputs.scan);
  return sizeof(collation::Datum) + cloud;
}

collation::Channel channel_of(const Sensor& s, const SensorPlan& p) {
  std::optional<std::size_t> capacity;
  if (s.capacity) capacity = static_cast<std::size_t>(*s.capacity);
  return {.name = s.name,
          .role = s.role,
          .rate_hz = p.rate_hz,
          .datum_bytes = datum_bytes(s, p),
          .delays = p.delays,
          .max_wait = s.max_wait,
          .capacity = capacity};
}

collation::Channel channel_of(const Input& input) {
  std::optional<std::size_t> capacity;
  if (input.capacity) capacity = static_cast<std::size_t>(*input.capacity);
  return {
      .name = input.name,
      .role = input.role,
      .rate_hz = input.rate_hz,
      .datum_bytes = sizeof(collation::Datum) +
                     collation::message_pool_bytes(1, static_cast<std::size_t>(input.max_bytes)),
      .max_wait = input.max_wait,
      .capacity = capacity};
}

// Those of its output. On the wire a sample takes as long as any packet of the device.
Figures figures_for(const Sensor& s) {
  const Figures f = s.driver->figures(s.options, s.baud);
  if (is_device(s)) return f;
  Figures samples;
  samples.packets_hz = f.imu_hz;
  samples.bytes_per_s = f.bytes_per_s * f.imu_hz / (f.packets_hz + f.imu_hz);
  return samples;
}

SensorPlan figures_of(const Sensor& s) {
  const Figures f = figures_for(s);
  SensorPlan p;
  p.delays = delays_of(s, f);
  p.rate_hz = rate_of(s, f);
  if (is_imu(s) && is_device(s)) p.asked_hz = f.packets_hz;
  p.points = points_of(s, f);
  p.whole_turns = !is_imu(s) && sends_whole_turns(f);
  if (is_device(s) && is_serial(s) && s.baud > 0) p.line_load = f.bytes_per_s / (s.baud / 10.0);
  return p;
}

// Everything that depends on the other sensors of the same order.
void settle(const Sensor& s, std::span<const collation::Channel> order, std::size_t i,
            SensorPlan& p) {
  const hal::Duration largest = collation::largest_max_wait(order);
  p.max_wait = collation::max_wait(order[i]);
  p.capacity = collation::capacity(order[i], largest);
  p.needed = static_cast<std::size_t>(std::ceil(p.rate_hz * hal::to_seconds(largest)));
  p.worst_age = collation::worst_age(order, i).age;
  p.latency = collation::describe(order, i);
  p.bytes = std::uint64_t{p.capacity} * sizeof(collation::Datum);
  if (is_imu(s)) return;
  p.clouds = p.capacity + kCloudsInHand;
  p.bytes += std::uint64_t{p.clouds} * collation::cloud_pool_bytes(1, p.points, s.outputs.scan);
  p.bytes += collation::cloud_builder_bytes(cloud_options(s, p), p.points);
}

void settle(const Input& input, std::span<const collation::Channel> order, std::size_t i,
            InputPlan& p) {
  const hal::Duration largest = collation::largest_max_wait(order);
  p.max_wait = input.max_wait;
  p.capacity = collation::capacity(order[i], largest);
  p.needed = static_cast<std::size_t>(std::ceil(input.rate_hz * hal::to_seconds(largest)));
  p.worst_age = collation::worst_age(order, i).age;
  p.latency = collation::describe(order, i);
  p.messages = p.capacity + 1;  // the one that comes
  p.bytes = std::uint64_t{p.capacity} * sizeof(collation::Datum) +
            collation::message_pool_bytes(p.messages, static_cast<std::size_t>(input.max_bytes));
}

// Calls visit(order, index) for each sensor and then each input: the channels that are ordered
// together with it, and where it is among them.
template <class Visit>
void each_order(const Stack& stack, const Plan& plan, Visit visit) {
  struct Member {
    collation::Channel channel;
    std::string_view trajectory;
  };
  std::vector<Member> members;
  for (std::size_t i = 0; i < stack.sensors.size(); ++i) {
    members.push_back({channel_of(stack.sensors[i], plan.sensors[i]), stack.sensors[i].trajectory});
  }
  for (const Input& input : stack.inputs) members.push_back({channel_of(input), input.trajectory});
  for (std::size_t i = 0; i < members.size(); ++i) {
    std::vector<collation::Channel> order;
    std::size_t at = 0;
    for (std::size_t k = 0; k < members.size(); ++k) {
      if (k == i) at = order.size();
      if (!stack.collation.by_trajectory || members[k].trajectory == members[i].trajectory) {
        order.push_back(members[k].channel);
      }
    }
    visit(i, order, at);
  }
}

// A message's head has 22 bytes; a schema has two names besides its text.
std::size_t longest_input_record(const Stack& stack) {
  std::size_t longest = kSchemaText + 512;
  for (const Input& input : stack.inputs) {
    longest = std::max(longest, static_cast<std::size_t>(input.max_bytes) + 22);
  }
  return longest;
}

// Of each sender: the record that is not whole yet, and the schemas that he declared. Of each
// input: the schema that it was declared with, here and for the clients of the stream.
std::uint64_t input_bytes(const Stack& stack, std::size_t record) {
  if (stack.inputs.empty()) return 0;
  const std::uint64_t schemas = std::uint64_t{stack.inputs.size()} * kSchemaText;
  const auto clients = static_cast<std::uint64_t>(stack.input.clients);
  return clients * (record + hal::mcap::kRecordHead + schemas) + 2 * schemas;
}

// A PointCloud2 has 20 bytes per point, a merged one 24, a DiagnosticArray at most 6 KiB per
// sensor and 2 KiB per merged cloud or input.
std::size_t longest_message(const Stack& stack, const Plan& plan) {
  constexpr std::size_t kHead = 2048;
  std::size_t longest =
      6144 * plan.sensors.size() + 2048 * (plan.merged.size() + plan.inputs.size());
  for (const SensorPlan& p : plan.sensors) longest = std::max(longest, 20 * p.points);
  for (const MergedPlan& p : plan.merged) longest = std::max(longest, 24 * p.points);
  for (const Input& input : stack.inputs) {
    longest = std::max(longest, static_cast<std::size_t>(input.max_bytes));
  }
  return kHead + longest;
}

// What a stream takes: its clients' buffers and, for each, the record being sent.
std::uint64_t stream_bytes(std::size_t clients, std::size_t buffer, std::size_t max_message) {
  return std::uint64_t{clients} * (buffer + hal::mcap::kMessageHead + max_message);
}

// The read buffer and the place where messages are encoded; both again for the raw capture, which
// is a stream of its own with one client.
std::uint64_t other_bytes(const Stack& stack, std::size_t max_message) {
  const std::uint64_t bytes = hal::EventLoop::kReadBuffer + max_message;
  if (stack.capture.empty()) return bytes;
  const std::size_t record = hal::kRawHeader + hal::EventLoop::kReadBuffer;
  return bytes + record + stream_bytes(1, kCaptureBuffer, record);
}

Eigen::Vector3f vector_of(const std::array<double, 3>& v) {
  return Eigen::Vector3d(v[0], v[1], v[2]).cast<float>();
}

collation::FilterOptions filter_options(const Filters& f) {
  return {.box = {.min = vector_of(f.box_min), .max = vector_of(f.box_max)},
          .shadow = {.min_angle = static_cast<float>(f.shadow_min_angle_deg * kRadPerDeg),
                     .window = f.shadow_window},
          .speckle = {.distance = static_cast<float>(f.speckle_distance),
                      .window = f.speckle_window,
                      .neighbours = f.speckle_neighbours},
          .median = {.window = f.median_window},
          .decimation = {.every = f.decimate},
          .voxel = static_cast<float>(f.voxel)};
}

}  // namespace

collation::CloudOptions cloud_options(const Sensor& sensor, const SensorPlan& plan) {
  const drivers::Figures figures = sensor.driver->figures(sensor.options, sensor.baud);
  const Eigen::Isometry3f pose = collation::pose_of(sensor.pose.xyz, sensor.pose.rpy).cast<float>();
  collation::CloudOptions options;
  options.filters = filter_options(sensor.filters);
  if (sensor.frame == Frame::tracking) {
    options.tracking_from_sensor = pose;
  } else {
    options.filters.box.tracking_from_points = pose;
  }
  options.echo = sensor.echo;
  options.min_range = static_cast<float>(sensor.min_range);
  options.max_range = static_cast<float>(sensor.max_range);
  options.windows = sensor.filters.angles;
  options.min_intensity = static_cast<float>(sensor.filters.min_intensity);
  options.emit = sensor.emit.by;
  options.subdivisions = sensor.emit.subdivisions;
  options.turn = std::max(kShortestTurn, hal::from_seconds(1 / figures.turns_hz));
  options.slice_is_turn = plan.whole_turns;
  options.beams_per_turn = figures.beams_per_turn;
  return options;
}

bool has_line_rate(const Sensor& s) {
  return is_serial(s) && !s.port->path.starts_with("/dev/ttyACM");
}

Plan plan(const Stack& stack) {
  Plan result;
  for (const Sensor& s : stack.sensors) result.sensors.push_back(figures_of(s));
  result.inputs.resize(stack.inputs.size());
  const std::size_t sensors = stack.sensors.size();
  each_order(stack, result,
             [&](std::size_t i, std::span<const collation::Channel> order, std::size_t at) {
               if (i < sensors) {
                 settle(stack.sensors[i], order, at, result.sensors[i]);
               } else {
                 settle(stack.inputs[i - sensors], order, at, result.inputs[i - sensors]);
               }
             });
  plan_derived(stack, result);
  for (const SensorPlan& p : result.sensors) result.bytes += p.bytes;
  for (const InputPlan& p : result.inputs) result.bytes += p.bytes;
  result.input_record = longest_input_record(stack);
  result.input_bytes = input_bytes(stack, result.input_record);
  for (const MergedPlan& p : result.merged) result.bytes += p.bytes;
  result.max_message = longest_message(stack, result);
  result.client_bytes = stream_bytes(static_cast<std::size_t>(stack.stream.clients),
                                     static_cast<std::size_t>(stack.stream.client_buffer_kib) << 10,
                                     result.max_message);
  result.other_bytes = other_bytes(stack, result.max_message);
  result.bytes += result.client_bytes + result.input_bytes + result.other_bytes;
  return result;
}

std::string report(const Stack& stack, const Plan& plan) {
  std::string text;
  const auto line = [&](const hal::Text<256>& part) { text.append(part.view()).append("\n"); };
  const auto kib = [](std::uint64_t bytes) { return static_cast<unsigned long>(bytes / 1024); };
  for (std::size_t i = 0; i < plan.sensors.size(); ++i) {
    const SensorPlan& p = plan.sensors[i];
    line(hal::Text<256>::of(
        "memory: %s %lu KiB: queue of %lu, %lu clouds of %lu points", stack.sensors[i].name.c_str(),
        kib(p.bytes), static_cast<unsigned long>(p.capacity), static_cast<unsigned long>(p.clouds),
        static_cast<unsigned long>(p.points)));
  }
  for (std::size_t i = 0; i < plan.merged.size(); ++i) {
    line(hal::Text<256>::of("memory: %s %lu KiB: merged clouds of %lu points",
                            stack.merged[i].name.c_str(), kib(plan.merged[i].bytes),
                            static_cast<unsigned long>(plan.merged[i].points)));
  }
  for (std::size_t i = 0; i < plan.inputs.size(); ++i) {
    const InputPlan& p = plan.inputs[i];
    line(hal::Text<256>::of("memory: %s %lu KiB: queue of %lu, %lu messages of %d bytes",
                            stack.inputs[i].name.c_str(), kib(p.bytes),
                            static_cast<unsigned long>(p.capacity),
                            static_cast<unsigned long>(p.messages), stack.inputs[i].max_bytes));
  }
  if (!stack.inputs.empty()) {
    line(hal::Text<256>::of("memory: input socket %lu KiB: %d senders with records of %lu KiB",
                            kib(plan.input_bytes), stack.input.clients, kib(plan.input_record)));
  }
  line(hal::Text<256>::of("memory: stream clients %lu KiB: %d with buffers of %d KiB",
                          kib(plan.client_bytes), stack.stream.clients,
                          stack.stream.client_buffer_kib));
  line(hal::Text<256>::of("memory: reading, encoding%s %lu KiB",
                          stack.capture.empty() ? "" : ", raw capture", kib(plan.other_bytes)));
  line(hal::Text<256>::of("memory: %lu KiB in all", kib(plan.bytes)));
  for (std::size_t i = 0; i < plan.sensors.size(); ++i) {
    if (plan.sensors[i].line_load <= 0) continue;
    line(hal::Text<256>::of("line: %s %.0f %% of %d baud%s", stack.sensors[i].name.c_str(),
                            plan.sensors[i].line_load * 100, stack.sensors[i].baud,
                            has_line_rate(stack.sensors[i])
                                ? ""
                                : ", which does not limit a USB device (/dev/ttyACM*)"));
  }
  for (const SensorPlan& p : plan.sensors) text += "latency: " + p.latency + "\n";
  for (const InputPlan& p : plan.inputs) text += "latency: " + p.latency + "\n";
  for (const MergedPlan& p : plan.merged) text += "latency: " + p.latency + "\n";
  return text;
}

}  // namespace config
