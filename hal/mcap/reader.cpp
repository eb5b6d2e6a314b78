#include "hal/mcap/reader.h"

#include <algorithm>
#include <cinttypes>
#include <cstring>

namespace hal::mcap {
namespace {

constexpr std::size_t kChunkFixed = 32;      // of a chunk's content, up to its compression's text
constexpr std::size_t kMaxCompression = 16;  // "zstd" is the longest known

}  // namespace

Reader::Reader(std::size_t max_record, Begin begin)
    : buffer_(kRecordHead + std::max(max_record, kChunkFixed + kMaxCompression + 8)),
      max_record_(max_record),
      begin_(begin == Begin::magic ? State::magic : State::records),
      state_(begin_) {}

void Reader::reset() {
  state_ = begin_;
  have_ = 0;
  offset_ = section_start_ = chunk_left_ = 0;
  section_crc_ = chunk_crc_ = {};
  in_chunk_ = false;
}

Status Reader::fail(Errc code, const char* what, std::uint64_t value) {
  state_ = State::failed;
  error_ = {code, 0, "mcap: read",
            Text<192>::of("%s (%" PRIu64 ") at byte %" PRIu64, what, value, offset_)};
  return error_;
}

Status Reader::feed(Bytes in, RecordSink& sink) {
  while (!in.empty() || state_ == State::failed) {
    if (const Status s = step(in, sink); !s) return s;
  }
  return ok;
}

Status Reader::step(Bytes& in, RecordSink& sink) {
  switch (state_) {
    case State::magic:
    case State::end_magic:
      return take_magic(in);
    case State::records:
      return take_record(in, sink);
    case State::end:
      return fail(Errc::bad_config, "bytes after the end", in.size());
    case State::failed:
      return error_;
  }
  return ok;
}

// The first `size` bytes of the record at hand, in one piece; empty while they are not there.
Bytes Reader::peek(Bytes& in, std::size_t size) {
  if (have_ == 0 && in.size() >= size) return in.first(size);
  if (have_ < size) {
    const std::size_t n = std::min(size - have_, in.size());
    std::memcpy(buffer_.data() + have_, in.data(), n);
    in = in.subspan(n);
    have_ += n;
  }
  return have_ >= size ? Bytes(buffer_).first(size) : Bytes{};
}

void Reader::consume(Bytes& in, Bytes record) {
  section_crc_.add(record);
  offset_ += record.size();
  if (have_ == 0) in = in.subspan(record.size());
  have_ = 0;
}

Status Reader::take_magic(Bytes& in) {
  const Bytes magic = peek(in, kMagic.size());
  if (magic.empty()) return ok;
  if (!std::equal(magic.begin(), magic.end(), kMagic.begin())) {
    return fail(Errc::bad_config, "not the magic of MCAP");
  }
  consume(in, magic);
  state_ = state_ == State::magic ? State::records : State::end;
  return ok;
}

Status Reader::take_record(Bytes& in, RecordSink& sink) {
  const Bytes head_bytes = peek(in, kRecordHead);
  if (head_bytes.empty()) return ok;
  const RecordHead head = decode_head(head_bytes);
  if (in_chunk_ && (chunk_left_ < kRecordHead || head.length > chunk_left_ - kRecordHead)) {
    return fail(Errc::bad_config, "record longer than its chunk", head.length);
  }
  if (head.opcode == Opcode::chunk) {
    bool taken = false;
    if (const Status s = enter_chunk(in, head.length, taken); !s || taken) return s;
  }
  if (head.length > max_record_) return fail(Errc::no_space, "record too long", head.length);
  return take_whole_record(in, kRecordHead + static_cast<std::size_t>(head.length), sink);
}

Status Reader::take_whole_record(Bytes& in, std::size_t size, RecordSink& sink) {
  const Bytes record = peek(in, size);
  if (record.empty()) return ok;
  const Opcode opcode = decode_head(record).opcode;
  if (const Status s = check_section(opcode, record); !s) return s;
  sink.on_record({opcode, record.subspan(kRecordHead), offset_});
  if (in_chunk_) {
    chunk_crc_.add(record);
    chunk_left_ -= record.size();
  }
  consume(in, record);
  if (opcode == Opcode::data_end) {
    section_crc_ = {};
    section_start_ = offset_;
  }
  if (opcode == Opcode::footer) state_ = State::end_magic;
  return in_chunk_ && chunk_left_ == 0 ? leave_chunk() : ok;
}

// `taken` is false for a compressed chunk, which is a record like any other.
Status Reader::enter_chunk(Bytes& in, std::uint64_t length, bool& taken) {
  if (in_chunk_) return fail(Errc::bad_config, "chunk in a chunk", length);
  std::size_t size = kRecordHead + kChunkFixed;
  if (length < kChunkFixed + 8) return fail(Errc::bad_config, "chunk too short", length);
  Bytes bytes = peek(in, size);
  if (bytes.empty()) {
    taken = true;
    return ok;
  }
  const auto text = std::to_integer<std::size_t>(bytes[size - 4]);
  const bool is_long =
      std::any_of(bytes.end() - 3, bytes.end(), [](std::byte b) { return b != std::byte{0}; });
  if (is_long || text > kMaxCompression || length < kChunkFixed + text + 8) {
    return fail(Errc::bad_config, "compression's name too long", text);
  }
  size += text + 8;
  bytes = peek(in, size);
  if (bytes.empty()) {
    taken = true;
    return ok;
  }
  std::size_t head_size = 0;
  const auto chunk = decode_chunk_head(bytes.subspan(kRecordHead), head_size);
  if (!chunk || chunk->size != length - head_size) {
    return fail(Errc::bad_config, "chunk's size disagrees with its length", length);
  }
  if (!chunk->compression.empty()) return ok;
  chunk_left_ = chunk->size;
  chunk_expected_crc_ = chunk->uncompressed_crc;
  chunk_crc_ = {};
  in_chunk_ = taken = true;
  consume(in, bytes);
  return chunk_left_ == 0 ? leave_chunk() : ok;
}

Status Reader::leave_chunk() {
  in_chunk_ = false;
  if (chunk_expected_crc_ == 0 || chunk_expected_crc_ == chunk_crc_.value()) return ok;
  return fail(Errc::io, "wrong CRC of the chunk before", chunk_expected_crc_);
}

// Two records close a section with its CRC.
Status Reader::check_section(Opcode opcode, Bytes record) {
  const Bytes content = record.subspan(kRecordHead);
  if (opcode == Opcode::data_end) {
    const auto end = decode_data_end(content);
    if (!end || in_chunk_) return fail(Errc::bad_config, "malformed data end", content.size());
    if (end->data_crc != 0 && end->data_crc != section_crc_.value()) {
      return fail(Errc::io, "wrong CRC of the data", end->data_crc);
    }
  }
  if (opcode == Opcode::footer) {
    const auto footer = decode_footer(content);
    if (!footer || in_chunk_) return fail(Errc::bad_config, "malformed footer", content.size());
    if (footer->summary_crc == 0) return ok;
    Crc32 crc = section_crc_;
    crc.add(record.first(kFooterRecord - 4));
    if (footer->summary_start != section_start_ || footer->summary_crc != crc.value()) {
      return fail(Errc::io, "wrong CRC of the summary", footer->summary_crc);
    }
  }
  return ok;
}

}  // namespace hal::mcap
