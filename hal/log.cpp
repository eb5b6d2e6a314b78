#include "hal/log.h"

#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "hal/text.h"

namespace hal {
namespace {

// Appends to a fixed buffer; what does not fit is cut. One byte is kept for the line's end.
class Line {
 public:
  [[gnu::format(printf, 2, 3)]] void add(const char* format, ...) {
    va_list args;
    va_start(args, format);
    add(format, args);
    va_end(args);
  }
  [[gnu::format(printf, 2, 0)]] void add(const char* format, va_list args) {
    const std::size_t room = chars_.size() - 1 - size_;
    const int n = std::vsnprintf(&chars_[size_], room, format, args);
    if (n > 0) size_ += std::min(static_cast<std::size_t>(n), room - 1);
  }
  // A device's own words may be in it: they must not begin a line of their own.
  void finish() {
    std::replace_if(
        chars_.begin(), chars_.begin() + static_cast<std::ptrdiff_t>(size_),
        [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7F; }, '?');
    chars_[size_++] = '\n';
  }
  const char* data() const { return chars_.data(); }
  std::size_t size() const { return size_; }

 private:
  std::array<char, Log::kLongestLine> chars_;
  std::size_t size_ = 0;
};

}  // namespace

std::optional<std::uint32_t> RateLimit::admit(Time now) {
  if (!began_ || now - *began_ >= period_) {
    began_ = now;
    used_ = 0;
  }
  if (used_ >= lines_) {
    ++swallowed_;
    return std::nullopt;
  }
  ++used_;
  return std::exchange(swallowed_, 0);
}

Log::Style Log::style_of(int fd) {
  const char* const stream = std::getenv("JOURNAL_STREAM");
  struct stat s {};
  if (stream == nullptr || ::fstat(fd, &s) != 0) return Style::plain;
  const auto ours = Text<64>::of("%llu:%llu", static_cast<unsigned long long>(s.st_dev),
                                 static_cast<unsigned long long>(s.st_ino));
  return ours.view() == stream ? Style::journal : Style::plain;
}

void Log::write(Severity severity, const char* format, ...) {
  va_list args;
  va_start(args, format);
  print(severity, 0, format, args);
  va_end(args);
}

void Log::write(RateLimit& limit, Time now, Severity severity, const char* format, ...) {
  const std::optional<std::uint32_t> swallowed = limit.admit(now);
  if (!swallowed) return;
  va_list args;
  va_start(args, format);
  print(severity, *swallowed, format, args);
  va_end(args);
}

void Log::print(Severity severity, std::uint32_t swallowed, const char* format, va_list args) {
  if (severity > least_) return;
  pollfd ready{fd_, POLLOUT, 0};
  if (::poll(&ready, 1, 0) <= 0 || (ready.revents & POLLOUT) == 0) {
    ++dropped_;
    return;
  }
  Line line;
  if (style_ == Style::journal) line.add("<%d>", static_cast<int>(severity));
  if (dropped_ != told_) {
    line.add("(%llu lines lost) ", static_cast<unsigned long long>(dropped_ - told_));
  }
  if (swallowed != 0) line.add("(%u more like this) ", static_cast<unsigned>(swallowed));
  line.add(format, args);
  line.finish();
  if (::write(fd_, line.data(), line.size()) < 0) {
    ++dropped_;
  } else {
    told_ = dropped_;
  }
}

}  // namespace hal
