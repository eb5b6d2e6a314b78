// The stream saved as files in each of which time only grows: where the wall clock was set back, a
// new one begins.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "app/stream_file.h"

namespace lidarctl {

// run.mcap, then run.1.mcap, run.2.mcap and so on; each is whole by itself, with the newest static
// transforms and configuration at its beginning. A forward step begins no file: readers see a gap.
class SegmentedFile final : private hal::mcap::RecordSink {
 public:
  static hal::Result<std::unique_ptr<SegmentedFile>> create(const std::string& path);

  // Bytes of the stream, in any pieces. The first error is final.
  hal::Status feed(hal::Bytes);
  hal::Status finish();

  struct Part {
    std::string path;
    std::uint64_t messages = 0, bytes = 0, lost = 0;  // see StreamFile
  };
  const std::vector<Part>& parts() const { return parts_; }  // whole once finish() was called

 private:
  explicit SegmentedFile(std::string path);
  void on_record(const hal::mcap::Record&) override;
  hal::Status take(const hal::mcap::Record&);
  hal::Status take_message(const hal::mcap::Record&);
  hal::Status begin_part();
  hal::Status end_part();
  hal::Status begin_next(std::uint64_t log_time);
  hal::Status put(hal::mcap::Opcode, hal::Bytes content);

  using Content = std::vector<std::byte>;
  struct Declared {
    hal::mcap::Opcode opcode;
    Content content;
  };

  const std::string path_;
  hal::mcap::Reader reader_;
  std::unique_ptr<app::StreamFile> file_;
  std::vector<Part> parts_;
  std::vector<Declared> declared_;  // header, schemas and channels, as they came
  std::map<std::uint16_t, std::string> topics_;
  std::map<std::string, Content> latched_;  // newest message, by topic
  hal::Status status_ = hal::ok;
};

}  // namespace lidarctl
