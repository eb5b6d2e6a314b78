#include "app/station.h"

#include <cinttypes>

#include "drivers/diagnosis.h"
#include "hal/wall_offset.h"

namespace app {
namespace {

using drivers::State;

constexpr hal::Duration kStalled = std::chrono::seconds(1);
constexpr hal::Duration kStatePeriod = std::chrono::seconds(1);
constexpr hal::Duration kFindingPeriod = std::chrono::seconds(10);

hal::Severity severity_of(Level level) {
  switch (level) {
    case Level::ok:
      return hal::Severity::info;
    case Level::warn:
    case Level::stale:
      return hal::Severity::warning;
    case Level::error:
      return hal::Severity::error;
  }
  return hal::Severity::error;
}

hal::Text<24> milliseconds(hal::Duration d) {
  return hal::Text<24>::of("%" PRId64, static_cast<std::int64_t>(d.count() / 1'000'000));
}

// Numbers aside: an attempt that differs only in bytes counted says nothing new.
bool says_the_same(std::string_view a, std::string_view b) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  for (;;) {
    while (!a.empty() && is_digit(a.front())) a.remove_prefix(1);
    while (!b.empty() && is_digit(b.front())) b.remove_prefix(1);
    if (a.empty() || b.empty()) return a.empty() && b.empty();
    if (a.front() != b.front()) return false;
    a.remove_prefix(1);
    b.remove_prefix(1);
  }
}

const char* in_words(drivers::UtcState state) {
  switch (state) {
    case drivers::UtcState::unused:
      return "its stamps are mapped";
    case drivers::UtcState::trusted:
      return "its own UTC stamps are used";
    case drivers::UtcState::tai:
      return "its stamps are 37 s ahead: it sends TAI; let its PTP master announce the UTC offset. "
             "They are mapped meanwhile";
    case drivers::UtcState::implausible:
      return "its UTC stamps do not fit the wall clock: is the device synchronised, and is this "
             "host? They are mapped meanwhile";
  }
  return "?";
}

}  // namespace

Station::Station(const config::Stack& stack, const config::Plan& plan, MessageSink& sink,
                 hal::Log& log)
    : stack_(stack),
      plan_(plan),
      log_(log),
      output_(stack, plan, sink, time_),
      diagnostics_(stack, plan, sink, time_),
      pipeline_(stack, plan, output_, *this),
      said_(config::ordered(stack)),
      watches_(config::ordered(stack)),
      said_inputs_(stack.inputs.size()) {}

hal::Status Station::status() const {
  if (!output_.status()) return output_.status();
  return diagnostics_.status();
}

void Station::on_pass_begin(hal::Time now) {
  // Ticks make a pass every 20 ms. A sleep shows in inner time from the pass after it was found.
  const hal::Duration away = now - now_ - std::exchange(slept_, {});
  now_ = now;
  time_.set_pass(now);
  if (started_ && away > kStalled) on_stalled(away);
}

void Station::on_stalled(hal::Duration length) {
  const auto seconds = hal::Text<32>::of("%.3f", hal::to_seconds(length));
  const KeyValue values[] = {{"seconds", seconds.view()}};
  diagnostics_.publish_event(Level::warn, "lidard", "stalled", "the process did not run", values);
  log_.write(hal::Severity::warning,
             "the process did not run for %s s: stopped, or too little CPU or memory",
             seconds.c_str());
}

void Station::on_pass_end(hal::Time began) { pipeline_.end_pass(began); }

void Station::on_tick(hal::Time now) {
  if (!started_) {
    started_ = true;
    next_state_ = now;
    next_rates_ = now + hal::from_seconds(stack_.rate_log_period_s);
    output_.publish_transforms();
    diagnostics_.publish_configuration();
    pipeline_.start(now);
  }
  pipeline_.tick(now);
  look_at_clocks();
  look_for_findings(now);
  look_for_warnings();
  look_at_rest();
  if (now >= next_state_) {
    next_state_ = now + kStatePeriod;
    look_at_order(now);
    look_at_inputs(now);
    diagnostics_.publish_state(pipeline_, output_, watches_, segment_, service_);
  }
  if (stack_.rate_log_period_s > 0 && now >= next_rates_) {
    next_rates_ = now + hal::from_seconds(stack_.rate_log_period_s);
    log_rates();
  }
}

