// Bluesea (LanHai) lidars on a serial line.
#pragma once

#include "test/sim/models.h"

namespace sim::bluesea {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::bluesea
