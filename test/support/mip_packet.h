// Builds MIP packets from the protocol description, not with the driver's own writer.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "test/support/hex.h"

namespace test::mip {

using Octets = std::vector<std::byte>;

inline Octets packet(unsigned set, const Octets& fields) {
  Octets p = hex("75 65");
  p.push_back(static_cast<std::byte>(set));
  p.push_back(static_cast<std::byte>(fields.size()));
  p.insert(p.end(), fields.begin(), fields.end());
  unsigned a = 0, b = 0;
  for (const std::byte byte : p) a += std::to_integer<unsigned>(byte), b += a;
  p.push_back(static_cast<std::byte>(a));
  p.push_back(static_cast<std::byte>(b));
  return p;
}

inline Octets big_endian(std::uint64_t v, int bytes) {
  Octets out;
  for (int shift = 8 * (bytes - 1); shift >= 0; shift -= 8) {
    out.push_back(static_cast<std::byte>(v >> shift));
  }
  return out;
}

inline Octets field(unsigned descriptor, const Octets& data) {
  return joined({static_cast<std::byte>(data.size() + 2), static_cast<std::byte>(descriptor)},
                data);
}

inline Octets floats(std::initializer_list<float> values, int flags = -1) {
  Octets out;
  for (const float v : values) out = joined(out, big_endian(std::bit_cast<std::uint32_t>(v), 4));
  return flags < 0 ? out : joined(out, big_endian(static_cast<unsigned>(flags), 2));
}

inline Octets reference(std::int64_t ns) {
  return field(0xD5, big_endian(static_cast<std::uint64_t>(ns), 8));
}

inline Octets week_time(unsigned descriptor, double seconds, unsigned flags) {
  return field(descriptor, joined(joined(big_endian(std::bit_cast<std::uint64_t>(seconds), 8),
                                         big_endian(2300, 2)),
                                  big_endian(flags, 2)));
}

inline const Octets kAccelAtRest = field(0x04, floats({0.1f, 0.2f, -1.0f}));
inline const Octets kGyro = field(0x05, floats({0.01f, 0.02f, -0.03f}));

}  // namespace test::mip
