// CRC-32 as zlib computes it (polynomial 0xedb88320, reflected), in pieces.
#pragma once

#include <cstdint>

#include "hal/bytes.h"

namespace hal {

class Crc32 {
 public:
  void add(Bytes);
  std::uint32_t value() const { return ~state_; }

 private:
  std::uint32_t state_ = 0xffffffffU;
};

inline std::uint32_t crc32(Bytes bytes) {
  Crc32 crc;
  crc.add(bytes);
  return crc.value();
}

}  // namespace hal
