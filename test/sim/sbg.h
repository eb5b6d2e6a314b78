// SBG Systems inertial sensors that speak sbgECom: Ellipse and its relatives.
#pragma once

#include "test/sim/models.h"

namespace sim::sbg {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::sbg
