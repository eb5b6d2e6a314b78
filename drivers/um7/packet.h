// Packets of the UM7.
//
// Packet, big-endian: 's' 'n' 'p' | u8 type | u8 address | registers of 4 bytes | u16 sum of all
// bytes before. Type: bit 7 registers follow, bit 6 several, bits 5..2 how many, bit 0 the command
// failed. A packet without registers reads, or acknowledges. Source: the one independent driver
// (ros-drivers/um7) with its test vectors; the data sheet was not at hand.
#pragma once

#include <optional>

#include "drivers/dialogue.h"
#include "drivers/framer.h"
#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers::um7 {

inline constexpr unsigned kHasData = 0x80, kBatch = 0x40, kFailed = 0x01;  // of the type

struct Framing {
  static constexpr std::size_t kMaxFrame = 7 + 4 * 15;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

inline unsigned type_of(Bytes packet) { return wire::u8(packet, 3); }
inline unsigned address_of(Bytes packet) { return wire::u8(packet, 4); }

// The registers of a packet, by their address.
struct Registers {
  explicit Registers(Bytes packet)
      : first(address_of(packet)), data(packet.subspan(5, packet.size() - 7)) {}
  bool has(unsigned address, unsigned n = 1) const {
    return address >= first && 4 * std::size_t{address + n - first} <= data.size();
  }
  std::size_t at(unsigned address) const { return 4 * std::size_t{address - first}; }
  float f32(unsigned address) const { return wire::f32be(data, at(address)); }
  std::uint32_t u32(unsigned address) const { return wire::u32be(data, at(address)); }
  inertial::Vector vector(unsigned address, double unit) const {
    return inertial::from_frd(
        {f32(address) * unit, f32(address + 1) * unit, f32(address + 2) * unit});
  }
  double half(unsigned address, unsigned which) const {  // a register holds two
    return wire::i16be(data, at(address) + 2 * std::size_t{which});
  }

  unsigned first;
  Bytes data;
};

// A packet with one register, or none.
void say(Request& request, unsigned type, unsigned address, std::optional<std::uint32_t> value);

}  // namespace drivers::um7
