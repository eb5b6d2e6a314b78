// MIP packets of the simulated MicroStrain devices: made and taken apart.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "test/sim/device_model.h"

namespace sim::mip {

struct Field {
  unsigned descriptor = 0;
  ByteVector data;
};

struct Packet {
  unsigned set = 0;
  std::vector<Field> fields;
};

inline constexpr std::size_t kMaxFieldBytes = 255;  // of all fields of a packet

// Total of the fields at most kMaxFieldBytes.
ByteVector packet_bytes(unsigned set, const std::vector<Field>& fields);

// Writes the two checksum bytes over the end of `packet`.
void seal(ByteVector& packet);

// Cuts packets out of what the host sends. A partial packet is dropped after 100 ms of silence.
class Parser {
 public:
  enum class Found : std::uint8_t { nothing, packet, bad_checksum };

  void add(hal::Bytes bytes, hal::Time now);
  // Next packet, until `nothing`. With bad_checksum, `packet` holds what the bytes seemed to say.
  Found next(Packet& packet);
  void clear() { held_.clear(); }

 private:
  ByteVector held_;
  hal::Time last_{};
};

}  // namespace sim::mip
