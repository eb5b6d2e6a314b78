// Builds packets of Advanced Navigation from the protocol description.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "test/support/hex.h"

namespace test::anpp {

using Octets = std::vector<std::byte>;

inline void put(Octets& to, std::uint64_t v, int n) {
  for (; n > 0; --n, v >>= 8) to.push_back(static_cast<std::byte>(v & 0xFF));
}
inline Octets floats(std::initializer_list<double> values) {
  Octets out;
  for (const double v : values) put(out, std::bit_cast<std::uint32_t>(static_cast<float>(v)), 4);
  return out;
}

inline Octets packet(unsigned id, const Octets& data) {
  unsigned crc = 0xFFFF;
  for (const std::byte b : data) {
    crc ^= std::to_integer<unsigned>(b) << 8;
    for (int bit = 0; bit < 8; ++bit)
      crc = ((crc << 1) ^ ((crc & 0x8000) != 0 ? 0x1021U : 0U)) & 0xFFFF;
  }
  const auto n = static_cast<unsigned>(data.size());
  Octets p;
  put(p, 0x100 - ((id + n + (crc & 0xFF) + (crc >> 8)) & 0xFF), 1);
  put(p, id, 1), put(p, n, 1), put(p, crc, 2);
  p.insert(p.end(), data.begin(), data.end());
  return p;
}

// Level and at rest.
inline Octets raw(double x_rate = 0.01, double z = -9.81) {
  return packet(28, floats({0, 0, z, x_rate, 0, 0, 200, -50, 400, 25, 101325, 25}));
}
inline Octets quaternion() { return packet(40, floats({1, 0, 0, 0})); }  // a nose to the North
inline Octets time(unsigned id, std::uint32_t s, std::uint32_t us) {
  Octets data;
  put(data, s, 4), put(data, us, 4);
  return packet(id, data);
}
inline Octets running(double s) {
  const auto us = static_cast<std::uint64_t>(s * 1e6 + 0.5);
  return time(49, static_cast<std::uint32_t>(us / 1'000'000),
              static_cast<std::uint32_t>(us % 1'000'000));
}
inline Octets unix_time(double s) {
  const auto us = static_cast<std::uint64_t>(s * 1e6 + 0.5);
  return time(21, static_cast<std::uint32_t>(us / 1'000'000),
              static_cast<std::uint32_t>(us % 1'000'000));
}
inline Octets status(unsigned system, unsigned filter) {
  Octets data;
  put(data, system, 2), put(data, filter, 2);
  return packet(23, data);
}
// Its state, heading north, turning about down.
inline Octets state(std::uint32_t s, std::uint32_t us) {
  Octets data;
  put(data, 0, 2), put(data, 1, 2), put(data, s, 4), put(data, us, 4);
  data.resize(data.size() + 24);
  const Octets rest = floats({0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0.5, 1, 1, 2});
  data.insert(data.end(), rest.begin(), rest.end());
  return packet(20, data);
}

inline Octets ack(const Octets& of, unsigned result = 0) {
  Octets data{of[1], of[3], of[4], static_cast<std::byte>(result)};
  return packet(0, data);
}
inline Octets info() {
  Octets data;
  for (const std::uint32_t v : {2300U, 3U, 3200U, 1U, 2U, 3U}) put(data, v, 4);
  return packet(3, data);
}

}  // namespace test::anpp
