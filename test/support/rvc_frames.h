// Builds frames of a BNO08x in UART-RVC mode from the protocol description.
#pragma once

#include <vector>

#include "test/support/hex.h"

namespace test::rvc {

using Octets = std::vector<std::byte>;

// Angles in 0.01 deg, acceleration in mg.
struct Reading {
  int yaw = 0, pitch = 0, roll = 0;
  int x = 0, y = 0, z = 1000;
};

inline Octets frame(unsigned index, const Reading& r = {}) {
  Octets f = hex("AA AA");
  unsigned sum = 0;
  const auto put = [&](int v) {
    f.push_back(static_cast<std::byte>(v & 0xFF));
    sum += static_cast<unsigned>(v & 0xFF);
  };
  put(static_cast<int>(index));
  for (const int v : {r.yaw, r.pitch, r.roll, r.x, r.y, r.z}) put(v), put(v >> 8);
  put(0), put(0), put(0);
  f.push_back(static_cast<std::byte>(sum & 0xFF));
  return f;
}

}  // namespace test::rvc
