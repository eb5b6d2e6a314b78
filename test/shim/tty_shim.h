// Makes ptys of this program look like ttys, and tells what was done to them.
#pragma once

struct TtyShim {
  bool on = false;
  int modem_lines = 0;   // TIOCM_...
  int serial_flags = 0;  // ASYNC_...
};

TtyShim& tty_shim();
unsigned baud_of(int fd);  // as the kernel holds it, any number
