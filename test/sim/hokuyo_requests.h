// Which commands a Hokuyo knows, and what a measuring one asks for.
#pragma once

#include <string>

#include "test/sim/hokuyo_scan.h"
#include "test/sim/scip_text.h"

namespace sim::hokuyo_scip {

// Characters that the parameters of a command have; -1 = the model has no such command.
int parameter_width(const Model& model, const std::string& symbol);

struct Measuring {
  Request request;
  Wanted wanted;
  int interval = 0, count = 0;  // scans left out between two; asked for, 0 = endless
};
// Reads the parameters, whose width is right, into `measuring`; returns the status that they earn,
// empty = none.
std::string understand(const Model& model, const Request& request, Measuring& measuring);

}  // namespace sim::hokuyo_scip
