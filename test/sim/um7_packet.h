// Packets of the simulated UM7: made and taken apart.
//
// 's' 'n' 'p' | u8 type | u8 address | registers of four bytes | u16 sum of all before; big-endian.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "test/sim/device_model.h"

namespace sim::um7 {

inline constexpr unsigned kHasData = 0x80, kBatch = 0x40, kFailed = 0x01;
inline constexpr std::size_t kMostRegisters = 15;

using Registers = std::vector<std::uint32_t>;

struct Packet {
  unsigned type = 0;
  unsigned address = 0;
  Registers data;  // empty: a request, or an acknowledgement

  bool has_data() const { return (type & kHasData) != 0; }
  // How many registers it asks for or carries.
  std::size_t count() const { return (type & kBatch) != 0 ? type >> 2 & 0xFU : 1; }
};

ByteVector packet_bytes(const Packet& packet);
// A packet with these registers, a batch where there are several.
ByteVector data_packet(unsigned address, const Registers& data);

// Writes the sum over the last two bytes.
void seal(ByteVector& packet);

// Cuts packets out of what the host sends; what is damaged is skipped. A partial packet is dropped
// after 100 ms of silence.
class Parser {
 public:
  void add(hal::Bytes bytes, hal::Time now);
  std::optional<Packet> next();
  void clear() { held_.clear(); }

 private:
  ByteVector held_;
  hal::Time last_{};
};

}  // namespace sim::um7
