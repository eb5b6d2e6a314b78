#include "hal/serial_port.h"

#include <sys/ioctl.h>
#include <termios.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "hal/open_error.h"
#include "hal/serial_tty.h"
#include "hal/tty_sysfs.h"

namespace hal {
namespace {

constexpr std::size_t kReadSize = 4096;  // what a tty holds
constexpr int kBitsPerByte = 10;         // 8N1 with its start bit

Duration line_time(int baud) { return Duration(std::chrono::seconds(kBitsPerByte)) / baud; }

Error gone(const char* path, int sys) {
  return {
      Errc::closed, sys, "serial: read",
      Text<192>::of("%s: %s", path, sys == 0 ? "hang-up, the device is gone" : std::strerror(sys))};
}

}  // namespace

SerialPort::SerialPort(EventLoop& loop, SerialOptions options)
    : FdPort(loop, "serial:" + options.path, options.latency), options_(std::move(options)) {}

Result<UniqueFd> SerialPort::open_fd() {
  const char* const path = options_.path.c_str();
  const bool still = std::exchange(busy_, false);
  TtyPath real;
  const Status resolved = resolve_tty(path, real);
  if (!resolved) return resolved.error();
  Result<UniqueFd> fd = claim_tty(path, real.data());
  if (!fd) return fd.error().code == Errc::busy ? busy(real.data(), still) : fd.error();
  const Status configured = configure_tty(fd->get(), real.data(), options_.baud);
  if (!configured) return configured.error();

  stats_.note.clear();
  if (options_.latency == Latency::low) lower_latency(fd->get(), kSysfs, real.data(), stats_);
  uart_ = options_.line == Line::uart ||
          (options_.line == Line::automatic && is_true_uart(kSysfs, real.data()));
  has_line_ = uart_ || !is_usb_itself(kSysfs, real.data());  // whatever baud rate that was told
  per_byte_ = uart_ ? line_time(options_.baud) : Duration{};
  return fd;
}

Status SerialPort::set_baud(int baud) {
  if (fd() < 0) return refused_baud(Errc::closed, EBADF, baud);
  if (const Status set = change_baud(fd(), baud); !set) return set;
  if (uart_) per_byte_ = line_time(baud);
  return ok;
}

// Looking through /proc takes milliseconds, and a busy port is tried again and again.
Error SerialPort::busy(const char* real_path, bool still) {
  busy_ = true;
  if (!still) holder_ = find_holder(real_path);
  return {Errc::busy, EBUSY, "serial: open",
          Text<192>::of(
              "%s: held by %s; stop that program", options_.path.c_str(),
              holder_.empty() ? "another program (root can see which: fuser)" : holder_.c_str())};
}

Result<FdPort::Got> SerialPort::read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) {
  const std::size_t size = std::min(buffer.size(), kReadSize);
  ssize_t n = 0;
  do {
    n = ::read(fd, buffer.data(), size);
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Got::nothing;
  if (n <= 0) return gone(options_.path.c_str(), n < 0 ? errno : 0);
  const auto count = static_cast<std::size_t>(n);
  chunk = {buffer.first(count), clock().now(), per_byte_, 0};
  return count < size ? Got::all : Got::some;
}

Status SerialPort::set_dtr(bool asserted) {
  const int line = TIOCM_DTR;
  if (fd() >= 0 && ::ioctl(fd(), asserted ? TIOCMBIS : TIOCMBIC, &line) == 0) return ok;
  const int sys = fd() >= 0 ? errno : EBADF;
  const Errc code = fd() < 0                         ? Errc::closed
                    : sys == ENOTTY || sys == EINVAL ? Errc::unsupported
                                                     : Errc::io;
  return Error{code, sys, "serial: set DTR",
               Text<192>::of("%s: %s", options_.path.c_str(),
                             code == Errc::unsupported ? "has no DTR line" : std::strerror(sys))};
}

}  // namespace hal