void Station::on_offset(std::int64_t unix_minus_inner_ns) {
  const hal::Duration change(unix_minus_inner_ns - time_.offset_ns());
  time_.set_offset(unix_minus_inner_ns);
  const bool first = !std::exchange(has_offset_, true);
  if (!first && std::chrono::abs(change) <= hal::WallOffset::kLargestSlewed) return;
  pipeline_.set_wall_clock(unix_minus_inner_ns);  // what was measured last is past
  if (first) return;
  ++segment_;
  time_.begin_segment();
  const auto seconds = hal::Text<32>::of("%.9f", hal::to_seconds(change));
  const auto number = hal::Text<16>::of("%" PRIu32, segment_);
  const KeyValue values[] = {{"seconds", seconds.view()}, {"segment", number.view()}};
  diagnostics_.publish_event(Level::warn, "lidard", "wall_step", "the wall clock was set", values);
  log_.write(hal::Severity::notice, "the wall clock was set by %s s; segment %" PRIu32 " begins",
             seconds.c_str(), segment_);
}

void Station::on_wall_clock(std::int64_t unix_minus_inner_ns) {
  pipeline_.set_wall_clock(unix_minus_inner_ns);
}

void Station::on_suspended(hal::Duration length) {
  const auto seconds = hal::Text<32>::of("%.3f", hal::to_seconds(length));
  const KeyValue values[] = {{"seconds", seconds.view()}};
  slept_ += length;
  diagnostics_.publish_event(Level::warn, "lidard", "suspended", "the machine slept", values);
  log_.write(hal::Severity::notice, "the machine slept for %s s", seconds.c_str());
}

void Station::stop(hal::Time now) { pipeline_.stop(now); }

void Station::finish(hal::Time now) {
  on_pass_begin(now);
  on_pass_end(now);
  pipeline_.flush();
  diagnostics_.publish_state(pipeline_, output_, watches_, segment_, service_);
}

std::size_t Station::streaming() const {
  std::size_t n = 0;
  for (std::size_t i = 0; i < pipeline_.sensors(); ++i) {
    n += pipeline_.health(static_cast<drivers::SensorId>(i)).state == State::streaming;
  }
  return n;
}

// One line and one event per change that matters to a person, none per attempt.
void Station::on_sensor_state(drivers::SensorId id, State from, State to, hal::Time now) {
  if (!config::is_device(stack_.sensors[id])) return watches_[id].forget();  // told of its device
  Said& said = said_[id];
  const drivers::Health health = pipeline_.health(id);
  const auto tell_change = [&](Level level, const char* event, std::string_view message,
                               drivers::Cause cause) {
    const auto age = milliseconds(now - said.last_datum);
    const KeyValue values[] = {{"cause", drivers::name(cause)}, {"last_datum_age_ms", age.view()}};
    tell(id, level, event, message, std::span(values, said.last_datum == hal::Time{} ? 1 : 2));
  };
  if (to == State::streaming) {
    said.why.clear();
    return tell_change(Level::ok, "recover", "streams", drivers::Cause::none);
  }
  if (to != State::silent && to != State::backoff) return;
  watches_[id].forget();
  if (health.last_packet != hal::Time{}) said.last_datum = health.last_packet;
  if (from != State::streaming && says_the_same(said.why.view(), health.why.view())) return;
  said.why = health.why;
  const bool required = stack_.sensors[id].role == config::Role::required;
  tell_change(required ? Level::error : Level::warn, "stall", health.why.view(), health.cause);
}

// As of a sensor, with less to tell.
void Station::on_input_state(std::size_t input, State from, State to, hal::Time now) {
  const auto id = static_cast<drivers::SensorId>(stack_.sensors.size() + input);
  const Inputs& inputs = pipeline_.inputs();
  const hal::Time last = inputs.last_message(input);
  const auto age = milliseconds(now - last);
  const KeyValue values[] = {{"last_datum_age_ms", age.view()}};
  const std::span of(values, last == hal::Time{} ? 0 : 1);
  if (to == State::streaming) return tell(id, Level::ok, "recover", "streams", of);
  if (from != State::silent || to != State::backoff) watches_[id].forget();
  const bool required = config::role_of(stack_, id) == config::Role::required;
  tell(id, required ? Level::error : Level::warn, "stall", inputs.why(input).view(), of);
}

