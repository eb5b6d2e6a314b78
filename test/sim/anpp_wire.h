// Packets of the simulated Advanced Navigation devices: made, and cut out of what the host sends.
//
// u8 LRC, u8 id, u8 n, u16 CRC of the data (0x1021, start 0xFFFF), n bytes, little-endian. The five
// bytes before the data sum up to 0.
#pragma once

#include "test/sim/device_model.h"

namespace sim::anpp {

inline constexpr std::size_t kHead = 5;

struct Packet {
  unsigned id = 0;
  ByteVector data;
};

unsigned crc_of(hal::Bytes data);
ByteVector packet_bytes(const Packet& packet);
// Writes both checks anew.
void seal(ByteVector& packet);

// A partial packet is dropped after 100 ms of silence.
class Parser {
 public:
  enum class Found : std::uint8_t { nothing, packet, bad_crc };

  void add(hal::Bytes bytes, hal::Time now);
  // Next packet, until `nothing`. With bad_crc, `packet` holds what the bytes seemed to say.
  Found next(Packet& packet);
  void clear() { held_.clear(); }

 private:
  ByteVector held_;
  hal::Time last_{};
};

}  // namespace sim::anpp
