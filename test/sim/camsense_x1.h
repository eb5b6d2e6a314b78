// Camsense X1, a triangulation module of robot vacuums.
#pragma once

#include "test/sim/models.h"

namespace sim::camsense_x1 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::camsense_x1
