// HiPNUC inertial sensors: frames 5A A5 with packets 0x91, 0x92, 0x81 and 0x83, commands as text.
#pragma once

#include "test/sim/models.h"

namespace sim::hipnuc {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::hipnuc
