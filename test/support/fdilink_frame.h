// Builds frames of FDILink from the protocol description, not with the driver's own checks.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "test/support/hex.h"

namespace test::fdilink {

using Octets = std::vector<std::byte>;

inline void put(Octets& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}
inline Octets floats(std::initializer_list<double> values) {
  Octets out;
  for (const double v : values) put(out, std::bit_cast<std::uint32_t>(static_cast<float>(v)), 4);
  return out;
}

inline Octets frame(unsigned type, unsigned number, const Octets& data) {
  Octets f{std::byte{0xFC}};
  put(f, type, 1), put(f, data.size(), 1), put(f, number, 1);
  unsigned crc8 = 0;
  for (const std::byte b : f) {
    for (unsigned bit = 0; bit < 8; ++bit) {
      const unsigned in = (std::to_integer<unsigned>(b) >> bit ^ crc8) & 1;
      crc8 = crc8 >> 1 ^ in * 0x8C;
    }
  }
  unsigned crc16 = 0;
  for (const std::byte b : data) {
    for (int bit = 7; bit >= 0; --bit) {
      const unsigned in = (std::to_integer<unsigned>(b) >> bit ^ crc16 >> 15) & 1;
      crc16 = (crc16 << 1 ^ in * 0x1021) & 0xFFFF;
    }
  }
  put(f, crc8, 1), put(f, crc16 >> 8, 1), put(f, crc16, 1);
  f = joined(f, data);
  put(f, 0xFD, 1);
  return f;
}

// At rest and level, by default as the specific force in forward-right-down.
inline Octets inertial(unsigned number, double seconds, double down = -9.8) {
  Octets data = floats({0.01, -0.02, 0.03, 0, 0, down, 200, -50, 400, 25, 101325, 25});
  put(data, static_cast<std::uint64_t>(seconds * 1e6 + 0.5), 8);
  return frame(0x40, number, data);
}
// Of a nose to the North, rolled by half a turn where it is upside down.
inline Octets attitude(unsigned number, double seconds, bool upside_down = false) {
  Octets data = floats({0, 0, 0, 0, 0, 0, upside_down ? 0.0 : 1.0, upside_down ? 1.0 : 0.0, 0, 0});
  put(data, static_cast<std::uint64_t>(seconds * 1e6 + 0.5), 8);
  return frame(0x41, number, data);
}

}  // namespace test::fdilink
