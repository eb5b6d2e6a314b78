#include "app/daemon.h"

#include <csignal>

#include "app/driver_setup.h"
#include "app/drop_notice.h"
#include "app/version.h"
#include "hal/make_port.h"
#include "hal/signal_watch.h"
#include "hal/wall_step.h"

namespace app {
namespace {

constexpr hal::Duration kAfterDue = std::chrono::microseconds(50);
constexpr std::size_t kShortestRing = 64 << 10;

McapStreamOptions stream_options(const config::Stack& stack, const config::Plan& plan) {
  return {.profile = kProfile,
          .library = "lidard",
          .max_clients = static_cast<std::size_t>(stack.stream.clients),
          .ring_bytes = std::max(static_cast<std::size_t>(stack.stream.client_buffer_kib) << 10,
                                 kShortestRing),
          .max_message = plan.max_message};
}

}  // namespace

void Daemon::StreamSink::reserve(const config::Stack& stack) {
  constexpr std::size_t kNames = 512;  // and heads of the two records
  schemas_.reserve(schemas_.size() + stack.inputs.size());
  stream_.reserve(stack.inputs.size(), stack.inputs.size() * (config::kSchemaText + kNames));
}

hal::Result<ChannelId> Daemon::StreamSink::add_channel(std::string_view topic,
                                                       const MessageType& type,
                                                       std::size_t latched_bytes) {
  const auto known = std::ranges::find(schemas_, type.name, &decltype(schemas_)::value_type::first);
  std::uint16_t schema = known == schemas_.end() ? std::uint16_t{0} : known->second;
  if (schema == 0) {
    const auto added = stream_.add_schema(type.name, type.schema_encoding, type.definition);
    if (!added) return added.error();
    schema = *added;
    schemas_.emplace_back(type.name, schema);
  }
  static constexpr hal::mcap::KeyValue kQos[] = {{kQosKey, ""}};
  return stream_.add_channel({.topic = topic,
                              .message_encoding = type.encoding,
                              .schema = schema,
                              .metadata = kQos,
                              .latched_bytes = latched_bytes});
}

hal::Result<std::unique_ptr<Daemon>> Daemon::create(const config::Stack& stack,
                                                    const config::Plan& plan,
                                                    const std::string& configuration,
                                                    hal::Log& log) {
  std::unique_ptr<Daemon> daemon(new Daemon(stack, plan, log));
  if (const hal::Status opened = daemon->open(configuration); !opened) return opened.error();
  return daemon;
}

Daemon::Daemon(const config::Stack& stack, const config::Plan& plan, hal::Log& log)
    : stack_(stack),
      log_(log),
      stream_(loop_, stream_options(stack, plan)),
      station_(stack, plan, sink_, log),
      offset_(stack.wall_clock, clock_.both()) {}

Daemon::~Daemon() = default;

hal::Status Daemon::open(const std::string& configuration) {
  if (const hal::Status declared = station_.status(); !declared) return declared;
  stream_.tell_drops_on(station_.diagnostics().events_channel(), encode_drop_notice);
  if (!stack_.capture.empty()) {  // first: its child inherits what is open
    auto capture = RawCapture::begin(loop_, stack_.capture, configuration);
    if (!capture) return capture.error();
    capture_ = std::move(*capture);
  }
  if (const hal::Status listening = stream_.listen(stack_.stream.unix_path); !listening) {
    return listening;
  }
  add_drivers();
  return add_inputs();
}

void Daemon::add_drivers() {
  for (std::size_t i = 0; i < stack_.sensors.size(); ++i) {
    const config::Sensor& sensor = stack_.sensors[i];
    if (!config::is_device(sensor)) continue;
    const auto id = static_cast<std::uint8_t>(i);
    drivers::DriverSetup setup = driver_setup(stack_, i, station_.pipeline().input());
    const auto add = [&](drivers::Channel channel, const std::optional<hal::PortSpec>& spec) {
      if (!spec) return;
      setup.ports[static_cast<std::size_t>(channel)] = port(sensor, *spec, id, channel);
    };
    add(drivers::Channel::data, sensor.port);
    add(drivers::Channel::control, sensor.control);
    add(drivers::Channel::imu, sensor.imu);
    station_.pipeline().add(sensor.driver->make(sensor.options, std::move(setup)));
  }
}

hal::Status Daemon::add_inputs() {
  if (stack_.inputs.empty()) return hal::ok;
  sink_.reserve(stack_);
  for (int i = 0; i < stack_.input.clients; ++i) {
    auto port = input_ports_.make_port("input");
    if (capture_) {
      port = hal::tapped(std::move(port), *capture_, kInputSocket, static_cast<std::uint8_t>(i));
    }
    station_.pipeline().inputs().add(std::move(port));
  }
  return input_ports_.listen(stack_.input.unix_path);
}

std::unique_ptr<hal::Port> Daemon::port(const config::Sensor& sensor, const hal::PortSpec& spec,
                                        std::uint8_t id, drivers::Channel channel) {
  hal::PortOptions options{.spec = spec,
                           .baud = sensor.baud,
                           .line = sensor.line,
                           .latency = sensor.latency,
                           .from = {},
                           .peer = {}};
  options.from = config::accepted_sender(sensor);
  if (sensor.from) options.peer = *sensor.from;
  auto made = hal::make_port(loop_, options, &udp_shares_);
  if (!capture_) return made;
  return hal::tapped(std::move(made), *capture_, id, static_cast<std::uint8_t>(channel));
}

hal::Status Daemon::run() {
  hal::SignalWatch signals(loop_, [this](int signal) { on_signal(signal); });
  if (!signals.status()) return signals.status();  // it could never be stopped
  hal::WallStepWatch steps(loop_, [this](hal::Time) { (void)update_offset(); });
  hal::Ticker tick(loop_, Station::kTick, [this](hal::Time now) { on_tick(now); });
  set_offset();
  notifier_.send("READY=1");
  log_.write(hal::Severity::info, "lidard %.*s: ready, %zu sensors, stream on %s",
             static_cast<int>(kVersion.size()), kVersion.data(), stack_.sensors.size(),
             stack_.stream.unix_path.c_str());
  loop_.run(*this);
  stop_devices();
  return hal::ok;
}

void Daemon::on_pass_begin(hal::Time now) {
  const hal::Duration slept = clock_.sample_sleep();
  record(hal::RawKind::pass, now, slept.count());
  station_.on_pass_begin(now);
  if (slept > hal::Duration::zero()) station_.on_suspended(slept);
}

void Daemon::on_pass_end(hal::Time began) {
  station_.on_pass_end(began);
  stream_.flush();
  if (capture_) capture_->flush();
  notifier_.feed(began);
  wait_for_due();
}

// What is held leaves in the first pass after its time, and a device is spoken to at its time, even
// when nothing else makes a pass.
void Daemon::wait_for_due() {
  const hal::Time due = std::min(station_.pipeline().due().value_or(hal::Time::max()),
                                 station_.pipeline().tick_due());
  if (due == hal::Time::max() || (due_waits_ && due >= due_at_)) return;
  due_waits_ = true;
  due_at_ = due;
  due_timer_.expires_after(std::max(due - clock_.now(), hal::Duration(0)) + kAfterDue);
  due_turn_ ^= 1;  // the handler that was cancelled may still hold its memory
  due_timer_.async_wait(due_memory_[due_turn_].bind(
      [this, alive = anchor_.ref()](const boost::system::error_code& ec) {
        if (ec || alive.expired()) return;
        due_waits_ = false;
        loop_.enter_pass();
        if (const hal::Time now = clock_.now(); now >= station_.pipeline().tick_due()) on_tick(now);
      }));
}

void Daemon::on_tick(hal::Time now) {
  if (stopping_) {
    station_.pipeline().tick(now);
    if (station_.pipeline().stopped()) loop_.stop();
    return;
  }
  const hal::ClockPair both = update_offset();
  const std::int64_t wall = both.unix_ns - hal::to_ns(both.inner);
  tell_service();
  record(hal::RawKind::tick, now, wall);
  station_.on_wall_clock(wall);
  station_.on_tick(now);
  const std::size_t streaming = station_.streaming();
  if (streaming == std::exchange(told_streaming_, streaming)) return;
  notifier_.send(
      hal::Text<64>::of("STATUS=%zu of %zu sensors stream", streaming, stack_.sensors.size())
          .c_str());
}

void Daemon::on_signal(int signal) {
  if (signal == SIGTERM || signal == SIGINT) {
    if (!stopping_) loop_.stop();  // a second one changes nothing: the devices are being stopped
    return;
  }
  log_.write(hal::Severity::notice,
             "signal %d is not acted upon: restart to take a new configuration", signal);
}

hal::ClockPair Daemon::update_offset() {
  const hal::ClockPair now = clock_.both();
  const std::int64_t before = offset_.offset_ns();
  (void)offset_.update(now);
  if (offset_.offset_ns() != before) set_offset();
  return now;
}

void Daemon::tell_service() {
  ServiceStats service{.clients = stream_.clients(),
                       .refused_clients = stream_.refused_clients(),
                       .refused_senders = input_ports_.refused(),
                       .capture_dropped = capture_ ? capture_->dropped() : 0,
                       .log_dropped = log_.dropped()};
  for (std::size_t i = 0; i < static_cast<std::size_t>(stack_.stream.clients); ++i) {
    if (const auto client = stream_.client_stats(i)) service.dropped_messages += client->dropped;
  }
  station_.set_service(service);
}

void Daemon::set_offset() {
  record(hal::RawKind::offset, clock_.now(), offset_.offset_ns());
  station_.on_offset(offset_.offset_ns());
}

void Daemon::record(hal::RawKind kind, hal::Time at, std::int64_t value) {
  if (capture_) capture_->on_record({.kind = kind, .at = at, .value = value});
}

// What a device is told at its end takes time, and no device may hold the end up.
void Daemon::stop_devices() {
  const hal::Time now = clock_.now();
  const hal::Time until = now + kStopWithin;
  record(hal::RawKind::pass, now);
  station_.finish(now);
  stopping_ = true;
  if (capture_) capture_->close();
  notifier_.send("STOPPING=1");
  station_.stop(now);
  if (!station_.pipeline().stopped()) loop_.run_for(*this, kStopWithin);
  stream_.flush();
  if (capture_) capture_->end(until - clock_.now());
  log_.write(hal::Severity::info, "stopped");
}

}  // namespace app
