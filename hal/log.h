// Lines for people, on stderr. Never blocks and never allocates: a line that finds no room is
// counted, and the next one says so.
#pragma once

#include <cstdarg>
#include <cstdint>
#include <optional>

#include "hal/time.h"

namespace hal {

enum class Severity : std::uint8_t { error = 3, warning = 4, notice = 5, info = 6, debug = 7 };

// At most `lines` per `period`; a member per call site.
class RateLimit {
 public:
  RateLimit(std::uint32_t lines, Duration period) : lines_(lines), period_(period) {}

  // Whether this line may go, with the number swallowed since the last that went.
  std::optional<std::uint32_t> admit(Time now);

 private:
  std::uint32_t lines_;
  Duration period_;
  std::optional<Time> began_;
  std::uint32_t used_ = 0, swallowed_ = 0;
};

class Log {
 public:
  enum class Style : std::uint8_t {
    plain,
    journal,  // each line begins with its <severity>
  };
  // Lines above `least` (less urgent) are not written.
  Log(int fd, Severity least, Style style) : fd_(fd), least_(least), style_(style) {}

  // `journal` when `fd` is what systemd connected to the journal.
  static Style style_of(int fd);

  [[gnu::format(printf, 3, 4)]] void write(Severity severity, const char* format, ...);
  [[gnu::format(printf, 5, 6)]] void write(RateLimit& limit, Time now, Severity severity,
                                           const char* format, ...);
  std::uint64_t dropped() const { return dropped_; }

  static constexpr std::size_t kLongestLine = 512;  // longer ones are cut

 private:
  void print(Severity severity, std::uint32_t swallowed, const char* format, va_list args);

  int fd_;
  Severity least_;
  Style style_;
  std::uint64_t dropped_ = 0, told_ = 0;
};

}  // namespace hal
