// The packets of a simulated HiPNUC sensor. Little-endian; body right-forward-up, world
// east-north-up.
#pragma once

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::hipnuc {

enum class Format : std::uint8_t { hi91, hi92, hi81, hi83 };

struct Sample {
  Motion motion;
  std::int64_t device_ns = 0;  // since power-up
  unsigned status = 0;
};

// 5A A5, length, CRC, packet.
ByteVector frame_of(Format format, const Sample& sample);
// Puts the length and the CRC right.
void seal(ByteVector& frame);

}  // namespace sim::hipnuc
