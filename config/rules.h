// What the keys of a configuration mean together: combinations that cannot work are refused.
#pragma once

#include "config/reader.h"

namespace config {

// Adds a fault for each, and fills in what depends on the driver (the baud rate).
void check(Draft& draft);

}  // namespace config
