// Saves an MCAP stream as a file: chunked, indexed, with statistics and checksums.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "app/file_writer.h"
#include "hal/mcap/reader.h"
#include "hal/mcap/writer.h"

namespace app {

// Blocks on the disk and allocates as it goes: for programs that write files, not for the daemon.
class StreamFile final : private hal::mcap::RecordSink {
 public:
  // `compressor` outlives the file; null: chunks as they are.
  static hal::Result<std::unique_ptr<StreamFile>> create(
      const std::string& path, hal::mcap::Compressor* compressor = nullptr);

  // Bytes of the stream, in any pieces. The first error is final: what was written until then is
  // whole once finish() was called.
  hal::Status feed(hal::Bytes);
  hal::Status attach(std::string_view name, std::string_view media_type, hal::Bytes);
  hal::Status finish();

  std::uint64_t messages() const { return messages_; }
  std::uint64_t bytes() const { return file_.written(); }  // of the file
  std::uint64_t lost() const { return lost_; }  // messages missing, by their sequence numbers

  static constexpr std::size_t kMaxRecord = std::size_t{16} << 20;

 private:
  struct Channel {
    std::uint16_t id = 0;  // in the file
    std::uint32_t sequence = 0;
  };

  StreamFile(FileWriter file, hal::mcap::Compressor* compressor);
  void on_record(const hal::mcap::Record&) override;
  hal::Status take(const hal::mcap::Record&);
  hal::Status take_channel(const hal::mcap::Channel&);
  hal::Status take_message(hal::mcap::Message);

  FileWriter file_;
  hal::mcap::Compressor* const compressor_;
  hal::mcap::Reader reader_;
  std::unique_ptr<hal::mcap::Writer> writer_;
  std::vector<std::uint16_t> schemas_;  // ids in the file, by id in the stream
  std::vector<Channel> channels_;       // by id in the stream
  hal::Status status_ = hal::ok;
  std::uint64_t messages_ = 0, lost_ = 0;
};

}  // namespace app
