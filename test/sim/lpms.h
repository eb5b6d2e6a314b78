// LP-Research inertial sensors: LpBus frames 3A ... 0D 0A of the IG1 and of the generation before.
#pragma once

#include "test/sim/models.h"

namespace sim::lpms {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::lpms
