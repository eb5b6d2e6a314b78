// Bytes as protocol descriptions print them.
#pragma once

#include <cctype>
#include <charconv>
#include <string_view>
#include <vector>

#include "hal/bytes.h"

namespace test {

// Pairs of hexadecimal digits; everything else separates.
inline std::vector<std::byte> hex(std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t i = 0; i + 1 < text.size(); ++i) {
    unsigned value = 0;
    const char* const end = text.data() + i + 2;
    if (std::from_chars(end - 2, end, value, 16).ptr != end) continue;
    bytes.push_back(static_cast<std::byte>(value));
    ++i;
  }
  return bytes;
}

inline std::vector<std::byte> joined(std::vector<std::byte> a, hal::Bytes b) {
  a.insert(a.end(), b.begin(), b.end());
  return a;
}

}  // namespace test
