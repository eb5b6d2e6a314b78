// WitMotion inertial sensors that speak in frames of eleven bytes: WT901, HWT905 and relatives.
#pragma once

#include "test/sim/models.h"

namespace sim::witmotion {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::witmotion
