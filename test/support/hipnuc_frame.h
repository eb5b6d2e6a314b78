// Builds frames of a HiPNUC sensor from the protocol description, not with the driver's own code.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

#include "test/support/hex.h"

namespace test::hipnuc {

using Octets = std::vector<std::byte>;

inline void put(Octets& to, std::uint64_t v, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(v >> (8 * i)));
}
inline void put_floats(Octets& to, std::initializer_list<double> values) {
  for (const double v : values) put(to, std::bit_cast<std::uint32_t>(static_cast<float>(v)), 4);
}
inline void put_shorts(Octets& to, std::initializer_list<int> values) {
  for (const int v : values) put(to, static_cast<std::uint16_t>(v), 2);
}

inline Octets frame(const Octets& payload) {
  Octets f = hex("5A A5");
  put(f, payload.size(), 2);
  unsigned crc = 0;
  const auto add = [&crc](const Octets& bytes) {
    for (const std::byte b : bytes) {
      crc ^= std::to_integer<unsigned>(b) << 8;
      for (int bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? crc << 1 ^ 0x1021 : crc << 1;
    }
  };
  add(f), add(payload);
  put(f, crc & 0xFFFF, 2);
  f.insert(f.end(), payload.begin(), payload.end());
  return f;
}

struct Floats {
  double x, y, z;
};

// Level and at rest, its right to the East.
inline Octets hi91(std::uint32_t ms, Floats accel_g = {0, 0, 1}, Floats gyro_dps = {1, 0, 0}) {
  Octets p = hex("91 00 00 19");
  put_floats(p, {101'325});
  put(p, ms, 4);
  put_floats(p, {accel_g.x, accel_g.y, accel_g.z, gyro_dps.x, gyro_dps.y, gyro_dps.z, 20, -5, -40});
  put_floats(p, {0, 0, 0, 1, 0, 0, 0});
  return frame(p);
}
inline Octets hi92(int gyro_x = 10) {
  Octets p = hex("92 00 00 19 00 00 2D 05 00 00");
  put_shorts(p, {gyro_x, 0, 0, 0, 0, 2008, 655, -164, -1311});
  for (const int angle : {0, 0, 0}) put(p, static_cast<std::uint32_t>(angle), 4);
  put_shorts(p, {10'000, 0, 0, 0});
  return frame(p);
}
// `week` and `ms` of the GPS.
inline Octets hi81(unsigned week, std::uint32_t ms) {
  Octets p = hex("81 00 00 03");
  put(p, week, 2), put(p, ms, 4), put(p, 0, 2);
  put_shorts(p, {1000, -2000, 3000, 0, 0, 2008, 655, -164, -1311, 1325, 0});
  put(p, 25, 1), put(p, 0, 13);  // temperature; date, time and angles
  put_shorts(p, {7071, 0, 0, 7071});
  p.resize(104);
  return frame(p);
}
// The fields of `map`, in its order.
inline Octets hi83(std::uint32_t map, const Octets& fields) {
  Octets p = hex("83 00 00 00");
  put(p, map, 4);
  p.insert(p.end(), fields.begin(), fields.end());
  return frame(p);
}

inline Octets line(std::string_view text) {
  Octets out;
  for (const char c : text) out.push_back(static_cast<std::byte>(c));
  out.push_back(std::byte{'\r'}), out.push_back(std::byte{'\n'});
  return out;
}

}  // namespace test::hipnuc
