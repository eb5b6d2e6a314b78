#include "app/inputs.h"

#include <algorithm>

#include "collation/queue_options.h"

namespace app {

using drivers::State;

namespace {

// A log time that could be Unix time, and whose sums still fit.
constexpr std::uint64_t kLatestUnix = std::uint64_t{1} << 62;
constexpr std::size_t kNames = 256;  // of a format: the schema's encoding and the message's

hal::Duration silence(double rate_hz) {
  return std::max<hal::Duration>(std::chrono::seconds(1), hal::from_seconds(5 / rate_hz));
}

}  // namespace

Inputs::Inputs(const config::Stack& stack, const config::Plan& plan, InputSink& sink)
    : stack_(stack), plan_(plan), sink_(sink), topics_(stack.inputs.size()) {
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    const auto bytes = static_cast<std::size_t>(stack.inputs[i].max_bytes);
    topics_[i].pool = std::make_unique<collation::MessagePool>(
        plan.inputs[i].messages, [&] { return std::make_unique<collation::OpaqueMessage>(bytes); });
    topics_[i].texts.reserve(config::kSchemaText + kNames);
    topics_[i].credit = topics_[i].depth =
        std::max(static_cast<double>(plan.inputs[i].capacity), stack.inputs[i].rate_hz);
  }
}

void Inputs::add(std::unique_ptr<hal::Port> port) {
  SenderListener& self = *this;
  senders_.push_back(std::make_unique<InputSender>(stack_, plan_, self, std::move(port)));
}

void Inputs::start(hal::Time now) {
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    topics_[i].credited = now;
    topics_[i].why.print("nobody sends %s: no sender has connected to %s",
                         stack_.inputs[i].topic.c_str(), stack_.input.unix_path.c_str());
    set_state(i, State::backoff, now);
  }
  for (const auto& sender : senders_) sender->start();
}

void Inputs::stop() {
  for (const auto& sender : senders_) sender->stop();
}

void Inputs::tick(hal::Time now) {
  for (const auto& sender : senders_) sender->tick(now);
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    Topic& topic = topics_[i];
    if (topic.state != State::streaming) continue;
    if (now - topic.last <= silence(stack_.inputs[i].rate_hz)) continue;
    topic.why.print("its sender is connected and sends none");
    set_state(i, State::silent, now);
  }
}

SenderStats Inputs::senders() const {
  SenderStats sum;
  for (const auto& sender : senders_) sum += sender->stats();
  return sum;
}

void Inputs::set_state(std::size_t i, State state, hal::Time now) {
  if (std::exchange(topics_[i].state, state) != state) sink_.on_input_state(i, state, now);
}

void Inputs::on_gone(const InputSender& sender, bool at_fault, hal::Time now) {
  if (at_fault) {
    ++faults_;
    last_fault_ = sender.why();
  }
  for (std::size_t i = 0; i < topics_.size(); ++i) {
    if (topics_[i].owner != &sender) continue;
    topics_[i].owner = nullptr;
    topics_[i].why.print("its sender has left: %s", sender.why().c_str());
    set_state(i, State::backoff, now);
  }
}

bool Inputs::has_credit(Topic& topic, double rate_hz, hal::Time arrival) {
  const double earned = kRateMargin * rate_hz * hal::to_seconds(arrival - topic.credited);
  topic.credit = std::min(topic.depth, topic.credit + earned);
  topic.credited = arrival;
  if (topic.credit < 1) return false;
  topic.credit -= 1;
  return true;
}

// Whether it passes; what does not is counted, and said.
bool Inputs::admits(const InputSender& sender, std::size_t i, bool fits,
                    const collation::MessageFormat& format, const hal::mcap::Message& message,
                    hal::Time arrival) {
  Topic& topic = topics_[i];
  const config::Input& input = stack_.inputs[i];
  const auto refuse = [&](std::uint64_t& count, const hal::Text<192>& why) {
    ++count;
    topic.why_dropped = why;
    if (topic.state != State::streaming) topic.why = why;
    return false;
  };
  if (!fits || (topic.has_format && format.encoding != topic.format.encoding)) {
    return refuse(
        topic.stats.wrong_schema,
        fits ? hal::Text<192>::of("its messages are encoded otherwise than the first were: "
                                  "restart lidard to change that")
             : hal::Text<192>::of("its channel has another schema than %s", input.schema.c_str()));
  }
  if (topic.owner != nullptr && topic.owner != &sender) {
    return refuse(topic.stats.other_sender,
                  hal::Text<192>::of("two senders send it: the first one counts until he leaves"));
  }
  if (message.data.size() > static_cast<std::size_t>(input.max_bytes)) {
    return refuse(topic.stats.too_large,
                  hal::Text<192>::of("a message of %zu bytes is longer than max_bytes %d",
                                     message.data.size(), input.max_bytes));
  }
  const std::int64_t now_ns = hal::to_ns(arrival) + offset_ns_;
  const std::int64_t astray = message.log_time < kLatestUnix
                                  ? static_cast<std::int64_t>(message.log_time) - now_ns
                                  : INT64_MAX;
  if (astray > collation::kLongestWait.count() || astray < -collation::kLongestWait.count()) {
    return refuse(topic.stats.bad_time,
                  hal::Text<192>::of("log time %llu is not near now: expected Unix time in ns",
                                     static_cast<unsigned long long>(message.log_time)));
  }
  if (!has_credit(topic, input.rate_hz, arrival)) {
    return refuse(topic.stats.too_fast,
                  hal::Text<192>::of("it comes faster than rate_hz %.4g", input.rate_hz));
  }
  return true;
}

void Inputs::on_sent(const InputSender& sender, std::size_t i, bool fits,
                     const collation::MessageFormat& format, const hal::mcap::Message& message,
                     hal::Time arrival) {
  Topic& topic = topics_[i];
  ++topic.stats.messages;
  if (!admits(sender, i, fits, format, message, arrival)) return;
  collation::MessagePool::Lease lease = topic.pool->take();
  if (!lease) {
    ++topic.stats.without_pool;
    topic.why_dropped.print("all its messages wait in the queue");
    return;
  }
  if (!topic.has_format) keep_format(topic, format);
  topic.owner = &sender;
  topic.last = arrival;
  if (topic.state != State::streaming) topic.why.clear();
  set_state(i, State::streaming, arrival);
  lease->at = hal::from_ns(static_cast<std::int64_t>(message.log_time) - offset_ns_);
  lease->format = &topic.format;
  lease->data.resize(message.data.size());
  std::ranges::copy(message.data, lease->data.begin());
  ++topic.stats.passed;
  sink_.on_input(i, std::move(lease), arrival);
}

bool Inputs::drained() const {
  return std::ranges::all_of(senders_, [](const auto& sender) { return sender->drained(); });
}

void Inputs::keep_format(Topic& topic, const collation::MessageFormat& format) {
  topic.has_format = true;
  topic.format.schema = format.schema;  // the configuration's
  const auto keep = [&](std::string_view text) -> std::string_view {
    const std::size_t begin = topic.texts.size();
    topic.texts.insert(topic.texts.end(), text.begin(), text.end());
    return {topic.texts.data() + begin, text.size()};
  };
  topic.format.encoding = keep(format.encoding);
  topic.format.schema_encoding = keep(format.schema_encoding);
  topic.format.definition = keep(format.definition);
}

}  // namespace app
