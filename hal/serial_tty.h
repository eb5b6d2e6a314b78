// Opening and setting up a terminal device. `path` is as configured, `real` without links.
#pragma once

#include <climits>

#include <array>

#include "hal/port.h"
#include "hal/result.h"
#include "hal/unique_fd.h"

namespace hal {

using TtyPath = std::array<char, PATH_MAX>;

Status resolve_tty(const char* path, TtyPath& real);

// Opened, a terminal, and locked: Errc::busy when another program holds it.
Result<UniqueFd> claim_tty(const char* path, const char* real);

// Raw 8N1 at any baud rate, reads return at the first byte, exclusive. A pty has no rate: there it
// is not looked at.
Status configure_tty(int fd, const char* real, int baud);

// Changes the rate of a configured one and discards its input. Unsupported on a pty.
Status change_baud(int fd, int baud);

// Asks driver and adapter to deliver at once, and writes into the stats what became of it. `sysfs`:
// see tty_sysfs.h.
void lower_latency(int fd, const char* sysfs, const char* real, PortStats& stats);

}  // namespace hal
