#include "test/system/stream.h"

#include <poll.h>
#include <unistd.h>

#include <array>
#include <cstdlib>

#include "app/messages.h"
#include "hal/unix_socket.h"
#include "test/support/harness.h"

namespace test {

StreamReader::StreamReader(const std::string& socket)
    : reader_(std::size_t{16} << 20), buffer_(65'536) {
  auto fd = hal::connect_unix(socket);
  if (!fd) FAIL(fd.error().detail.c_str());
  fd_ = std::move(*fd);
}

bool StreamReader::read_until(const std::function<bool()>& done, Seconds within) {
  const auto until = std::chrono::steady_clock::now() + within;
  while (!done()) {
    if (ended_ || std::chrono::steady_clock::now() >= until) return false;
    pollfd waiting{fd_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, 5) <= 0) continue;
    const ssize_t n = ::read(fd_.get(), buffer_.data(), buffer_.size());
    if (n <= 0) {
      ended_ = true;
      continue;
    }
    const auto fed = reader_.feed(std::span(buffer_).first(static_cast<std::size_t>(n)), *this);
    if (!fed) FAIL(fed.error().detail.c_str());
  }
  return true;
}

void StreamReader::on_record(const hal::mcap::Record& record) {
  if (record.opcode == hal::mcap::Opcode::channel) {
    std::array<hal::mcap::KeyValue, 8> pairs;
    const auto channel = hal::mcap::decode_channel(record.content, pairs);
    CHECK(channel.has_value());
    channels_[channel->id] = channel->topic;
  }
  if (record.opcode != hal::mcap::Opcode::message) return;
  const auto message = hal::mcap::decode_message(record.content);
  CHECK(message.has_value());
  CHECK_TEXT(channels_.contains(message->channel), "a message of a channel that is not known");
  const std::string& name = channels_[message->channel];
  Topic& topic = topics_[name];
  // A notice of drops is for one client alone and repeats its channel's number.
  if (topic.messages > 0 && message->sequence != topic.sequence) {
    topic.missing += message->sequence - topic.sequence - 1;
  }
  ++topic.messages;
  topic.sequence = message->sequence;
  topic.log_time = static_cast<std::int64_t>(message->log_time);
  topic.at = std::chrono::steady_clock::now();
  if (name == "/diagnostics") return take_diagnostics(message->data, false);
  if (name == "/lidard/events") return take_diagnostics(message->data, true);
  if (name == "/tf_static" || name.starts_with("/lidard/")) return;
  if (topic.log_time < newest_) ++backward_;
  newest_ = std::max(newest_, topic.log_time);
}

void StreamReader::take_diagnostics(hal::Bytes bytes, bool are_events) {
  app::DiagnosticReader reader(bytes);
  while (const auto status = reader.next_status()) {
    std::map<std::string, std::string> values;
    const std::string name(status->name), message(status->message);
    while (const auto pair = reader.next_value()) {
      values[std::string(pair->key)] = std::string(pair->value);
    }
    if (are_events) {
      const std::string event = values["event"];
      events_.push_back({name, event, message, std::move(values)});
    } else {
      state_[name] = std::move(values);
      messages_[name] = message;
    }
  }
  CHECK(reader.ok());
}

const Event* StreamReader::event(const std::string& sensor, const std::string& event) const {
  for (auto it = events_.rbegin(); it != events_.rend(); ++it) {
    if (it->sensor == sensor && it->event == event) return &*it;
  }
  return nullptr;
}

std::string StreamReader::value(const std::string& sensor, const std::string& key) const {
  const auto state = state_.find(sensor);
  if (state == state_.end()) return "";
  const auto value = state->second.find(key);
  return value == state->second.end() ? "" : value->second;
}

std::uint64_t StreamReader::count(const std::string& sensor, const std::string& key) const {
  return std::strtoull(value(sensor, key).c_str(), nullptr, 10);
}

std::string StreamReader::message(const std::string& sensor) const {
  const auto found = messages_.find(sensor);
  return found == messages_.end() ? "" : found->second;
}

}  // namespace test
