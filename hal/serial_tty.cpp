#include "hal/serial_tty.h"

#include <fcntl.h>
#include <libserialport.h>
#include <linux/serial.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <termios.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "hal/open_error.h"
#include "hal/tty_sysfs.h"

namespace hal {
namespace {

Error refused(const char* where, const char* real, int sys, const char* what) {
  return {Errc::io, sys, where, Text<192>::of("%s: %s: %s", real, what, std::strerror(sys))};
}

Status set_up_pty(int fd, const char* real) {
  termios t{};
  if (::tcgetattr(fd, &t) != 0) return refused("serial: set up", real, errno, "tcgetattr");
  ::cfmakeraw(&t);
  t.c_cflag |= CLOCAL | CREAD;
  if (::tcsetattr(fd, TCSANOW, &t) != 0) return refused("serial: set up", real, errno, "tcsetattr");
  return ok;
}

struct FreePort {
  void operator()(sp_port* port) const {
    sp_close(port);
    sp_free_port(port);
  }
};

// libserialport opens the device a second time; what it sets stays when it closes that. Our own
// descriptor is close-on-exec, theirs is not.
Status set_up_tty(const char* real, int baud) {
  sp_port* found = nullptr;
  if (sp_get_port_by_name(real, &found) != SP_OK) {
    return Error{Errc::bad_config, 0, "serial: find port",
                 Text<192>::of("%s: libserialport knows no such port", real)};
  }
  const std::unique_ptr<sp_port, FreePort> port(found);
  if (sp_open(found, SP_MODE_READ_WRITE) != SP_OK) {
    return refused("serial: open", real, errno, "libserialport");
  }
  if (sp_set_bits(found, 8) != SP_OK || sp_set_parity(found, SP_PARITY_NONE) != SP_OK ||
      sp_set_stopbits(found, 1) != SP_OK ||
      sp_set_flowcontrol(found, SP_FLOWCONTROL_NONE) != SP_OK) {
    return refused("serial: set 8N1", real, errno, "refused");
  }
  if (sp_set_baudrate(found, baud) != SP_OK) {
    return Error{Errc::bad_config, errno, "serial: set baud",
                 Text<192>::of("%s: refuses %d baud: %s", real, baud, std::strerror(errno))};
  }
  return ok;
}

}  // namespace

Status resolve_tty(const char* path, TtyPath& real) {
  if (::realpath(path, real.data()) != nullptr) return ok;
  return explain_open_error(path, path, errno);
}

Result<UniqueFd> claim_tty(const char* path, const char* real) {
  UniqueFd fd(::open(real, O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  if (!fd) return explain_open_error(path, real, errno);
  if (::isatty(fd.get()) == 0) return explain_open_error(path, real, ENOTTY);
  if (::flock(fd.get(), LOCK_EX | LOCK_NB) != 0) return explain_open_error(path, real, EBUSY);
  return fd;
}

Status configure_tty(int fd, const char* real, int baud) {
  int lines = 0;
  // What has no modem lines is a pty; libserialport cannot open those.
  const bool is_pty = ::ioctl(fd, TIOCMGET, &lines) != 0;
  const Status set_up = is_pty ? set_up_pty(fd, real) : set_up_tty(real, baud);
  if (!set_up) return set_up;

  // libserialport leaves VMIN at 0: then an idle port reads as end of file.
  termios t{};
  if (::tcgetattr(fd, &t) != 0) return refused("serial: set up", real, errno, "tcgetattr");
  t.c_cc[VMIN] = 1;
  t.c_cc[VTIME] = 0;
  // Closing must not drop DTR: on some lidars that starts the motor which was just stopped.
  t.c_cflag &= ~static_cast<tcflag_t>(HUPCL);
  if (::tcsetattr(fd, TCSANOW, &t) != 0) return refused("serial: set up", real, errno, "tcsetattr");
  // A pty keeps the mark after we closed it, and refuses us when we come back; the lock is enough.
  if (!is_pty && ::ioctl(fd, TIOCEXCL) != 0)
    return refused("serial: set exclusive", real, errno, "TIOCEXCL");
  ::tcflush(fd, TCIFLUSH);
  return ok;
}

void lower_latency(int fd, const char* sysfs, const char* real, PortStats& stats) {
  stats.low_latency = false;
  serial_struct serial{};
  if (::ioctl(fd, TIOCGSERIAL, &serial) == 0) {
    serial.flags |= ASYNC_LOW_LATENCY;
    stats.low_latency = ::ioctl(fd, TIOCSSERIAL, &serial) == 0;
  }
  stats.adapter_timer_ms = lower_latency_timer(sysfs, real);
  if (stats.adapter_timer_ms <= 1) return;
  const char* const slash = std::strrchr(real, '/');
  stats.note.print(
      "adapter timer %d ms: as root, echo 1 > /sys/bus/usb-serial/devices/%s/latency_timer",
      stats.adapter_timer_ms, slash != nullptr ? slash + 1 : real);
}

}  // namespace hal
