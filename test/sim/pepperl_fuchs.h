// Pepperl+Fuchs R2000 and R2300 lidars: commands in HTTP and JSON, scan data over UDP or TCP.
#pragma once

#include "test/sim/models.h"

namespace sim::pepperl_fuchs {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::pepperl_fuchs
