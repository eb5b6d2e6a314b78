// The 15-bit checksum that the Neato XV-11 and the Camsense X1 share.
#pragma once

#include "test/sim/wire.h"

namespace sim {

// Over an even number of bytes, taken as little-endian words: each doubles what came before it,
// then what lies above 15 bits is folded back.
inline unsigned neato_checksum(hal::Bytes bytes) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2)
    sum = (sum << 1) + static_cast<std::uint32_t>(get_le(bytes, i, 2));
  return ((sum & 0x7FFFU) + (sum >> 15)) & 0x7FFFU;
}

}  // namespace sim
