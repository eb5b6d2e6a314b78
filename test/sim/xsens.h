// Xsens (Movella) MTi inertial sensors: Xbus messages, MTData2.
#pragma once

#include "test/sim/models.h"

namespace sim::xsens {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::xsens
