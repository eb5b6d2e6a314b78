// Neato XV-11 and the Xiaomi LDS01RR and LDS02RR, which speak as it does.
#pragma once

#include "test/sim/models.h"

namespace sim::xv11 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::xv11
