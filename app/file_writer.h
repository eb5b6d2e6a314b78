// A file that takes bytes in order, from its creation to its end.
#pragma once

#include <cstdint>
#include <string>

#include "hal/mcap/writer.h"
#include "hal/unique_fd.h"

namespace app {

// Blocks on the disk: for programs that write files, not for the daemon. Errors name the path, the
// cause and what had been written.
class FileWriter final : public hal::mcap::ByteSink {
 public:
  FileWriter() = default;  // without a file: takes everything and keeps nothing
  static hal::Result<FileWriter> create(const std::string& path);  // or empties it

  hal::Status write(hal::Bytes) override;
  std::uint64_t written() const { return written_; }  // bytes

 private:
  FileWriter(std::string path, hal::UniqueFd fd) : path_(std::move(path)), fd_(std::move(fd)) {}

  std::string path_;
  hal::UniqueFd fd_;
  std::uint64_t written_ = 0;
};

}  // namespace app
