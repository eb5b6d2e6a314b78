// Bursts of Epson units, built from the protocol description.
#pragma once

#include <initializer_list>
#include "test/support/hex.h"

namespace test::epson {

using Octets = std::vector<std::byte>;

inline constexpr const char* k16 =
    "80 FE 00 00 80 00 26 FF B4 00 71 00 28 FF B0 0F A0 01 F4 10 37 0D";
inline constexpr const char* k32 =
    "80 FE 00 00 80 00 00 00 25 D0 B5 FF B4 5E 95 00 71 72 1B 00 28 00 00 FF B0 00 00 0F A0 00 00 "
    "01 F4 B1 9B 0D";

inline Octets words(std::initializer_list<unsigned> values) {
  Octets out;
  for (const unsigned v : values) {
    out.push_back(static_cast<std::byte>(v >> 8));
    out.push_back(static_cast<std::byte>(v));
  }
  return out;
}
inline Octets burst(const Octets& fields) {
  unsigned sum = 0;
  for (std::size_t i = 0; i < fields.size(); i += 2) {
    sum += std::to_integer<unsigned>(fields[i]) << 8 | std::to_integer<unsigned>(fields[i + 1]);
  }
  return test::joined(test::joined(test::joined(hex("80"), fields), words({sum & 0xFFFF})),
                      hex("0D"));
}
inline Octets sample(unsigned count, unsigned flags = 0xFE00, unsigned z = 4000) {
  return burst(words({flags, 128, 0, 38, 0, 0, 0, 0, 0, 0, 0, 0, 0, z, 0, count}));
}

}  // namespace test::epson
