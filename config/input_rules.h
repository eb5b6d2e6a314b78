// What the input socket and its topics may not say.
#pragma once

#include "config/plan.h"
#include "config/reader.h"

namespace config {

void check_inputs(Draft& draft);
// What depends on the budgets.
void check_input_budgets(const Plan& plan, Draft& draft);

}  // namespace config
