// CEVA BNO080, BNO085 and BNO086 in their UART-RVC mode.
#pragma once

#include "test/sim/models.h"

namespace sim::bno08x_rvc {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::bno08x_rvc
