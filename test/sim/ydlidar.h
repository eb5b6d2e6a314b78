// YDLIDAR lidars that send AA 55 point packets: X, S, G, F, R, TG, TX and Tmini series.
#pragma once

#include "test/sim/models.h"

namespace sim::ydlidar {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::ydlidar
