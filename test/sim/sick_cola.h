// SICK TiM5xx, TiM7xx, TiM8xx, LMS1xx, LMS5xx, LRS4xxx and MRS1xxx scanners on their TCP port, in
// CoLa A and B.
#pragma once

#include "test/sim/models.h"

namespace sim::sick_cola {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::sick_cola
