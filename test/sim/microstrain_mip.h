// MicroStrain inertial sensors that speak MIP: GX5 class and 7-series.
#pragma once

#include "test/sim/models.h"

namespace sim::microstrain_mip {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::microstrain_mip
