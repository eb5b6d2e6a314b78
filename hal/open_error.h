// Why a device could not be opened, in words that a person can act on.
#pragma once

#include <netinet/in.h>

#include "hal/result.h"

namespace hal {

// `path` as configured, `real` what was opened in the end. Takes errno of the refusal.
Error explain_open_error(const char* path, const char* real, int sys);

// The name of `id` in a file like /etc/group, or its number. From the file itself: getgrgid() may
// ask a server, and we must not wait.
Text<32> name_of(const char* file, unsigned id);

// A process whose UDP socket keeps this address from being bound, as find_holder() gives it.
Text<64> find_udp_holder(const sockaddr_in& bind);

// A process that has the device open, as "name (pid N)"; empty when none can be seen. Takes what
// realpath() gave, and looks through all of /proc.
Text<64> find_holder(const char* real);

}  // namespace hal
