// Vanjee WLR-716mini, WLR-718H and WLR-719: scans in FF AA .. EE EE frames, asked for by one frame.
#pragma once

#include "test/sim/models.h"

namespace sim::vanjee {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::vanjee
