#include "app/diagnostics.h"

#include <algorithm>
#include <cinttypes>
#include <limits>

#include "app/version.h"
#include "drivers/diagnosis.h"

namespace app {
namespace {

struct Count {
  const char* key;
  std::uint64_t value;
};

void put(DiagnosticWriter& out, const char* key, std::int64_t value) {
  out.value(key, hal::Text<24>::of("%" PRId64, value).view());
}

void put(DiagnosticWriter& out, std::span<const Count> counts) {
  for (const Count& c : counts) out.value(c.key, hal::Text<24>::of("%" PRIu64, c.value).view());
}

Level level_of(const config::Sensor& sensor, const drivers::Health& health,
               OrderWatch::Kind order) {
  const bool streams = health.state == drivers::State::streaming;
  if (streams && order == OrderWatch::Kind::fine) {
    return health.cause == drivers::Cause::none ? Level::ok : Level::warn;
  }
  const bool failed =
      streams ? order == OrderWatch::Kind::stall
              : health.state == drivers::State::silent || health.state == drivers::State::backoff;
  return failed && sensor.role == config::Role::required ? Level::error : Level::warn;
}

void put_port(DiagnosticWriter& out, const hal::PortStats& port) {
  const Count counts[] = {{"wire.rejected_datagrams", port.rejected_datagrams},
                          {"wire.empty_datagrams", port.empty_datagrams},
                          {"wire.lost_datagrams", port.lost_datagrams},
                          {"wire.replaced_stamps", port.replaced_stamps}};
  put(out, counts);
}

void put_wire(DiagnosticWriter& out, const drivers::Health& h) {
  const Count counts[] = {
      {"wire.bytes", h.framing.bytes},
      {"wire.frame_bytes", h.framing.frame_bytes},
      {"wire.garbage_bytes", h.framing.garbage_bytes},
      {"wire.pending", h.pending},
      {"wire.rejected", h.framing.rejected},
      {"driver.frames", h.framing.frames},
      {"driver.replies", h.replies},
      {"driver.silent_frames", h.silent_frames},
      {"driver.undecodable", h.undecodable},
      {"driver.stale", h.stale},
      {"driver.withheld", h.withheld},
      {"driver.stuck", h.stuck},
      {"driver.unwanted", h.unwanted},
      {"driver.packets", h.packets},
      {"driver.imu_packets", h.imu_packets},
      {"driver.lost", h.lost},
      {"driver.lost_parts", h.lost_parts},
      {"driver.extra_packets", h.extra_packets},
      {"driver.faults", h.faults},
      {"driver.resets", h.resets},
      {"driver.device_faults", h.device_faults},
  };
  put(out, counts);
}

void put_clouds(DiagnosticWriter& out, const collation::CloudStats& c) {
  const Count counts[] = {
      {"cloud.beams", c.beams},
      {"cloud.points", c.points},
      {"cloud.no_return", c.no_return},
      {"cloud.out_of_range", c.out_of_range},
      {"cloud.out_of_angle", c.out_of_angle},
      {"cloud.weak", c.weak},
      {"cloud.invalid", c.invalid},
      {"cloud.overlap", c.overlap},
      {"cloud.without_pool", c.without_pool},
      {"cloud.sampled_out", c.sampled_out},
      {"cloud.in_box", c.in_box},
      {"cloud.shadow", c.shadow},
      {"cloud.speckle", c.speckle},
      {"cloud.decimated", c.decimated},
      {"cloud.voxel", c.voxel},
      {"cloud.discarded", c.discarded},
      {"cloud.held", c.held},
      {"cloud.slices", c.slices},
      {"cloud.clouds", c.clouds},
      {"cloud.clouds_without_pool", c.clouds_without_pool},
      {"cloud.points_full", c.points_full},
      {"cloud.gaps", c.gaps},
      {"cloud.squeezed", c.squeezed},
  };
  put(out, counts);
}

void put_samples(DiagnosticWriter& out, const collation::ImuStats& s) {
  const Count counts[] = {
      {"imu.in", s.in},
      {"imu.out", s.out},
      {"imu.incomplete", s.incomplete},
      {"imu.non_finite", s.non_finite},
      {"imu.all_zero", s.all_zero},
      {"imu.implausible", s.implausible},
      {"imu.bad_orientation", s.bad_orientation},
      {"imu.bad_reading", s.bad_reading},
      {"imu.mag", s.mag},
      {"imu.pressure", s.pressure},
      {"imu.temperature", s.temperature},
      {"imu.readings_only", s.readings_only},
  };
  put(out, counts);
}

void put_queue(DiagnosticWriter& out, const collation::QueueStats& q) {
  const Count counts[] = {
      {"queue.in", q.in},
      {"queue.out", q.out},
      {"queue.late", q.late},
      {"queue.duplicate", q.duplicate},
      {"queue.backward", q.backward},
      {"queue.future", q.future},
      {"queue.overflow", q.overflow},
      {"queue.before_start", q.before_start},
      {"queue.held", q.held},
      {"queue.forced", q.forced},
      {"queue.full", q.full},
  };
  put(out, counts);
  put(out, "queue.worst_age_us", q.worst_age.count() / 1000);
  put(out, "queue.would_have_sufficed_us", q.would_have_sufficed.count() / 1000);
}

void put_clock(DiagnosticWriter& out, const drivers::ClockHealth& clock) {
  out.value("clock.quality", clock.locked ? "locked" : "coarse");
  put(out, "clock.offset_ns", clock.offset_ns);
  out.value("clock.drift_ppm", hal::Text<24>::of("%.3f", clock.drift_ppm).view());
  put(out, "clock.residual_us", clock.residual.count() / 1000);
  put(out, "clock.epoch", clock.epoch);
  put(out, "clock.nudged", static_cast<std::int64_t>(clock.nudged));
}

const char* name(config::Role role) {
  switch (role) {
    case config::Role::required:
      return "required";
    case config::Role::optional:
      return "optional";
    case config::Role::passthrough:
      return "passthrough";
  }
  return "?";
}

void put_checks(DiagnosticWriter& out, const HealthCheck& checks) {
  for (const CheckRow& row : check_rows()) {
    const auto key = hal::Text<32>::of("check.%s", row.name.data());
    put(out, key.c_str(), static_cast<std::int64_t>(checks.finding(row.check).count));
  }
  out.value("check.message_gaps", in_words(checks.gaps()).view());
}

// The gravest of what was found lately; nullopt: nothing.
std::optional<Check> newest_finding(const HealthCheck& checks, hal::Time now) {
  constexpr hal::Duration kLately = std::chrono::seconds(10);
  std::optional<Check> gravest;
  for (const CheckRow& row : check_rows()) {
    const Finding& finding = checks.finding(row.check);
    if (finding.count == 0 || now - finding.newest > kLately) continue;
    if (!gravest || row.level > check_rows()[static_cast<std::size_t>(*gravest)].level) {
      gravest = row.check;
    }
  }
  return gravest;
}

void put_deskew(DiagnosticWriter& out, const collation::DeskewStats& d) {
  const Count counts[] = {{"deskew.clouds", d.clouds},
                          {"deskew.turned", d.turned},
                          {"deskew.without_gyro", d.without_gyro}};
  put(out, counts);
}

// What is made of a sensor's data behind the order.
void put_derived(DiagnosticWriter& out, const Derived& derived, drivers::SensorId id) {
  if (const collation::DeskewStats* const d = derived.deskew_stats(id)) put_deskew(out, *d);
  if (const collation::GyroTrack* const gyro = derived.gyro(id)) {
    const collation::GyroStats& g = gyro->stats();
    const Count counts[] = {
        {"gyro.samples", g.samples}, {"gyro.gaps", g.gaps}, {"gyro.rests", g.rests}};
    put(out, counts);
    const Eigen::Vector3d& b = gyro->bias();
    out.value("gyro.bias", hal::Text<48>::of("%.5f %.5f %.5f", b.x(), b.y(), b.z()).view());
  }
}

void put_merge(DiagnosticWriter& out, const collation::MergeStats& m) {
  const Count counts[] = {
      {"merge.clouds", m.clouds},
      {"merge.merged", m.merged},
      {"merge.backward", m.backward},
      {"merge.late_clouds", m.late_clouds},
      {"merge.held_clouds", m.held_clouds},
      {"merge.points", m.points},
      {"merge.out", m.out},
      {"merge.backward_points", m.backward_points},
      {"merge.late", m.late},
      {"merge.bad_time", m.bad_time},
      {"merge.full", m.full},
      {"merge.held", m.held},
      {"merge.emitted", m.emitted},
      {"merge.forced", m.forced},
      {"merge.cut", m.cut},
  };
  put(out, counts);
}

// So many samples, and a reading that is asked for was in none: it is not sent.
constexpr std::uint64_t kSamplesWithout = 500;

hal::Text<192> fault_of_readings(const collation::ImuStats& s,
                                 const collation::WantedReadings& wanted) {
  if (s.out < kSamplesWithout) return {};
  const char* const missing = wanted.mag && s.mag == 0                   ? "mag"
                              : wanted.pressure && s.pressure == 0       ? "pressure"
                              : wanted.temperature && s.temperature == 0 ? "temperature"
                                                                         : nullptr;
  if (missing == nullptr) return {};
  return hal::Text<192>::of("none of %" PRIu64
                            " samples has %s, which `readings` asks for: see the "
                            "driver's options, or leave it out",
                            s.out, missing);
}

// What is wrong with the samples since `before`, and what may be done; empty: nothing.
hal::Text<192> fault_of(const collation::ImuStats& now, const collation::ImuStats& before,
                        const collation::WantedReadings& wanted) {
  struct Reason {
    std::uint64_t dropped;
    const char* words;
  };
  const Reason reasons[] = {
      {now.incomplete - before.incomplete,
       "without acceleration, angular rate or both: let the device send them, or what velocity and "
       "angle "
       "change by in a known time"},
      {now.non_finite - before.non_finite, "not a number: the device reports no measurement"},
      {now.all_zero - before.all_zero,
       "of exactly 0 m/s^2 on all axes: the device does not measure, switch it off and on"},
      {now.implausible - before.implausible,
       "beyond 2000 m/s^2 or 200 rad/s: check the device's units and ranges"}};
  const Reason& worst = *std::ranges::max_element(reasons, {}, &Reason::dropped);
  if (worst.dropped == 0) return fault_of_readings(now, wanted);
  return hal::Text<192>::of("%" PRIu64 " of %" PRIu64 " samples dropped, %s", worst.dropped,
                            now.in - before.in, worst.words);
}

void put_input(DiagnosticWriter& out, const InputStats& s) {
  const Count counts[] = {
      {"input.messages", s.messages},         {"input.passed", s.passed},
      {"input.wrong_schema", s.wrong_schema}, {"input.other_sender", s.other_sender},
      {"input.too_large", s.too_large},       {"input.bad_time", s.bad_time},
      {"input.too_fast", s.too_fast},         {"input.without_pool", s.without_pool},
  };
  put(out, counts);
}

// All connections of the input socket together.
void put_senders(DiagnosticWriter& out, const SenderStats& s, std::uint64_t refused) {
  const Count counts[] = {
      {"senders.connected", s.connected},
      {"senders.connections", s.connections},
      {"senders.refused", refused},
      {"senders.left", s.left},
      {"senders.malformed", s.malformed},
      {"senders.too_long", s.too_long},
      {"senders.compressed", s.compressed},
      {"senders.stalled", s.stalled},
      {"senders.flooding", s.flooding},
      {"senders.bytes", s.bytes},
      {"senders.record_bytes", s.record_bytes},
      {"senders.discarded_bytes", s.discarded_bytes},
      {"senders.pending", s.pending},
      {"senders.messages", s.messages},
      {"senders.unknown_topic", s.unknown_topic},
  };
  put(out, counts);
}

constexpr std::size_t kMessage = 2048, kPerInput = 2048, kPerSensor = 6144, kPerMerged = 2048;

}  // namespace

Diagnostics::Diagnostics(const config::Stack& stack, const config::Plan& plan, MessageSink& sink,
                         OutputTime& time)
    : stack_(stack), plan_(plan), sink_(sink), time_(time) {
  for (const config::Sensor& sensor : stack.sensors) ports_.push_back(hal::to_string(*sensor.port));
  samples_before_.resize(stack.sensors.size());
  dropped_before_.resize(stack.inputs.size());
  const auto declare = [&](const char* topic, std::size_t latched_bytes) -> ChannelId {
    const auto id = sink_.add_channel(topic, kDiagnosticArrayType, latched_bytes);
    if (id) return *id;
    if (status_) status_ = id.error();
    return 0;
  };
  const std::size_t longest = longest_message(stack);
  diagnostics_ = declare("/diagnostics", longest);
  configuration_ = declare("/lidard/configuration", longest);
  events_ = declare("/lidard/events", 0);
}

std::size_t Diagnostics::longest_message(const config::Stack& stack) {
  return kMessage + kPerSensor * stack.sensors.size() + kPerMerged * stack.merged.size() +
         kPerInput * stack.inputs.size();
}

void Diagnostics::publish_configuration() {
  const auto out = sink_.scratch();
  DiagnosticWriter writer({time_.now(), stack_.frame}, out);
  writer.status(Level::ok, "lidard", "configuration", kVersion);
  writer.value("frame", stack_.frame);
  for (std::size_t i = 0; i < stack_.sensors.size(); ++i) {
    const config::Sensor& sensor = stack_.sensors[i];
    const config::SensorPlan& plan = plan_.sensors[i];
    writer.status(Level::ok, sensor.name, "configuration", sensor.driver->name);
    writer.value("port", ports_[i]);
    writer.value("role", name(sensor.role));
    writer.value("trajectory", stack_.collation.by_trajectory ? sensor.trajectory : "");
    writer.value("kind", config::kind_of(sensor) == drivers::Kind::lidar ? "lidar" : "imu");
    put(writer, "max_wait_us", plan.max_wait.count() / 1000);
    put(writer, "latency_budget_us", plan.worst_age.count() / 1000);
    put(writer, "capacity", static_cast<std::int64_t>(plan.capacity));
    for (const drivers::OptionSpec& option : sensor.driver->options) {
      writer.value(option.key, sensor.options.text(option.key));
    }
  }
  for (std::size_t i = 0; i < stack_.inputs.size(); ++i) {
    const config::Input& input = stack_.inputs[i];
    writer.status(Level::ok, input.name, "configuration", kInputId);
    writer.value("kind", "input");
    writer.value("topic", input.topic);
    writer.value("schema", input.schema);
    writer.value("role", name(input.role));
    writer.value("trajectory", stack_.collation.by_trajectory ? input.trajectory : "");
    put(writer, "max_wait_us", plan_.inputs[i].max_wait.count() / 1000);
    put(writer, "latency_budget_us", plan_.inputs[i].worst_age.count() / 1000);
    put(writer, "capacity", static_cast<std::int64_t>(plan_.inputs[i].capacity));
  }
  for (const config::Merged& merged : stack_.merged) {
    writer.status(Level::ok, merged.name, "configuration", kMergedId);
    writer.value("kind", "merged");
    for (std::size_t i = 0; i < merged.sensors.size(); ++i) {
      writer.value(hal::Text<24>::of("origin.%zu", i).view(), merged.sensors[i]);
    }
    writer.value("deskew", merged.deskew);
  }
  publish(configuration_, writer, out);
}

void Diagnostics::publish_state(const Pipeline& pipeline, const Output& output,
                                std::span<const OrderWatch> watches, std::uint32_t segment,
                                const ServiceStats& service) {
  const auto out = sink_.scratch();
  DiagnosticWriter writer({time_.now(), stack_.frame}, out);
  std::size_t streaming = 0, troubled = 0;
  for (std::size_t i = 0; i < pipeline.sensors(); ++i) {
    const auto id = static_cast<drivers::SensorId>(i);
    const bool streams = pipeline.health(id).state == drivers::State::streaming;
    streaming += streams;
    troubled += streams && watches[i].kind() != OrderWatch::Kind::fine;
  }
  bool whole = streaming == pipeline.sensors() && troubled == 0;
  for (std::size_t i = 0; i < stack_.inputs.size(); ++i) {
    const bool comes = pipeline.inputs().state(i) == drivers::State::streaming;
    whole = whole && (comes || stack_.inputs[i].role != config::Role::required);
  }
  auto summary = hal::Text<96>::of("%zu of %zu sensors stream", streaming, pipeline.sensors());
  if (troubled > 0) {
    summary = hal::Text<96>::of("%zu of %zu sensors stream, the data of %zu not in order",
                                streaming, pipeline.sensors(), troubled);
  }
  writer.status(whole ? Level::ok : Level::warn, "lidard", summary.view(), kVersion);
  put(writer, "unix_offset_ns", time_.offset_ns());
  put(writer, "segment", segment);
  const Count counts[] = {{"stream.clients", service.clients},
                          {"stream.refused_clients", service.refused_clients},
                          {"stream.dropped", service.dropped_messages},
                          {"stream.too_long", too_long_ + output.too_long()},
                          {"capture.dropped", service.capture_dropped},
                          {"log.dropped", service.log_dropped},
                          {"queue.unknown_sensor", pipeline.unknown_sensor()},
                          {"queue.misuse", pipeline.misuse()}};
  put(writer, counts);
  if (!stack_.inputs.empty()) {
    put_senders(writer, pipeline.inputs().senders(), service.refused_senders);
  }
  for (std::size_t i = 0; i < pipeline.sensors(); ++i) {
    const auto id = static_cast<drivers::SensorId>(i);
    const Account account = pipeline.account(id);
    const auto fault = fault_of(account.samples, std::exchange(samples_before_[i], account.samples),
                                stack_.sensors[i].readings);
    describe(writer, stack_.sensors[i], account, output.stats(id), watches[i], fault.view());
    put_derived(writer, pipeline.derived(), id);
  }
  for (std::size_t i = 0; i < stack_.inputs.size(); ++i) {
    describe(writer, i, pipeline, output.input_stats(i), watches[pipeline.sensors() + i]);
  }
  for (std::size_t m = 0; m < stack_.merged.size(); ++m) {
    describe(writer, stack_.merged[m], pipeline.derived(), m, output.merged_stats(m));
  }
  publish(diagnostics_, writer, out);
}

void Diagnostics::describe(DiagnosticWriter& out, const config::Sensor& sensor,
                           const Account& account, const OutputStats& published,
                           const OrderWatch& watch, std::string_view fault) {
  const drivers::Health& health = account.health;
  const bool streams = health.state == drivers::State::streaming;
  const auto found = streams ? newest_finding(account.checks, time_.pass()) : std::nullopt;
  const bool in_order = watch.kind() == OrderWatch::Kind::fine;
  if (streams && in_order && !fault.empty()) {
    out.status(Level::warn, sensor.name, fault, sensor.driver->name);
  } else if (streams && in_order && account.rest.is_wrong()) {
    out.status(Level::warn, sensor.name, account.rest.words().view(), sensor.driver->name);
  } else if (found && in_order) {
    out.status(check_rows()[static_cast<std::size_t>(*found)].level, sensor.name,
               in_words(*found, account.checks.finding(*found)).view(), sensor.driver->name);
  } else {
    const std::string_view words = in_order ? account.rate_text.view() : watch.why().view();
    out.status(level_of(sensor, health, watch.kind()), sensor.name,
               streams ? words : health.why.view(), sensor.driver->name);
  }
  out.value("state", drivers::name(health.state));
  out.value("cause", drivers::name(health.cause));
  out.value("step", health.step);
  out.value("port", account.port.note.view());
  out.value("port.last_rejected", account.port.last_rejected.view());
  out.value("order", streams ? watch.cause() : "none");
  out.value("rate", account.rate_text.view());
  out.value("sampling", account.sampling_text.view());
  out.value("rate_hz", hal::Text<24>::of("%.3f", account.rate_hz).view());
  put_port(out, account.port);
  if (config::is_device(sensor)) {
    put_wire(out, health);
  } else {
    put(out, "driver.packets", static_cast<std::int64_t>(health.packets));
  }
  put_clock(out, health.clock);
  const Count counts[] = {{"packets.in", account.packets},
                          {"packets.sampled_out", account.sampled_out},
                          {"output.messages", published.messages},
                          {"output.points", published.points}};
  put(out, counts);
  if (config::kind_of(sensor) == drivers::Kind::lidar) {
    put_clouds(out, account.clouds);
  } else {
    put_samples(out, account.samples);
    out.value("rest", account.rest.words().view());
  }
  put_queue(out, account.queue);
  put_checks(out, account.checks);
}

void Diagnostics::describe(DiagnosticWriter& out, const config::Merged& merged,
                           const Derived& derived, std::size_t m, const OutputStats& published) {
  const collation::MergeStats stats = derived.merge_stats(m);
  out.status(
      Level::ok, merged.name,
      hal::Text<64>::of("%" PRIu64 " clouds of %zu lidars", stats.emitted, merged.sensors.size())
          .view(),
      kMergedId);
  put_merge(out, stats);
  if (const collation::DeskewStats* const d = derived.merge_deskew_stats(m)) {
    put_deskew(out, *d);
  }
  const Count counts[] = {{"output.messages", published.messages},
                          {"output.points", published.points}};
  put(out, counts);
}

void Diagnostics::describe(DiagnosticWriter& out, std::size_t i, const Pipeline& pipeline,
                           const OutputStats& published, const OrderWatch& watch) {
  const config::Input& input = stack_.inputs[i];
  const Inputs& inputs = pipeline.inputs();
  const InputStats& stats = inputs.stats(i);
  const std::size_t id = pipeline.sensors() + i;
  const bool streams = inputs.state(i) == drivers::State::streaming;
  const std::uint64_t dropped =
      stats.dropped() - std::exchange(dropped_before_[i], stats.dropped());
  const bool in_order = watch.kind() == OrderWatch::Kind::fine;
  const auto rate = pipeline.rate(id).text();
  Level level = streams && in_order && dropped == 0 ? Level::ok : Level::warn;
  const bool failed = !streams || watch.kind() == OrderWatch::Kind::stall;
  if (failed && input.role == config::Role::required) level = Level::error;
  std::string_view words = rate.view();
  if (dropped > 0) words = inputs.why_dropped(i).view();
  if (!streams) words = inputs.why(i).view();
  if (streams && !in_order) words = watch.why().view();
  out.status(level, input.name, words, kInputId);
  out.value("state", drivers::name(inputs.state(i)));
  out.value("order", streams ? watch.cause() : "none");
  out.value("rate", rate.view());
  const double rate_hz = streams ? pipeline.rate(id).rate_hz() : 0;
  out.value("rate_hz", hal::Text<24>::of("%.3f", rate_hz).view());
  put_input(out, stats);
  put(out, "output.messages", static_cast<std::int64_t>(published.messages));
  put_queue(out, pipeline.queue(id));
}

void Diagnostics::publish_event(Level level, std::string_view name, const char* event,
                                std::string_view message, std::span<const KeyValue> values) {
  const auto out = sink_.scratch();
  DiagnosticWriter writer({time_.now(), stack_.frame}, out);
  writer.status(level, name, message, "");
  writer.value("event", event);
  for (const KeyValue& value : values) writer.value(value.key, value.value);
  publish(events_, writer, out);
}

void Diagnostics::publish(ChannelId channel, DiagnosticWriter& writer, std::span<std::byte> out) {
  const std::size_t size = writer.finish();
  if (size > out.size()) {
    ++too_long_;
    return;
  }
  sink_.publish(channel, time_.event(), time_.now(), out.first(size));
}

}  // namespace app
