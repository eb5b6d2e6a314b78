// What every client of a stream is told first: schemas, channels, and the latest message of each
// latched channel. Also numbers the messages.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "hal/mcap/records.h"
#include "hal/result.h"

namespace app {

struct ChannelOptions {
  std::string_view topic, message_encoding;
  std::uint16_t schema = 0;  // 0: none
  std::span<const hal::mcap::KeyValue> metadata;
  std::size_t latched_bytes = 0;  // longest message kept for those who come later; 0: not latched
};

struct DropNotice {
  std::int64_t log_time_ns = 0;
  std::uint64_t dropped = 0, total = 0;  // messages since the notice before; since the client came
};
// Returns the size of the message, 0 when it does not fit.
using DropNoticeEncoder = std::size_t (*)(const DropNotice&, std::span<std::byte> out);

class McapCatalog {
 public:
  static constexpr std::size_t kMaxLatched = 64;

  McapCatalog(std::string_view profile, std::string_view library, std::size_t max_message);

  // These allocate, unless reserve() took the memory: at start and on reload only.
  void reserve(std::size_t channels, std::size_t bytes) {
    channels_.reserve(channels_.size() + channels);
    preamble_.reserve(preamble_.size() + bytes);
  }
  hal::Result<std::uint16_t> add_schema(std::string_view name, std::string_view encoding,
                                        std::string_view text);
  hal::Result<std::uint16_t> add_channel(const ChannelOptions&);

  // Magic, header, schemas and channels. Only grows, and always ends after a whole record.
  hal::Bytes preamble() const { return preamble_; }

  struct Message {
    std::array<std::byte, hal::mcap::kMessageHead> head;
    hal::Bytes data;
    std::uint64_t log_time = 0;
    std::optional<std::uint8_t> latched;  // index of the latched channel that it belongs to
    std::size_t size() const { return head.size() + data.size(); }
  };
  // Numbers the next message of a channel; the first is 1. Empty, and counted, when it is too long
  // or has no channel.
  std::optional<Message> number(std::uint16_t channel, std::int64_t log_time_ns,
                                std::int64_t publish_time_ns, hal::Bytes data);
  void keep(const Message&);  // as the latest of its latched channel

  std::uint64_t latched_set() const { return latched_set_; }  // bit i: there is a latched(i)
  hal::Bytes latched(unsigned i) const;                       // the whole record
  std::uint64_t refused() const { return refused_; }
  std::size_t max_record() const { return hal::mcap::kMessageHead + max_message_; }

 private:
  struct Channel {
    std::uint32_t sequence = 0;
    std::size_t limit = 0;
    std::optional<std::uint8_t> latched;
  };
  struct Latched {
    std::unique_ptr<std::byte[]> record;
    std::size_t size = 0;
  };
  template <class Record>
  void append(const Record&);

  std::size_t max_message_;
  std::vector<std::byte> preamble_;
  std::uint16_t schemas_ = 0;
  std::vector<Channel> channels_;  // at id - 1
  std::vector<Latched> latched_;
  std::uint64_t latched_set_ = 0, refused_ = 0;
};

}  // namespace app
