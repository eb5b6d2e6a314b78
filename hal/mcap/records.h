// The records of an MCAP file (https://mcap.dev/spec), byte by byte. Knows nothing of messages.
//
// Every record is u8 opcode, u64 length, content; all numbers are little-endian. Texts and spans
// in a record are views: of the caller's data when encoding, of the bytes given when decoding.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hal/bytes.h"

namespace hal::mcap {

enum class Opcode : std::uint8_t {
  header = 1,
  footer,
  schema,
  channel,
  message,
  chunk,
  message_index,
  chunk_index,
  attachment,
  attachment_index,
  statistics,
  metadata,
  metadata_index,
  summary_offset,
  data_end,
};

// The first and the last bytes of a file.
inline constexpr std::array<std::byte, 8> kMagic{std::byte{0x89}, std::byte{'M'}, std::byte{'C'},
                                                 std::byte{'A'},  std::byte{'P'}, std::byte{'0'},
                                                 std::byte{'\r'}, std::byte{'\n'}};

inline constexpr std::size_t kRecordHead = 9;                  // opcode and length
inline constexpr std::size_t kMessageHead = kRecordHead + 22;  // all of a message but its data
inline constexpr std::size_t kFooterRecord = kRecordHead + 20;

struct KeyValue {
  std::string_view key, value;
};

struct Header {
  std::string_view profile, library;
};

struct Footer {
  std::uint64_t summary_start = 0, summary_offset_start = 0;  // file offsets; 0: there is none
  std::uint32_t summary_crc = 0;                              // 0: not computed
};

struct Schema {
  std::uint16_t id = 0;  // never 0 in a file
  std::string_view name, encoding;
  Bytes data;
};

struct Channel {
  std::uint16_t id = 0, schema_id = 0;  // schema 0: none
  std::string_view topic, message_encoding;
  std::span<const KeyValue> metadata;
};

struct Message {
  std::uint16_t channel = 0;
  std::uint32_t sequence = 0;
  std::uint64_t log_time = 0, publish_time = 0;  // ns
  Bytes data;
};

struct Chunk {
  std::uint64_t start_time = 0, end_time = 0, uncompressed_size = 0;
  std::uint32_t uncompressed_crc = 0;  // 0: not computed
  std::string_view compression;        // empty, "lz4" or "zstd"
  std::uint64_t size = 0;              // of the records that follow, as stored
};

struct IndexEntry {
  std::uint64_t log_time = 0, offset = 0;  // within the uncompressed chunk
};

struct MessageIndex {
  std::uint16_t channel = 0;
  std::span<const IndexEntry> entries;
};

struct ChannelOffset {
  std::uint16_t channel = 0;
  std::uint64_t offset = 0;
};

struct ChunkIndex {
  std::uint64_t start_time = 0, end_time = 0, chunk_offset = 0, chunk_length = 0;
  std::span<const ChannelOffset> message_indexes;
  std::uint64_t message_index_length = 0;
  std::string_view compression;
  std::uint64_t compressed_size = 0, uncompressed_size = 0;
};

struct Attachment {
  std::uint64_t log_time = 0, create_time = 0;
  std::string_view name, media_type;
  Bytes data;
};

struct AttachmentIndex {
  std::uint64_t offset = 0, length = 0, log_time = 0, create_time = 0, data_size = 0;
  std::string_view name, media_type;
};

struct Metadata {
  std::string_view name;
  std::span<const KeyValue> metadata;
};

struct MetadataIndex {
  std::uint64_t offset = 0, length = 0;
  std::string_view name;
};

struct ChannelCount {
  std::uint16_t channel = 0;
  std::uint64_t messages = 0;
};

struct Statistics {
  std::uint64_t messages = 0;
  std::uint16_t schemas = 0;
  std::uint32_t channels = 0, attachments = 0, metadata = 0, chunks = 0;
  std::uint64_t start_time = 0, end_time = 0;
  std::span<const ChannelCount> channel_counts;
};

struct SummaryOffset {
  Opcode group{};
  std::uint64_t start = 0, length = 0;
};

struct DataEnd {
  std::uint32_t data_crc = 0;  // of all bytes before this record; 0: not computed
};

// Writes the whole record and returns its size. When `out` is smaller than that nothing useful is
// in it: encode into an empty span to learn the size.
std::size_t encode(const Header&, std::span<std::byte> out);
std::size_t encode(const Footer&, std::span<std::byte> out);
std::size_t encode(const Schema&, std::span<std::byte> out);
std::size_t encode(const Channel&, std::span<std::byte> out);
std::size_t encode(const MessageIndex&, std::span<std::byte> out);
std::size_t encode(const ChunkIndex&, std::span<std::byte> out);
std::size_t encode(const Attachment&, std::span<std::byte> out);  // its CRC is computed
std::size_t encode(const AttachmentIndex&, std::span<std::byte> out);
std::size_t encode(const Metadata&, std::span<std::byte> out);
std::size_t encode(const MetadataIndex&, std::span<std::byte> out);
std::size_t encode(const Statistics&, std::span<std::byte> out);
std::size_t encode(const SummaryOffset&, std::span<std::byte> out);
std::size_t encode(const DataEnd&, std::span<std::byte> out);
// Without the bulk at their end, which the caller writes after it: a message's data, a chunk's
// records (`size` bytes).
std::array<std::byte, kMessageHead> encode_head(const Message&);
std::size_t encode_head(const Chunk&, std::span<std::byte> out);

// From the content of a record (what follows its length); empty when it is malformed. Pairs that
// do not fit into `pairs` (`counts`) are left out.
std::optional<Header> decode_header(Bytes);
std::optional<Footer> decode_footer(Bytes);
std::optional<Schema> decode_schema(Bytes);
std::optional<Channel> decode_channel(Bytes, std::span<KeyValue> pairs);
std::optional<Message> decode_message(Bytes);
std::optional<Attachment> decode_attachment(Bytes);  // also empty when its CRC is wrong
std::optional<Metadata> decode_metadata(Bytes, std::span<KeyValue> pairs);
std::optional<Statistics> decode_statistics(Bytes, std::span<ChannelCount> counts);
std::optional<DataEnd> decode_data_end(Bytes);
// Needs only the beginning of the content; `head_size` becomes what it took.
std::optional<Chunk> decode_chunk_head(Bytes, std::size_t& head_size);

// Opcode and length of the record that begins here (at least kRecordHead bytes).
struct RecordHead {
  Opcode opcode{};
  std::uint64_t length = 0;
};
RecordHead decode_head(Bytes);

}  // namespace hal::mcap
