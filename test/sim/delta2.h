// 3irobotix Delta-2A, 2B, 2D and 2G, and the Xiaomi LDS08RR, which is a Delta-2D.
#pragma once

#include "test/sim/models.h"

namespace sim::delta2 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::delta2
