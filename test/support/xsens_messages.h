// Builds Xbus messages from the protocol description, not with the driver's own writer.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "test/support/hex.h"

namespace test::xsens {

using Octets = std::vector<std::byte>;

inline void put(Octets& to, std::uint64_t v, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) to.push_back(static_cast<std::byte>(v >> (8 * i)));
}
inline Octets big(std::uint64_t v, int bytes) {
  Octets out;
  put(out, v, bytes);
  return out;
}

inline Octets message(unsigned kind, const Octets& data) {
  Octets m = hex("FA FF");
  put(m, kind, 1);
  if (data.size() < 255) {
    put(m, data.size(), 1);
  } else {
    put(m, 255, 1), put(m, data.size(), 2);
  }
  m.insert(m.end(), data.begin(), data.end());
  unsigned sum = 0;
  for (std::size_t i = 1; i < m.size(); ++i) sum += std::to_integer<unsigned>(m[i]);
  put(m, 0x100 - (sum & 0xFF), 1);
  return m;
}

inline Octets item(unsigned id, const Octets& data) {
  Octets i = big(id, 2);
  put(i, data.size(), 1);
  i.insert(i.end(), data.begin(), data.end());
  return i;
}
// Its numbers as its id says.
inline Octets numbers(unsigned id, std::initializer_list<double> values) {
  Octets data;
  for (const double v : values) {
    switch (id & 3) {
      case 0:
        put(data, std::bit_cast<std::uint32_t>(static_cast<float>(v)), 4);
        break;
      case 1:
        put(data, static_cast<std::uint32_t>(std::lround(v * 0x1p20)), 4);
        break;
      case 2: {
        const auto whole = static_cast<std::uint64_t>(std::llround(v * 0x1p32));
        put(data, whole, 4), put(data, whole >> 32, 2);
        break;
      }
      default:
        put(data, std::bit_cast<std::uint64_t>(v), 8);
    }
  }
  return item(id, data);
}
inline Octets times(unsigned counter, std::uint32_t ticks) {
  return joined(item(0x1020, big(counter & 0xFFFF, 2)), item(0x1060, big(ticks, 4)));
}
// Level and at rest.
inline Octets at_rest(unsigned counter, std::uint32_t ticks) {
  return message(0x36, joined(joined(times(counter, ticks), numbers(0x4020, {0, 0, 9.81})),
                              numbers(0x8020, {0.01, -0.02, 0.03})));
}

}  // namespace test::xsens
