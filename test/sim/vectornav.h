// VectorNav VN-100, VN-200 and VN-300.
#pragma once

#include "test/sim/models.h"

namespace sim::vectornav {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::vectornav
