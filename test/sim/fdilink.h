// FDIsystems and WHEELTEC N100, N100WP, DETA100: FDILink frames FC ... FD, streamed from power-up.
#pragma once

#include "test/sim/models.h"

namespace sim::fdilink {

std::span<const OptionRow> options();
hal::Result<std::unique_ptr<DeviceModel>> make(const ModelInputs& inputs);

// Makes both checks of a whole frame good again.
void seal(ByteVector& frame);

}  // namespace sim::fdilink
