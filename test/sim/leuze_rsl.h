// Leuze RSL 400 and RSL 200: the state image that a safety scanner sends unasked, by UDP.
#pragma once

#include "test/sim/models.h"

namespace sim::leuze_rsl {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::leuze_rsl
