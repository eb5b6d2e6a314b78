// Apart from the rest of the tty: the kernel's own termios, which takes any rate, and that of the C
// library cannot be included together. (libserialport would open the device anew, which our mark of
// exclusive use forbids.)
#include <asm/termbits.h>
#include <sys/ioctl.h>

#include <cerrno>

#include "hal/port.h"
#include "hal/serial_tty.h"

namespace hal {

Status change_baud(int fd, int baud) {
  int lines = 0;
  if (::ioctl(fd, TIOCMGET, &lines) != 0) return refused_baud(Errc::unsupported, 0, baud);
  termios2 t{};
  if (::ioctl(fd, TCGETS2, &t) != 0) return refused_baud(Errc::io, errno, baud);
  t.c_cflag = (t.c_cflag & ~static_cast<tcflag_t>(CBAUD | CBAUD << IBSHIFT)) | BOTHER;
  t.c_ispeed = t.c_ospeed = static_cast<speed_t>(baud);
  if (::ioctl(fd, TCSETS2, &t) != 0) return refused_baud(Errc::io, errno, baud);
  ::ioctl(fd, TCFLSH, TCIFLUSH);
  return ok;
}

}  // namespace hal
