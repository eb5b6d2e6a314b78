// Builds WitMotion frames from the protocol description, not with the driver's own code.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>
#include <vector>

#include "test/support/hex.h"

namespace test::wit {

using Octets = std::vector<std::byte>;

inline Octets frame(unsigned type, std::array<int, 4> words) {
  Octets f = hex("55");
  f.push_back(static_cast<std::byte>(type));
  for (const int w : words) {
    f.push_back(static_cast<std::byte>(w));
    f.push_back(static_cast<std::byte>(w >> 8));
  }
  unsigned sum = 0;
  for (const std::byte b : f) sum += std::to_integer<unsigned>(b);
  f.push_back(static_cast<std::byte>(sum));
  return f;
}

inline Octets accel(int x = 0, int y = 0, int z = 2048) { return frame(0x51, {x, y, z, 2500}); }
inline Octets gyro(int x = 164, int y = -328, int z = 492) { return frame(0x52, {x, y, z, 0}); }
// Level, yaw as an attitude of a body in the world.
inline Octets angles(double yaw_deg) {
  return frame(0x53, {0, 0, static_cast<int>(std::lround(yaw_deg / 180 * 32768)), 0});
}
inline Octets quaternion(double yaw_deg, bool w_first = true) {
  const double half = yaw_deg / 2 * 3.14159265358979323846 / 180;
  const int w = static_cast<int>(std::lround(std::cos(half) * 32767));
  const int z = static_cast<int>(std::lround(std::sin(half) * 32767));
  return w_first ? frame(0x59, {w, 0, 0, z}) : frame(0x59, {0, 0, z, w});
}
// Four registers.
inline Octets registers(int a, int b, int c = 0, int d = 0) { return frame(0x5F, {a, b, c, d}); }
// 2025-11-30, at this time of day.
inline Octets time(unsigned ms_of_day) {
  const auto at = [&](unsigned unit, unsigned of) {
    return static_cast<int>(ms_of_day / unit % of);
  };
  return frame(0x50, {25 | 11 << 8, 30 | at(3'600'000, 24) << 8, at(60'000, 60) | at(1000, 60) << 8,
                      at(1, 1000)});
}

// What it sends of one instant with all of an attitude.
inline Octets set(double yaw_deg, bool w_first = true) {
  return joined(joined(accel(), gyro()), joined(angles(yaw_deg), quaternion(yaw_deg, w_first)));
}

}  // namespace test::wit
