// Hitachi-LG HLS-LFCD2, also named LDS-01: the lidar of the TurtleBot3.
#pragma once

#include "test/sim/models.h"

namespace sim::hlds_lds01 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::hlds_lds01
