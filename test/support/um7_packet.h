// Builds packets of a UM7 from the protocol description, not with the driver's own writer.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "test/support/hex.h"

namespace test::um7 {

using Octets = std::vector<std::byte>;

// A register of a float, and one of two halves.
inline std::uint32_t f32(double v) { return std::bit_cast<std::uint32_t>(static_cast<float>(v)); }
inline std::uint32_t halves(int high, int low) {
  return static_cast<std::uint32_t>(high & 0xFFFF) << 16 | static_cast<std::uint32_t>(low & 0xFFFF);
}

inline Octets packet(unsigned type, unsigned address,
                     std::initializer_list<std::uint32_t> data = {}) {
  Octets p = hex("73 6E 70");
  const auto put = [&p](unsigned v) { p.push_back(static_cast<std::byte>(v)); };
  put(type), put(address);
  for (const std::uint32_t v : data) put(v >> 24), put(v >> 16), put(v >> 8), put(v);
  unsigned sum = 0;
  for (const std::byte b : p) sum += std::to_integer<unsigned>(b);
  put(sum >> 8), put(sum);
  return p;
}
inline Octets batch(unsigned address, std::initializer_list<std::uint32_t> data) {
  return packet(0xC0U | static_cast<unsigned>(data.size()) << 2, address, data);
}

// All processed data, level and at rest; the attitude of a nose to the North.
inline Octets processed(double seconds, double gyro_x_dps = 1) {
  const std::uint32_t t = f32(seconds);
  return batch(97, {f32(gyro_x_dps), f32(0), f32(0), t, f32(0), f32(0), f32(-1), t, f32(0.5),
                    f32(0), f32(0.9), t});
}
inline Octets attitude(double seconds) {
  return batch(109, {halves(29789, 0), halves(0, 0), f32(seconds)});
}

}  // namespace test::um7
