// What merged and de-skewed clouds take.
#pragma once

#include "config/plan.h"

namespace config {

// Fills in Plan::merged and adds to the sensors what de-skewing takes; the rest of both is there.
void plan_derived(const Stack& stack, Plan& plan);

}  // namespace config