// What senders do wrong: at most one event per topic and kFindingPeriod, and one for connections
// that were ended.
void Station::look_at_inputs(hal::Time now) {
  const Inputs& inputs = pipeline_.inputs();
  for (std::size_t i = 0; i < said_inputs_.size(); ++i) {
    SaidInput& said = said_inputs_[i];
    const std::uint64_t dropped = inputs.stats(i).dropped();
    if (dropped == said.dropped || now < said.next_drops) continue;
    const auto count = hal::Text<24>::of("%" PRIu64, dropped - said.dropped);
    said.dropped = dropped;
    said.next_drops = now + kFindingPeriod;
    const KeyValue values[] = {{"dropped", count.view()}};
    tell(static_cast<drivers::SensorId>(stack_.sensors.size() + i), Level::warn, "drops",
         inputs.why_dropped(i).view(), values);
  }
  if (inputs.faults() == said_faults_ || now < next_fault_) return;
  const auto count = hal::Text<24>::of("%" PRIu64, inputs.faults() - said_faults_);
  said_faults_ = inputs.faults();
  next_fault_ = now + kFindingPeriod;
  const KeyValue values[] = {{"connections", count.view()}};
  const hal::Text<192>& why = inputs.last_fault();
  diagnostics_.publish_event(Level::warn, "lidard", "sender", why.view(), values);
  log_.write(hal::Severity::warning, "input socket: a sender was disconnected: %s", why.c_str());
}

void Station::tell(drivers::SensorId id, Level level, const char* event, std::string_view message,
                   std::span<const KeyValue> values) {
  const std::string& name = config::name_of(stack_, id);
  diagnostics_.publish_event(level, name, event, message, values);
  log_.write(said_[id].lines, now_, severity_of(level), "%s: %.*s", name.c_str(),
             static_cast<int>(message.size()), message.data());
}

void Station::tell(drivers::SensorId id, Level level, const char* event, std::string_view message,
                   drivers::Cause cause) {
  const KeyValue values[] = {{"cause", drivers::name(cause)}};
  tell(id, level, event, message, values);
}

// Data that come and do not leave, or leave too early, are not seen by the drivers.
void Station::look_at_order(hal::Time now) {
  for (std::size_t i = 0; i < watches_.size(); ++i) {
    const auto id = static_cast<drivers::SensorId>(i);
    const bool sensor = i < pipeline_.sensors();
    if ((sensor ? pipeline_.health(id).state : pipeline_.state(id)) != State::streaming) continue;
    const collation::QueueStats& queue = pipeline_.queue(id);
    const bool stalled = watches_[i].kind() == OrderWatch::Kind::stall;
    const std::size_t input = i - pipeline_.sensors();
    const OrderWatch::Circumstances of{
        .max_wait = sensor ? plan_.sensors[i].max_wait : plan_.inputs[input].max_wait,
        .capacity = sensor ? plan_.sensors[i].capacity : plan_.inputs[input].capacity,
        .full_for = config::name_of(stack_, queue.full_for)};
    if (watches_[i].look(queue, now, of)) tell_order(id, stalled, now);
  }
}

void Station::tell_order(drivers::SensorId id, bool stalled_before, hal::Time now) {
  const OrderWatch& watch = watches_[id];
  const auto age = milliseconds(now - watch.last_left());
  const auto dropped = hal::Text<24>::of("%" PRIu64, watch.dropped());
  const collation::QueueStats& queue = pipeline_.queue(id);
  const auto sufficed = milliseconds(queue.would_have_sufficed);
  const KeyValue values[] = {{"cause", watch.cause()},
                             {"last_datum_age_ms", age.view()},
                             {"dropped", dropped.view()},
                             {"would_have_sufficed_ms", sufficed.view()},
                             {"blocker", config::name_of(stack_, queue.full_for)}};
  const bool is_full = std::string_view(watch.cause()) == "queue_full";
  const std::span of(values, is_full ? 5 : 4);
  const bool required = config::role_of(stack_, id) == config::Role::required;
  switch (watch.kind()) {
    case OrderWatch::Kind::fine:
      return tell(id, Level::ok, "recover",
                  stalled_before ? "its data leave again" : "its data leave in time again", of);
    case OrderWatch::Kind::full:
      return tell(id, Level::warn, "queue_full", watch.why().view(), of);
    case OrderWatch::Kind::drops:
      return tell(id, Level::warn, "drops", watch.why().view(), of);
    case OrderWatch::Kind::stall:
      return tell(id, required ? Level::error : Level::warn, "stall", watch.why().view(), of);
  }
}

