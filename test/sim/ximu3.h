// x-io x-IMU3: messages as bytes or text, settings and commands as JSON, on a serial line, by UDP
// or TCP.
#pragma once

#include "test/sim/models.h"

namespace sim::ximu3 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::ximu3
