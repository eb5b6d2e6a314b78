// Frames of Inertial Labs units, built from the protocol description.
#pragma once

#include <cstdint>
#include "test/support/hex.h"

namespace test::inertial_labs {

using Octets = std::vector<std::byte>;

// Both agree with the vendor's decoder.
inline constexpr const char* kUdd =
    "AA 55 01 95 39 00 06 03 21 23 09 52 53 00 2F 68 59 00 00 00 00 D0 DF 00 00 60 40 FE FF 6F 9F "
    "02 00 10 27 00 00 E0 B1 FF FF 40 42 0F 00 9F 1B 00 00 00 00 9F 1B FF 00 00 00 E0 0E";
inline constexpr const char* kOrientation =
    "AA 55 01 33 28 00 28 23 6A FF FA 00 05 00 F6 FF 14 00 28 00 B0 FF A0 0F 14 00 FB FF 28 00 00 "
    "00 00 00 00 00 B0 04 FF 00 87 0B";
inline constexpr const char* kAskInfo = "AA 55 00 00 07 00 12 19 00";
inline constexpr const char* kAskParameters = "AA 55 00 00 07 00 41 48 00";
inline constexpr const char* kStart = "AA 55 00 00 07 00 95 9C 00";
inline constexpr const char* kStop = "AA 55 00 00 07 00 FE 05 01";

inline Octets frame(unsigned code, const Octets& content) {
  const std::size_t n = content.size() + 6;
  Octets f = test::joined({std::byte{1}, static_cast<std::byte>(code), static_cast<std::byte>(n),
                           static_cast<std::byte>(n >> 8)},
                          content);
  unsigned sum = 0;
  for (const std::byte b : f) sum += std::to_integer<unsigned>(b);
  f.push_back(static_cast<std::byte>(sum));
  f.push_back(static_cast<std::byte>(sum >> 8));
  return test::joined(hex("AA 55"), f);
}
inline Octets little(std::uint64_t v, int bytes) {
  Octets out;
  for (int i = 0; i < bytes; ++i, v >>= 8) out.push_back(static_cast<std::byte>(v));
  return out;
}
// User-defined data: time and acceleration.
inline Octets sample(std::int64_t ns) {
  return frame(
      0x95, test::joined(test::joined(hex("02 03 23"), little(static_cast<std::uint64_t>(ns), 8)),
                         hex("10 27 00 00 E0 B1 FF FF 40 42 0F 00")));
}

}  // namespace test::inertial_labs