void Station::look_at_clocks() {
  for (std::size_t i = 0; i < pipeline_.sensors(); ++i) {
    const auto id = static_cast<drivers::SensorId>(i);
    const drivers::ClockHealth clock = pipeline_.health(id).clock;
    if (clock.epoch != std::exchange(said_[i].epoch, clock.epoch)) {
      tell(id, Level::warn, "epoch", "its clock began anew", drivers::Cause::none);
    }
    if (clock.utc == std::exchange(said_[i].utc, clock.utc)) continue;
    const bool trusted = clock.utc == drivers::UtcState::trusted;
    tell(id, trusted ? Level::ok : Level::warn, "utc", in_words(clock.utc), drivers::Cause::none);
  }
}

// One event per sensor, check and kFindingPeriod, with the count so far.
void Station::look_for_findings(hal::Time now) {
  for (std::size_t i = 0; i < pipeline_.sensors(); ++i) {
    const HealthCheck& checks = pipeline_.checks(static_cast<drivers::SensorId>(i));
    for (std::size_t k = 0; k < kChecks; ++k) {
      const CheckRow& row = check_rows()[k];
      const Finding& finding = checks.finding(row.check);
      if (finding.count == said_[i].findings[k] || now < said_[i].next_finding[k]) continue;
      said_[i].findings[k] = finding.count;
      said_[i].next_finding[k] = now + kFindingPeriod;
      const std::string& name = stack_.sensors[i].name;
      const auto text = in_words(row.check, finding);
      const auto count = hal::Text<24>::of("%" PRIu64, finding.count);
      const KeyValue values[] = {{"check", row.name}, {"count", count.view()}};
      diagnostics_.publish_event(row.level, name, "check", text.view(), values);
      log_.write(said_[i].lines, now_, severity_of(row.level), "%s: %s", name.c_str(),
                 text.c_str());
    }
  }
}

// A device may stream and not be well: one line and one event when that begins.
void Station::look_for_warnings() {
  for (std::size_t i = 0; i < pipeline_.sensors(); ++i) {
    const auto id = static_cast<drivers::SensorId>(i);
    const drivers::Health health = pipeline_.health(id);
    if (health.state != State::streaming) continue;
    if (std::exchange(said_[i].warned, health.cause) == health.cause) continue;
    if (health.cause == drivers::Cause::none) {
      tell(id, Level::ok, "recover", "is well again", health.cause);
    } else {
      tell(id, Level::warn, "warning", health.why.view(), health.cause);
    }
  }
}

// What gravity does at rest is told when it is wrong, and when it is right again.
void Station::look_at_rest() {
  for (std::size_t i = 0; i < pipeline_.sensors(); ++i) {
    const auto id = static_cast<drivers::SensorId>(i);
    const RestCheck& rest = pipeline_.rest(id);
    const RestCheck::Verdict before = said_[i].rest;
    if (rest.verdict() == before || rest.verdict() == RestCheck::Verdict::open) continue;
    said_[i].rest = rest.verdict();
    const KeyValue values[] = {{"check", "rest"}};
    if (rest.is_wrong()) {
      tell(id, Level::warn, "check", rest.words().view(), values);
    } else if (before != RestCheck::Verdict::open) {
      tell(id, Level::ok, "recover", rest.words().view(), values);
    }
  }
}

void Station::log_rates() {
  for (std::size_t i = 0; i < pipeline_.sensors(); ++i) {
    const Account account = pipeline_.account(static_cast<drivers::SensorId>(i));
    const collation::QueueStats& queue = account.queue;
    const std::uint64_t dropped = queue.in - queue.out - queue.held;
    log_.write(hal::Severity::info,
               "%s: %s, %s; %" PRIu64 " out, %" PRIu64 " dropped, %" PRIu64 " held%s%s",
               stack_.sensors[i].name.c_str(), drivers::name(account.health.state),
               account.rate_text.c_str(), queue.out, dropped, queue.held,
               account.health.why.empty() ? "" : ": ", account.health.why.c_str());
  }
  for (std::size_t i = 0; i < stack_.inputs.size(); ++i) {
    const std::size_t id = pipeline_.sensors() + i;
    const InputStats& stats = pipeline_.inputs().stats(i);
    log_.write(hal::Severity::info, "%s: %s, %s; %" PRIu64 " out, %" PRIu64 " dropped",
               stack_.inputs[i].name.c_str(), drivers::name(pipeline_.state(id)),
               pipeline_.rate(id).text().c_str(), pipeline_.queue(id).out,
               stats.messages - pipeline_.queue(id).out - pipeline_.queue(id).held);
  }
}

}  // namespace app
