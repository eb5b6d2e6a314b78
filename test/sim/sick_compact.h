// SICK picoScan150, picoScan120 and multiScan136: Compact telegrams by UDP, set up by CoLa on TCP.
#pragma once

#include "test/sim/models.h"

namespace sim::sick_compact {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::sick_compact
