// The bursts of a simulated Epson M-G370: 80, big-endian words as two registers choose them, 0D.
#pragma once

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::epson {

struct Sample {
  Motion motion;
  unsigned count = 0;
};

// `fields`: BURST_CTRL1; `wide`: BURST_CTRL2, which of them have 32 bits.
ByteVector burst_of(const Sample& sample, unsigned fields, unsigned wide);
// Puts the sum right, where the burst has one.
void seal(ByteVector& burst, unsigned fields);

}  // namespace sim::epson
