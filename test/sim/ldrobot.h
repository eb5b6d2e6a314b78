// LDROBOT lidars: LD06, LD19, STL series, LD14 and LD14P.
#pragma once

#include "test/sim/models.h"

namespace sim::ldrobot {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::ldrobot
