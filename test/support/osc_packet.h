// Builds packets of OSC from its specification, not with the driver's own writer.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "test/support/hex.h"

namespace test::osc {

using Octets = std::vector<std::byte>;

inline Octets big_endian(std::uint64_t value, int bytes) {
  Octets out;
  for (int i = bytes - 1; i >= 0; --i) out.push_back(static_cast<std::byte>(value >> (8 * i)));
  return out;
}
inline Octets text(const std::string& s) {
  Octets out;
  for (const char c : s) out.push_back(static_cast<std::byte>(c));
  out.resize(s.size() / 4 * 4 + 4);
  return out;
}

inline Octets message(const std::string& address, std::initializer_list<double> values) {
  Octets out = joined(text(address), text("," + std::string(values.size(), 'f')));
  for (const double v : values) {
    out = joined(out, big_endian(std::bit_cast<std::uint32_t>(static_cast<float>(v)), 4));
  }
  return out;
}

inline std::uint64_t time_of(double seconds) {
  const auto whole = static_cast<std::uint64_t>(seconds);
  return (3'913'056'000 + whole) << 32 |
         static_cast<std::uint64_t>((seconds - static_cast<double>(whole)) * 4294967296.0);
}
inline Octets bundle(std::uint64_t time, const std::vector<Octets>& elements) {
  Octets out = joined(hex("23 62 75 6E 64 6C 65 00"), big_endian(time, 8));
  for (const Octets& e : elements) out = joined(joined(out, big_endian(e.size(), 4)), e);
  return out;
}

inline Octets slip(const Octets& packet) {
  Octets out;
  for (const std::byte b : packet) {
    if (b == std::byte{0xC0}) out = joined(out, hex("DB DC"));
    if (b == std::byte{0xDB}) out = joined(out, hex("DB DD"));
    if (b != std::byte{0xC0} && b != std::byte{0xDB}) out.push_back(b);
  }
  return joined(out, hex("C0"));
}

// At rest and level; of a nose to the North.
inline Octets sensors(double gyro_x_dps = 1) {
  return message("/sensors", {gyro_x_dps, -2, 0, 0, 0, 1, 20, -5, -40, 1013.25});
}
inline Octets attitude() { return message("/quaternion", {1, 0, 0, 0}); }

}  // namespace test::osc
