#include "hal/mcap/records.h"

#include "hal/crc32.h"
#include "hal/mcap/fields.h"

namespace hal::mcap {
namespace {

// `body` is called twice: once to learn the length, which stands in front.
template <class Body>
std::size_t record(Opcode opcode, std::span<std::byte> out, std::uint64_t bulk, Body&& body) {
  FieldWriter measure(std::span<std::byte>{});
  body(measure);
  FieldWriter w(out);
  w.number(static_cast<std::uint8_t>(opcode));
  w.number(static_cast<std::uint64_t>(measure.size() + bulk));
  body(w);
  return w.size();
}

}  // namespace

std::size_t encode(const Header& r, std::span<std::byte> out) {
  return record(Opcode::header, out, 0, [&](FieldWriter& w) {
    w.text(r.profile);
    w.text(r.library);
  });
}

std::size_t encode(const Footer& r, std::span<std::byte> out) {
  return record(Opcode::footer, out, 0, [&](FieldWriter& w) {
    w.number(r.summary_start);
    w.number(r.summary_offset_start);
    w.number(r.summary_crc);
  });
}

std::size_t encode(const Schema& r, std::span<std::byte> out) {
  return record(Opcode::schema, out, 0, [&](FieldWriter& w) {
    w.number(r.id);
    w.text(r.name);
    w.text(r.encoding);
    w.number(static_cast<std::uint32_t>(r.data.size()));
    w.bytes(r.data);
  });
}

std::size_t encode(const Channel& r, std::span<std::byte> out) {
  return record(Opcode::channel, out, 0, [&](FieldWriter& w) {
    w.number(r.id);
    w.number(r.schema_id);
    w.text(r.topic);
    w.text(r.message_encoding);
    w.pairs(r.metadata);
  });
}

std::size_t encode(const MessageIndex& r, std::span<std::byte> out) {
  return record(Opcode::message_index, out, 0, [&](FieldWriter& w) {
    w.number(r.channel);
    w.number(static_cast<std::uint32_t>(r.entries.size() * 16));
    for (const IndexEntry& e : r.entries) w.number(e.log_time), w.number(e.offset);
  });
}

std::size_t encode(const ChunkIndex& r, std::span<std::byte> out) {
  return record(Opcode::chunk_index, out, 0, [&](FieldWriter& w) {
    for (const auto n : {r.start_time, r.end_time, r.chunk_offset, r.chunk_length}) w.number(n);
    w.number(static_cast<std::uint32_t>(r.message_indexes.size() * 10));
    for (const ChannelOffset& o : r.message_indexes) w.number(o.channel), w.number(o.offset);
    w.number(r.message_index_length);
    w.text(r.compression);
    w.number(r.compressed_size);
    w.number(r.uncompressed_size);
  });
}

std::size_t encode(const Attachment& r, std::span<std::byte> out) {
  const auto fields = [&](FieldWriter& w) {
    w.number(r.log_time);
    w.number(r.create_time);
    w.text(r.name);
    w.text(r.media_type);
    w.number(std::uint64_t{r.data.size()});
    w.bytes(r.data);
  };
  const std::size_t before_crc = record(Opcode::attachment, out, 4, fields);
  if (before_crc + 4 <= out.size()) {
    FieldWriter crc(out.subspan(before_crc));
    crc.number(crc32(out.subspan(kRecordHead, before_crc - kRecordHead)));
  }
  return before_crc + 4;
}

std::size_t encode(const AttachmentIndex& r, std::span<std::byte> out) {
  return record(Opcode::attachment_index, out, 0, [&](FieldWriter& w) {
    for (const auto n : {r.offset, r.length, r.log_time, r.create_time, r.data_size}) w.number(n);
    w.text(r.name);
    w.text(r.media_type);
  });
}

std::size_t encode(const Metadata& r, std::span<std::byte> out) {
  return record(Opcode::metadata, out, 0, [&](FieldWriter& w) {
    w.text(r.name);
    w.pairs(r.metadata);
  });
}

std::size_t encode(const MetadataIndex& r, std::span<std::byte> out) {
  return record(Opcode::metadata_index, out, 0, [&](FieldWriter& w) {
    w.number(r.offset);
    w.number(r.length);
    w.text(r.name);
  });
}

std::size_t encode(const Statistics& r, std::span<std::byte> out) {
  return record(Opcode::statistics, out, 0, [&](FieldWriter& w) {
    w.number(r.messages);
    w.number(r.schemas);
    for (const auto n : {r.channels, r.attachments, r.metadata, r.chunks}) w.number(n);
    w.number(r.start_time);
    w.number(r.end_time);
    w.number(static_cast<std::uint32_t>(r.channel_counts.size() * 10));
    for (const ChannelCount& c : r.channel_counts) w.number(c.channel), w.number(c.messages);
  });
}

std::size_t encode(const SummaryOffset& r, std::span<std::byte> out) {
  return record(Opcode::summary_offset, out, 0, [&](FieldWriter& w) {
    w.number(static_cast<std::uint8_t>(r.group));
    w.number(r.start);
    w.number(r.length);
  });
}

std::size_t encode(const DataEnd& r, std::span<std::byte> out) {
  return record(Opcode::data_end, out, 0, [&](FieldWriter& w) { w.number(r.data_crc); });
}

std::array<std::byte, kMessageHead> encode_head(const Message& r) {
  std::array<std::byte, kMessageHead> head;
  record(Opcode::message, head, r.data.size(), [&](FieldWriter& w) {
    w.number(r.channel);
    w.number(r.sequence);
    w.number(r.log_time);
    w.number(r.publish_time);
  });
  return head;
}

std::size_t encode_head(const Chunk& r, std::span<std::byte> out) {
  return record(Opcode::chunk, out, r.size, [&](FieldWriter& w) {
    for (const auto n : {r.start_time, r.end_time, r.uncompressed_size}) w.number(n);
    w.number(r.uncompressed_crc);
    w.text(r.compression);
    w.number(r.size);
  });
}

std::optional<Header> decode_header(Bytes content) {
  FieldReader r(content);
  Header h;
  h.profile = r.text();
  h.library = r.text();
  if (!r.ok()) return {};
  return h;
}

std::optional<Footer> decode_footer(Bytes content) {
  FieldReader r(content);
  Footer f;
  f.summary_start = r.number<std::uint64_t>();
  f.summary_offset_start = r.number<std::uint64_t>();
  f.summary_crc = r.number<std::uint32_t>();
  if (!r.ok()) return {};
  return f;
}

std::optional<Schema> decode_schema(Bytes content) {
  FieldReader r(content);
  Schema s;
  s.id = r.number<std::uint16_t>();
  s.name = r.text();
  s.encoding = r.text();
  s.data = r.bytes(r.number<std::uint32_t>());
  if (!r.ok()) return {};
  return s;
}

std::optional<Channel> decode_channel(Bytes content, std::span<KeyValue> pairs) {
  FieldReader r(content);
  Channel c;
  c.id = r.number<std::uint16_t>();
  c.schema_id = r.number<std::uint16_t>();
  c.topic = r.text();
  c.message_encoding = r.text();
  c.metadata = r.pairs(pairs);
  if (!r.ok()) return {};
  return c;
}

std::optional<Message> decode_message(Bytes content) {
  FieldReader r(content);
  Message m;
  m.channel = r.number<std::uint16_t>();
  m.sequence = r.number<std::uint32_t>();
  m.log_time = r.number<std::uint64_t>();
  m.publish_time = r.number<std::uint64_t>();
  m.data = r.rest();
  if (!r.ok()) return {};
  return m;
}

std::optional<Attachment> decode_attachment(Bytes content) {
  FieldReader r(content);
  Attachment a;
  a.log_time = r.number<std::uint64_t>();
  a.create_time = r.number<std::uint64_t>();
  a.name = r.text();
  a.media_type = r.text();
  a.data = r.bytes(r.number<std::uint64_t>());
  const std::size_t covered = content.size() - r.rest().size();
  const std::uint32_t crc = r.number<std::uint32_t>();
  if (!r.ok() || (crc != 0 && crc != crc32(content.first(covered)))) return {};
  return a;
}

std::optional<Metadata> decode_metadata(Bytes content, std::span<KeyValue> pairs) {
  FieldReader r(content);
  Metadata m;
  m.name = r.text();
  m.metadata = r.pairs(pairs);
  if (!r.ok()) return {};
  return m;
}

std::optional<Statistics> decode_statistics(Bytes content, std::span<ChannelCount> counts) {
  FieldReader r(content);
  Statistics s;
  s.messages = r.number<std::uint64_t>();
  s.schemas = r.number<std::uint16_t>();
  for (std::uint32_t* n : {&s.channels, &s.attachments, &s.metadata, &s.chunks}) {
    *n = r.number<std::uint32_t>();
  }
  s.start_time = r.number<std::uint64_t>();
  s.end_time = r.number<std::uint64_t>();
  FieldReader map(r.bytes(r.number<std::uint32_t>()));
  std::size_t n = 0;
  while (map.ok() && !map.rest().empty()) {
    const auto channel = map.number<std::uint16_t>();
    const auto messages = map.number<std::uint64_t>();
    if (map.ok() && n < counts.size()) counts[n++] = {channel, messages};
  }
  s.channel_counts = counts.first(n);
  if (!r.ok() || !map.ok()) return {};
  return s;
}

std::optional<DataEnd> decode_data_end(Bytes content) {
  FieldReader r(content);
  const DataEnd d{r.number<std::uint32_t>()};
  if (!r.ok()) return {};
  return d;
}

std::optional<Chunk> decode_chunk_head(Bytes content, std::size_t& head_size) {
  FieldReader r(content);
  Chunk c;
  c.start_time = r.number<std::uint64_t>();
  c.end_time = r.number<std::uint64_t>();
  c.uncompressed_size = r.number<std::uint64_t>();
  c.uncompressed_crc = r.number<std::uint32_t>();
  c.compression = r.text();
  c.size = r.number<std::uint64_t>();
  head_size = content.size() - r.rest().size();
  if (!r.ok()) return {};
  return c;
}

RecordHead decode_head(Bytes bytes) {
  FieldReader r(bytes);
  const auto opcode = static_cast<Opcode>(r.number<std::uint8_t>());
  return {opcode, r.number<std::uint64_t>()};
}

}  // namespace hal::mcap
