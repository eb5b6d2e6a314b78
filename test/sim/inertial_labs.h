// Inertial Labs inertial sensors: frames AA 55, user-defined data and the fixed set 0x33, on a
// serial line, by TCP or UDP.
#pragma once

#include "test/sim/models.h"

namespace sim::inertial_labs {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::inertial_labs
