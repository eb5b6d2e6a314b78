// Seiko Epson M-G370 inertial sensors: registers of two windows by transactions of three bytes, and
// bursts without being asked.
#pragma once

#include "test/sim/models.h"

namespace sim::epson {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::epson
