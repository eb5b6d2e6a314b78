// SICK microScan3, nanoScan3 and outdoorScan3: measurement data by UDP, CoLa2 by TCP.
#pragma once

#include "test/sim/models.h"

namespace sim::sick_safety {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::sick_safety
