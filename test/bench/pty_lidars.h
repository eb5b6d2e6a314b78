// Four LD19 lidars on ptys, each a child process that writes its frames at the pace of the line.
#pragma once

#include <fcntl.h>
#include <sys/types.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "hal/unique_fd.h"

namespace bench {

inline constexpr int kFarFlags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;
inline constexpr std::byte kFrameHeader{0x54};

// The children write from the construction on, until the destruction; what nobody reads is lost.
class PtyLidars {
 public:
  PtyLidars();
  ~PtyLidars();
  PtyLidars(const PtyLidars&) = delete;
  PtyLidars& operator=(const PtyLidars&) = delete;

  const std::array<std::string, 4>& paths() const { return paths_; }
  std::uint64_t frames() const { return *written_; }  // of all of them, so far

 private:
  std::array<hal::UniqueFd, 4> near_;
  std::array<std::string, 4> paths_;
  std::array<pid_t, 4> children_{};
  std::atomic<std::uint64_t>* written_;  // shared with the children
};

}  // namespace bench
