// LpBus frames of LP-Research sensors, built from the protocol description.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <initializer_list>
#include <string_view>
#include "test/support/hex.h"

namespace test::lpms {

using Octets = std::vector<std::byte>;

// Of the maker's unit test, and of the description: acceleration (0.01, -0.02, -1) g and rates
// (0.5, -1, 2) deg/s at 1.5 s.
inline constexpr const char* kUnitTest = "3A 0A 00 0B 00 04 00 01 02 03 04 23 00 0D 0A";
inline constexpr const char* kSample =
    "3A 01 00 09 00 1C 00 EE 02 00 00 0A D7 23 3C 0A D7 A3 BC 00 00 80 BF 00 00 00 3F 00 00 80 BF "
    "00 00 00 40 93 07 0D 0A";
inline constexpr const char* kCommandMode = "3A 01 00 06 00 00 00 07 00 0D 0A";
inline constexpr const char* kStreamMode = "3A 01 00 07 00 00 00 08 00 0D 0A";

inline Octets frame(unsigned function, const Octets& data, unsigned address = 1) {
  Octets f;
  for (const std::size_t v : {std::size_t{address}, std::size_t{function}, data.size()}) {
    f.push_back(static_cast<std::byte>(v));
    f.push_back(static_cast<std::byte>(v >> 8));
  }
  f = test::joined(f, data);
  unsigned sum = 0;
  for (const std::byte b : f) sum += std::to_integer<unsigned>(b);
  f.push_back(static_cast<std::byte>(sum));
  f.push_back(static_cast<std::byte>(sum >> 8));
  return test::joined(test::joined(hex("3A"), f), hex("0D 0A"));
}
inline Octets u32(std::uint32_t v) {
  Octets out;
  for (int i = 0; i < 4; ++i, v >>= 8) out.push_back(static_cast<std::byte>(v));
  return out;
}
inline Octets floats(std::initializer_list<float> values) {
  Octets out;
  for (const float v : values) out = test::joined(out, u32(std::bit_cast<std::uint32_t>(v)));
  return out;
}
inline Octets halves(std::initializer_list<int> values) {
  Octets out;
  for (const int v : values) {
    out.push_back(static_cast<std::byte>(v));
    out.push_back(static_cast<std::byte>(v >> 8));
  }
  return out;
}
inline Octets text24(std::string_view text) {
  Octets out(24, std::byte{0});
  std::memcpy(out.data(), text.data(), text.size());
  return out;
}
// With the fields that are asked for by default: acceleration, rates, attitude.
inline Octets ig1(std::uint32_t counter) {
  return frame(9,
               test::joined(u32(counter), floats({0.f, 0.f, -1.f, 0.5f, -1.f, 2.f, 1.f, 0, 0, 0})));
}

}  // namespace test::lpms
