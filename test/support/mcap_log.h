// Records that came out of an MCAP reader, kept for the test to look at.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "hal/mcap/reader.h"
#include "hal/mcap/writer.h"

namespace test {

class MemorySink final : public hal::mcap::ByteSink {
 public:
  hal::Status write(hal::Bytes b) override {
    if (bytes.size() + b.size() > limit) {
      return hal::Error{hal::Errc::no_space, 0, "memory sink", {}};
    }
    bytes.insert(bytes.end(), b.begin(), b.end());
    return hal::ok;
  }
  std::vector<std::byte> bytes;
  std::size_t limit = std::size_t{1} << 30;
};

class McapLog final : public hal::mcap::RecordSink {
 public:
  struct Message {
    std::uint16_t channel = 0;
    std::uint32_t sequence = 0;
    std::uint64_t log_time = 0;
    std::string data;
    bool operator==(const Message&) const = default;
  };

  void on_record(const hal::mcap::Record& r) override {
    opcodes.push_back(static_cast<char>(static_cast<int>(r.opcode) + 'a' - 1));
    offsets.push_back(r.offset);
    contents.emplace_back(r.content.begin(), r.content.end());
    if (r.opcode != hal::mcap::Opcode::message) return;
    const auto m = hal::mcap::decode_message(r.content);
    if (!m) return;
    std::string data;
    for (const std::byte b : m->data) data.push_back(static_cast<char>(b));
    messages.push_back({m->channel, m->sequence, m->log_time, data});
  }

  // One letter a record: a header, b footer, c schema, d channel, e message, f chunk, ...
  std::string opcodes;
  std::vector<std::uint64_t> offsets;
  std::vector<std::vector<std::byte>> contents;
  std::vector<Message> messages;
};

}  // namespace test
