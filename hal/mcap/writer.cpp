#include "hal/mcap/writer.h"

#include <algorithm>
#include <limits>

namespace hal::mcap {
namespace {

template <class Record>
void append(const Record& record, std::vector<std::byte>& to) {
  const std::size_t before = to.size();
  to.resize(before + encode(record, {}));
  encode(record, std::span(to).subspan(before));
}

void append_bytes(Bytes bytes, std::vector<std::byte>& to) {
  to.insert(to.end(), bytes.begin(), bytes.end());
}

}  // namespace

Writer::Writer(ByteSink& sink, const WriterOptions& options) : sink_(sink), options_(options) {
  chunk_.reserve(options_.chunk_size);
}

Status Writer::put(Bytes bytes) {
  if (error_) return *error_;
  if (const Status s = sink_.write(bytes); !s) {
    error_ = s.error();
    return s;
  }
  offset_ += bytes.size();
  crc_.add(bytes);
  return ok;
}

template <class Record>
Status Writer::put_record(const Record& record) {
  scratch_.clear();
  append(record, scratch_);
  return put(scratch_);
}

Status Writer::start() {
  if (const Status s = put(kMagic); !s) return s;
  return put_record(Header{options_.profile, options_.library});
}

Result<std::uint16_t> Writer::add_schema(std::string_view name, std::string_view encoding,
                                         Bytes data) {
  if (stats_.schemas == std::numeric_limits<std::uint16_t>::max()) {
    return Error{Errc::no_space, 0, "mcap: add schema", {}};
  }
  const auto id = static_cast<std::uint16_t>(stats_.schemas + 1);
  const Schema schema{id, name, encoding, data};
  if (const Status s = put_record(schema); !s) return s.error();
  append(schema, summary_[kSchemas].bytes);
  stats_.schemas = id;
  return id;
}

Result<std::uint16_t> Writer::add_channel(std::string_view topic, std::uint16_t schema,
                                          std::string_view message_encoding,
                                          std::span<const KeyValue> metadata) {
  if (channels_.size() == std::numeric_limits<std::uint16_t>::max() || schema > stats_.schemas) {
    return Error{schema > stats_.schemas ? Errc::bad_config : Errc::no_space, 0,
                 "mcap: add channel", Text<192>::of("schema %u", unsigned{schema})};
  }
  const auto id = static_cast<std::uint16_t>(channels_.size() + 1);
  const Channel channel{id, schema, topic, message_encoding, metadata};
  if (const Status s = put_record(channel); !s) return s.error();
  append(channel, summary_[kChannels].bytes);
  channels_.emplace_back();
  ++stats_.channels;
  return id;
}

void Writer::count(const Message& m) {
  const bool first = stats_.messages++ == 0;
  stats_.start_time = first ? m.log_time : std::min(stats_.start_time, m.log_time);
  stats_.end_time = first ? m.log_time : std::max(stats_.end_time, m.log_time);
  PerChannel& channel = channels_[m.channel - 1U];
  ++channel.messages;
  if (options_.chunk_size == 0) return;
  chunk_start_ = chunk_.empty() ? m.log_time : std::min(chunk_start_, m.log_time);
  chunk_end_ = chunk_.empty() ? m.log_time : std::max(chunk_end_, m.log_time);
  channel.index.push_back({m.log_time, chunk_.size()});
}

Status Writer::write(const Message& m) {
  if (error_) return *error_;
  if (m.channel == 0 || m.channel > channels_.size()) {
    return Error{Errc::bad_config, 0, "mcap: write message",
                 Text<192>::of("channel %u", unsigned{m.channel})};
  }
  const auto head = encode_head(m);
  const std::size_t size = head.size() + m.data.size();
  if (!chunk_.empty() && chunk_.size() + size > options_.chunk_size) {
    if (const Status s = flush(); !s) return s;
  }
  count(m);
  if (options_.chunk_size == 0) {
    if (const Status s = put(head); !s) return s;
    return put(m.data);
  }
  append_bytes(head, chunk_);
  append_bytes(m.data, chunk_);
  return ok;
}

Status Writer::flush() {
  if (error_) return *error_;
  if (chunk_.empty()) return ok;
  Bytes stored = chunk_;
  std::string_view compression;
  if (options_.compressor != nullptr) {
    const Result<Bytes> smaller = options_.compressor->compress(chunk_);
    if (!smaller) return *(error_ = smaller.error());
    stored = *smaller;
    compression = options_.compressor->name();
  }
  std::array<std::byte, 64> head{};
  const std::size_t head_size = encode_head(
      Chunk{chunk_start_, chunk_end_, chunk_.size(), crc32(chunk_), compression, stored.size()},
      head);

  ChunkIndex index{chunk_start_, chunk_end_,    offset_,      head_size + stored.size(), {}, 0,
                   compression,  stored.size(), chunk_.size()};
  for (const Bytes part : {Bytes(head).first(head_size), stored}) {
    if (const Status s = put(part); !s) return s;
  }
  ++stats_.chunks;
  chunk_.clear();
  return write_message_indexes(index);
}

Status Writer::write_message_indexes(ChunkIndex& index) {
  std::vector<ChannelOffset> offsets;
  const std::uint64_t start = offset_;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    if (channels_[i].index.empty()) continue;
    const auto id = static_cast<std::uint16_t>(i + 1);
    offsets.push_back({id, offset_});
    if (const Status s = put_record(MessageIndex{id, channels_[i].index}); !s) return s;
    channels_[i].index.clear();
  }
  index.message_indexes = offsets;
  index.message_index_length = offset_ - start;
  append(index, summary_[kChunks].bytes);
  return ok;
}

