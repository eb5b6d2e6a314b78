// Reads MCAP pushed in pieces of any size: files, and streams that never end.
#pragma once

#include <vector>

#include "hal/crc32.h"
#include "hal/mcap/records.h"
#include "hal/result.h"

namespace hal::mcap {

struct Record {
  Opcode opcode{};
  Bytes content;             // for decode_*(); valid only during the call that delivers it
  std::uint64_t offset = 0;  // of its first byte in the bytes fed
};

class RecordSink {
 public:
  virtual void on_record(const Record&) = 0;

 protected:
  ~RecordSink() = default;
};

// Records are delivered in order as soon as they are whole; those inside of an uncompressed chunk
// as if there were no chunk. A compressed chunk is delivered as it is: feed what it contains to a
// reader of its own that starts at Begin::records. Unknown opcodes are delivered too.
//
// Every CRC is verified, an attachment's by decode_attachment(). The first fault is final and says
// the offset: bad_config = not MCAP or malformed, no_space = a record longer than max_record, io =
// a CRC. Nothing is allocated after the constructor, which takes max_record bytes.
class Reader {
 public:
  enum class Begin { magic, records };

  explicit Reader(std::size_t max_record, Begin = Begin::magic);
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  Status feed(Bytes, RecordSink&);
  void reset();  // to read another one from its beginning, in the memory that it has

  // The closing magic has been seen. False after the last feed: a stream, or a truncated file, of
  // which everything whole has been delivered.
  bool finished() const { return state_ == State::end; }
  std::uint64_t partial() const { return have_; }  // bytes of a record that is not whole yet

 private:
  enum class State { magic, records, end_magic, end, failed };

  Status step(Bytes& in, RecordSink&);
  Status take_magic(Bytes& in);
  Status take_record(Bytes& in, RecordSink&);
  Status take_whole_record(Bytes& in, std::size_t size, RecordSink&);
  Status enter_chunk(Bytes& in, std::uint64_t length, bool& taken);
  Status leave_chunk();
  Status check_section(Opcode, Bytes record);
  Bytes peek(Bytes& in, std::size_t size);
  void consume(Bytes& in, Bytes record);
  Status fail(Errc, const char* what, std::uint64_t value = 0);

  std::vector<std::byte> buffer_;  // the record that is not whole yet
  std::size_t max_record_, have_ = 0;
  State begin_, state_;
  Error error_;
  std::uint64_t offset_ = 0;  // of the record at hand
  std::uint64_t section_start_ = 0;
  Crc32 section_crc_, chunk_crc_;
  bool in_chunk_ = false;
  std::uint64_t chunk_left_ = 0;
  std::uint32_t chunk_expected_crc_ = 0;
};

}  // namespace hal::mcap
