// Slamtec RPLIDAR: A, S and C series by UART, S2E and T1 by Ethernet.
#pragma once

#include "test/sim/models.h"

namespace sim::rplidar {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::rplidar
