// The stream saved as files in each of which time only grows: where the wall clock was set back, a
// new one begins, and where one is as large or as long as it may be.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/stream_file.h"

namespace lidarctl {

struct SegmentLimits {
  std::uint64_t bytes = 0;                      // of a file, about: a chunk more; 0: no limit
  std::uint64_t ns = 0;                         // from its first message; 0: no limit
  std::uint64_t total_bytes = 0;                // of all: the oldest are removed; 0: no limit
  hal::mcap::Compressor* compressor = nullptr;  // outlives the file; null: none
};

// run.mcap, then run.1.mcap, run.2.mcap and so on, without those numbers that are there already;
// each is whole by itself, with the newest static transforms and configuration at its beginning. A
// forward step of the clock begins no file: readers see a gap.
class SegmentedFile final : private hal::mcap::RecordSink {
 public:
  static hal::Result<std::unique_ptr<SegmentedFile>> create(const std::string& path,
                                                            const SegmentLimits& limits = {});

  // Bytes of the stream, in any pieces. The first error is final.
  hal::Status feed(hal::Bytes);
  hal::Status finish();

  struct Part {
    std::string path;
    std::uint64_t messages = 0, bytes = 0, lost = 0;  // see StreamFile
  };
  const std::vector<Part>& parts() const { return parts_; }  // whole once finish() was called
  std::uint64_t removed() const { return removed_; }         // files, for `total_bytes`
  std::uint64_t messages() const;  // of all parts, also while it is written
  std::uint64_t bytes() const;

 private:
  SegmentedFile(std::string path, const SegmentLimits& limits);
  void on_record(const hal::mcap::Record&) override;
  hal::Status take(const hal::mcap::Record&);
  hal::Status take_message(const hal::mcap::Record&);
  hal::Status begin_part();
  hal::Status end_part();
  hal::Status begin_next(std::uint64_t log_time);
  bool is_full(std::uint64_t log_time) const;
  void remove_oldest();
  hal::Status put(hal::mcap::Opcode, hal::Bytes content);

  using Content = std::vector<std::byte>;
  struct Declared {
    hal::mcap::Opcode opcode;
    Content content;
  };

  const std::string path_;
  const SegmentLimits limits_;
  hal::mcap::Reader reader_;
  std::unique_ptr<app::StreamFile> file_;
  std::vector<Part> parts_;
  std::size_t next_number_ = 0;   // of the next file
  std::uint64_t part_began_ = 0;  // log time of its first message; 0: none yet
  std::uint64_t removed_ = 0;
  std::vector<Declared> declared_;  // header, schemas and channels, as they came
  std::map<std::uint16_t, std::string> topics_;
  std::map<std::string, Content> latched_;  // newest message, by topic
  hal::Status status_ = hal::ok;
};

}  // namespace lidarctl
