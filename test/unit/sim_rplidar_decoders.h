// Small RPLIDAR decoders written from the protocol text alone, for the simulator's packets.
#pragma once

#include <vector>

#include "test/sim/device_model.h"

namespace rplidar_test {

// One decoded sample.
struct RplidarPoint {
  double deg;           // clockwise
  double mm;            // 0 = no return
  double tolerance_mm;  // half a step of the format
};

// Little-endian field of `count` bytes.
unsigned field(const sim::ByteVector& b, std::size_t at, unsigned count);

// The samples of packet `b` of that answer type, in order; the capsule types need the packet after
// it. A bad checksum fails the running test.
std::vector<RplidarPoint> decode_rplidar(unsigned answer, const sim::ByteVector& b,
                                         const sim::ByteVector& next);

}  // namespace rplidar_test
