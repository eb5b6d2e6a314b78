// Builds messages of an x-IMU3 from the protocol description, not with the driver's own writer.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "test/support/hex.h"

namespace test::ximu3 {

using Octets = std::vector<std::byte>;

inline Octets text(std::string_view line) {
  Octets out;
  for (const char c : line) out.push_back(static_cast<std::byte>(c));
  return out;
}

// With escapes and the end.
inline Octets stuffed(const Octets& plain) {
  Octets out;
  for (const std::byte b : plain) {
    if (b == std::byte{0x0A}) out = joined(out, hex("DB DC"));
    if (b == std::byte{0xDB}) out = joined(out, hex("DB DD"));
    if (b != std::byte{0x0A} && b != std::byte{0xDB}) out.push_back(b);
  }
  return joined(out, hex("0A"));
}

inline Octets head(char letter, std::uint64_t us) {
  Octets out{static_cast<std::byte>(letter | 0x80)};
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(us >> (8 * i)));
  return out;
}
inline Octets binary(char letter, std::uint64_t us, std::initializer_list<double> values) {
  Octets out = head(letter, us);
  for (const double value : values) {
    const auto raw = std::bit_cast<std::uint32_t>(static_cast<float>(value));
    for (int i = 0; i < 4; ++i) out.push_back(static_cast<std::byte>(raw >> (8 * i)));
  }
  return stuffed(out);
}

// At rest and level; of a nose to the North.
inline Octets rates(std::uint64_t us, double gyro_x_dps = 1) {
  return binary('I', us, {gyro_x_dps, 0, 0, 0, 0, 1});
}
inline Octets attitude(std::uint64_t us) { return binary('Q', us, {1, 0, 0, 0}); }

}  // namespace test::ximu3
