#include "app/file_writer.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace app {

hal::Result<FileWriter> FileWriter::create(const std::string& path) {
  hal::UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  if (!fd) {
    const int sys = errno;
    return hal::Error{hal::Errc::io, sys, "file: create",
                      hal::Text<192>::of("%s: %s", path.c_str(), std::strerror(sys))};
  }
  return FileWriter(path, std::move(fd));
}

hal::Status FileWriter::write(hal::Bytes bytes) {
  while (fd_ && !bytes.empty()) {
    const ssize_t n = ::write(fd_.get(), bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) {
      const int sys = n < 0 ? errno : ENOSPC;
      return hal::Error{
          hal::Errc::io, sys, "file: write",
          hal::Text<192>::of("%s: %s after %llu bytes", path_.c_str(), std::strerror(sys),
                             static_cast<unsigned long long>(written_))};
    }
    written_ += static_cast<std::uint64_t>(n);
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
  return hal::ok;
}

}  // namespace app
