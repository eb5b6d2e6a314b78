// Hokuyo lidars on a serial line, USB or Ethernet, in the language SCIP 2.
#pragma once

#include "test/sim/models.h"

namespace sim::hokuyo_scip {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::hokuyo_scip
