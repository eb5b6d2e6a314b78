// Unix stream sockets: the place where local programs meet.
#pragma once

#include <sys/types.h>

#include <string>
#include <string_view>

#include "hal/result.h"
#include "hal/unique_fd.h"

namespace hal {

// A socket file that others connect to; removed when the listener dies. Non-blocking.
class UnixListener {
 public:
  // Mode 0660. A socket file left behind is replaced when nobody listens on it. Errors name the
  // cause: path too long, directory missing or closed to us, another kind of file in the way, the
  // program that listens already.
  static Result<UnixListener> listen(std::string_view path);

  UnixListener(UnixListener&&) = default;
  UnixListener& operator=(UnixListener&&) = delete;
  ~UnixListener();

  int fd() const { return fd_.get(); }
  const std::string& path() const { return path_; }

  // The next one who waits, non-blocking; an empty descriptor when nobody does. When the process
  // has no descriptor left, he is turned away and the error is no_space.
  Result<UniqueFd> accept();

 private:
  UnixListener(UniqueFd fd, std::string_view path, ino_t inode);

  UniqueFd fd_;
  UniqueFd spare_;  // given up to be able to turn somebody away
  std::string path_;
  ino_t inode_;
};

// Blocks no longer than the listener's queue is full; the socket returned blocks.
Result<UniqueFd> connect_unix(std::string_view path);

}  // namespace hal
