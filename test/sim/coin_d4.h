// COIN-D4, a lidar with YDLIDAR packets and commands of its own.
#pragma once

#include "test/sim/models.h"

namespace sim::coin_d4 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::coin_d4
