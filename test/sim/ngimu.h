// x-io NGIMU: OSC 1.0 bundles by UDP, or on a serial line in SLIP.
#pragma once

#include "test/sim/models.h"

namespace sim::ngimu {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::ngimu
