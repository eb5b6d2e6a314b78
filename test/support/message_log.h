// Keeps every message that is published, in memory taken beforehand.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "app/message_sink.h"

namespace test {

class MessageLog final : public app::MessageSink {
 public:
  struct Message {
    app::ChannelId channel;
    std::int64_t log_time, publish_time;
    std::size_t begin, size;  // in the bytes
    bool operator==(const Message&) const = default;
  };

  explicit MessageLog(std::size_t room = std::size_t{1} << 20) : scratch_(1 << 20) {
    bytes_.reserve(room);
    messages_.reserve(room / 100);
  }

  hal::Result<app::ChannelId> add_channel(std::string_view topic, const app::MessageType& type,
                                          std::size_t latched_bytes) override {
    topics.emplace_back(topic);
    types.emplace_back(type.name);
    definitions.emplace_back(type.definition);
    latched.push_back(latched_bytes);
    return static_cast<app::ChannelId>(topics.size());
  }
  std::span<std::byte> scratch() override { return scratch_; }
  void publish(app::ChannelId channel, std::int64_t log_time, std::int64_t publish_time,
               hal::Bytes bytes) override {
    messages_.push_back({channel, log_time, publish_time, bytes_.size(), bytes.size()});
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }

  const std::vector<Message>& messages() const { return messages_; }
  hal::Bytes bytes_of(const Message& m) const {
    return hal::Bytes(bytes_).subspan(m.begin, m.size);
  }
  const std::string& topic_of(const Message& m) const { return topics[m.channel - 1u]; }
  std::vector<Message> on(std::string_view topic) const {
    std::vector<Message> found;
    std::ranges::copy_if(messages_, std::back_inserter(found),
                         [&](const Message& m) { return topic_of(m) == topic; });
    return found;
  }
  // Where two logs part; empty when they are the same to the byte.
  std::string difference(const MessageLog& other) const {
    const std::size_t n = std::min(messages_.size(), other.messages_.size());
    for (std::size_t i = 0; i < n; ++i) {
      const Message &a = messages_[i], &b = other.messages_[i];
      if (a == b && std::ranges::equal(bytes_of(a), other.bytes_of(b))) continue;
      return "message " + std::to_string(i) + ", " + in_words(a) + " against " + other.in_words(b);
    }
    if (messages_.size() == other.messages_.size()) return "";
    return std::to_string(messages_.size()) + " messages against " +
           std::to_string(other.messages_.size());
  }

  std::vector<std::string> topics, types, definitions;
  std::vector<std::size_t> latched;

 private:
  std::string in_words(const Message& m) const {
    return topic_of(m) + " at " + std::to_string(m.log_time) + " published " +
           std::to_string(m.publish_time) + " of " + std::to_string(m.size) + " bytes";
  }

  std::vector<Message> messages_;
  std::vector<std::byte> bytes_, scratch_;
};

}  // namespace test
