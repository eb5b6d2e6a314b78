// UM7 inertial sensor of Redshift Labs (CH Robotics).
#pragma once

#include "test/sim/models.h"

namespace sim::um7 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::um7