Status Writer::write(const Attachment& a) {
  if (const Status s = flush(); !s) return s;
  const std::uint64_t at = offset_;
  if (const Status s = put_record(a); !s) return s;
  append(AttachmentIndex{at, offset_ - at, a.log_time, a.create_time, a.data.size(), a.name,
                         a.media_type},
         summary_[kAttachments].bytes);
  ++stats_.attachments;
  return ok;
}

Status Writer::write(const Metadata& m) {
  if (const Status s = flush(); !s) return s;
  const std::uint64_t at = offset_;
  if (const Status s = put_record(m); !s) return s;
  append(MetadataIndex{at, offset_ - at, m.name}, summary_[kMetadata].bytes);
  ++stats_.metadata;
  return ok;
}

void Writer::statistics() {
  std::vector<ChannelCount> counts;
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    counts.push_back({static_cast<std::uint16_t>(i + 1), channels_[i].messages});
  }
  stats_.channel_counts = counts;
  append(stats_, summary_[kStatistics].bytes);
  stats_.channel_counts = {};
}

Status Writer::finish() {
  if (const Status s = flush(); !s) return s;
  if (const Status s = put_record(DataEnd{crc_.value()}); !s) return s;
  crc_ = {};
  statistics();
  return write_summary(offset_);
}

Status Writer::write_summary(std::uint64_t start) {
  std::vector<std::byte> offsets;
  for (const Group& group : summary_) {
    if (group.bytes.empty()) continue;
    append(SummaryOffset{group.opcode, offset_, group.bytes.size()}, offsets);
    if (const Status s = put(group.bytes); !s) return s;
  }
  Footer footer{start, offset_, 0};
  if (const Status s = put(offsets); !s) return s;
  // The CRC covers the footer up to itself.
  std::array<std::byte, kFooterRecord> record{};
  encode(footer, record);
  Crc32 crc = crc_;
  crc.add(Bytes(record).first(record.size() - 4));
  footer.summary_crc = crc.value();
  encode(footer, record);
  if (const Status s = put(record); !s) return s;
  return put(kMagic);
}

}  // namespace hal::mcap
