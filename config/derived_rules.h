// What may be merged and de-skewed: the rules of what is made of the ordered stream.
#pragma once

#include "config/reader.h"

namespace config {

// Adds a fault for each combination that cannot work.
void check_derived(Draft& draft);

}  // namespace config
