// Writes one MCAP file from its first to its last byte, without seeking.
#pragma once

#include <optional>
#include <vector>

#include "hal/crc32.h"
#include "hal/mcap/records.h"
#include "hal/result.h"

namespace hal::mcap {

// Takes bytes in order: all of them, or an error.
class ByteSink {
 public:
  virtual Status write(Bytes) = 0;

 protected:
  ~ByteSink() = default;
};

// Makes chunks smaller.
class Compressor {
 public:
  virtual ~Compressor() = default;
  virtual std::string_view name() const = 0;  // as the chunk names it: "zstd", "lz4"
  virtual Result<Bytes> compress(Bytes) = 0;  // valid until the next call
};

struct WriterOptions {
  std::string_view profile, library;
  std::size_t chunk_size = std::size_t{1} << 20;  // bytes of records; 0: no chunks, no index
  Compressor* compressor = nullptr;               // outlives the writer; null: chunks as they are
};

// start(), then anything else in any order, then finish(). Schemas and channels come before their
// messages. A chunk is written when the next message would not fit; a message that is larger than
// a chunk gets one for itself. The first error is final: every later call returns it.
//
// The chunk buffer is taken by the constructor and grows only for a longer message; the index grows
// with the file by about 60 + 10 * channels bytes a chunk. So this is for programs that write
// files, not for the daemon.
class Writer {
 public:
  Writer(ByteSink&, const WriterOptions&);
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  Status start();
  Result<std::uint16_t> add_schema(std::string_view name, std::string_view encoding, Bytes data);
  Result<std::uint16_t> add_channel(std::string_view topic, std::uint16_t schema,
                                    std::string_view message_encoding,
                                    std::span<const KeyValue> metadata);
  Status write(const Message&);  // bad_config when its channel was not added
  Status write(const Attachment&);
  Status write(const Metadata&);
  Status flush();   // closes the chunk, so that all of it is with the sink
  Status finish();  // index, statistics and footer

  std::uint64_t offset() const { return offset_; }  // bytes given to the sink so far

 private:
  struct PerChannel {
    std::uint64_t messages = 0;
    std::vector<IndexEntry> index;  // of the chunk being filled
  };

  Status put(Bytes);
  template <class Record>
  Status put_record(const Record&);
  Status write_message_indexes(ChunkIndex&);
  void count(const Message&);
  Status write_summary(std::uint64_t start);
  void statistics();

  ByteSink& sink_;
  WriterOptions options_;
  std::optional<Error> error_;
  std::uint64_t offset_ = 0;
  Crc32 crc_;  // of the section being written
  std::vector<std::byte> chunk_;
  std::uint64_t chunk_start_ = 0, chunk_end_ = 0;
  std::vector<PerChannel> channels_;  // at id - 1
  Statistics stats_;
  // The summary, as encoded records, in the order of the file.
  struct Group {
    Opcode opcode;
    std::vector<std::byte> bytes;
  };
  enum { kSchemas, kChannels, kStatistics, kChunks, kAttachments, kMetadata };
  std::array<Group, 6> summary_{{{Opcode::schema, {}},
                                 {Opcode::channel, {}},
                                 {Opcode::statistics, {}},
                                 {Opcode::chunk_index, {}},
                                 {Opcode::attachment_index, {}},
                                 {Opcode::metadata_index, {}}}};
  std::vector<std::byte> scratch_;
};

}  // namespace hal::mcap
