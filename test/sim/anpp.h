// Advanced Navigation inertial sensors that speak ANPP: Orientus, Motus, Spatial, Certus.
#pragma once

#include "test/sim/models.h"

namespace sim::anpp {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::anpp
