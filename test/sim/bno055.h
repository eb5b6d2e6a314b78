// Bosch BNO055 on its serial line: registers that are read and written, nothing comes unasked.
#pragma once

#include "test/sim/models.h"

namespace sim::bno055 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::bno055
