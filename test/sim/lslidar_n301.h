// LSLIDAR N301: blocks of 30 points (protocol 1.7) or 2 (1.6), 12 a datagram, by UDP, unasked.
#pragma once

#include "test/sim/models.h"

namespace sim::lslidar_n301 {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::lslidar_n301
