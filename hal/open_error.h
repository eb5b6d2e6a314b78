// Why a device could not be opened, in words that a person can act on.
#pragma once

#include "hal/result.h"

namespace hal {

// `path` as configured, `real` what was opened in the end. Takes errno of the refusal.
Error explain_open_error(const char* path, const char* real, int sys);

// A process that has the device open, as "name (pid N)"; empty when none can be seen. Looks
// through all of /proc.
Text<64> find_holder(const char* real);

}  // namespace hal
