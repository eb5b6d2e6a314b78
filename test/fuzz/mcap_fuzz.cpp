// Any bytes as an MCAP file, cut by the first byte, and every record's content.
#include <cstdlib>

#include "hal/mcap/reader.h"

namespace {

namespace mcap = hal::mcap;

struct Sink final : mcap::RecordSink {
  void on_record(const mcap::Record& record) override {
    if (record.offset + record.content.size() > fed) std::abort();
    decode(record);
  }
  void decode(const mcap::Record& record) {
    using mcap::Opcode;
    std::array<mcap::KeyValue, 4> pairs;
    std::array<mcap::ChannelCount, 4> counts;
    std::size_t head = 0;
    switch (record.opcode) {
      case Opcode::schema:
        if (const auto s = mcap::decode_schema(record.content)) read(s->data), read(s->name);
        return;
      case Opcode::channel:
        if (const auto c = mcap::decode_channel(record.content, pairs)) {
          read(c->topic);
          for (const mcap::KeyValue& pair : c->metadata) read(pair.key), read(pair.value);
        }
        return;
      case Opcode::message:
        if (const auto m = mcap::decode_message(record.content)) read(m->data);
        return;
      case Opcode::attachment:
        if (const auto a = mcap::decode_attachment(record.content)) read(a->data), read(a->name);
        return;
      case Opcode::metadata:
        if (const auto m = mcap::decode_metadata(record.content, pairs)) read(m->name);
        return;
      case Opcode::statistics:
        static_cast<void>(mcap::decode_statistics(record.content, counts));
        return;
      case Opcode::chunk:
        if (const auto c = mcap::decode_chunk_head(record.content, head)) {
          read(c->compression);
          if (head > record.content.size()) std::abort();
        }
        return;
      default:
        static_cast<void>(mcap::decode_header(record.content));
        static_cast<void>(mcap::decode_footer(record.content));
        static_cast<void>(mcap::decode_data_end(record.content));
    }
  }
  // Touches every byte.
  void read(hal::Bytes bytes) {
    for (const std::byte b : bytes) sum += std::to_integer<unsigned>(b);
  }
  void read(std::string_view text) { read(std::as_bytes(std::span(text))); }
  std::uint64_t fed = 0;
  unsigned sum = 0;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const std::size_t piece = data[0] + std::size_t{1};
  hal::Bytes input = std::as_bytes(std::span(data + 1, size - 1));
  mcap::Reader reader(4096,
                      data[0] % 2 == 0 ? mcap::Reader::Begin::magic : mcap::Reader::Begin::records);
  Sink sink;
  while (!input.empty()) {
    const hal::Bytes part = input.first(std::min(piece, input.size()));
    input = input.subspan(part.size());
    sink.fed += part.size();
    if (!reader.feed(part, sink)) break;
    if (reader.partial() > sink.fed) std::abort();
  }
  return 0;
}
