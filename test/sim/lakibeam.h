// Richbeam Lakibeam1: blocks of 16 points, 12 a datagram, by UDP, unasked.
#pragma once

#include "test/sim/models.h"

namespace sim::lakibeam {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

}  // namespace sim::lakibeam
