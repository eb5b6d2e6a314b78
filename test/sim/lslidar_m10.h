// LSLIDAR N10, L10 and M10 lidars, as they speak on a serial line.
#pragma once

#include "test/sim/models.h"

namespace sim::lslidar_m10 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::lslidar_m10
