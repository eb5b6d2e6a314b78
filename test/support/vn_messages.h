// Builds VectorNav messages from the protocol description, not with the driver's own code.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <vector>

#include "test/support/hex.h"

namespace test::vn {

using Octets = std::vector<std::byte>;

inline unsigned crc16(hal::Bytes bytes) {
  unsigned crc = 0;
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<unsigned>(byte) << 8;
    for (int bit = 0; bit < 8; ++bit)
      crc = (crc << 1 ^ ((crc & 0x8000) != 0 ? 0x1021U : 0U)) & 0xFFFF;
  }
  return crc;
}

inline Octets little(std::uint64_t v, int bytes) {
  Octets out;
  for (; bytes > 0; --bytes, v >>= 8) out.push_back(static_cast<std::byte>(v));
  return out;
}
inline Octets floats(std::initializer_list<double> values) {
  Octets out;
  for (const double v : values) {
    out = joined(out, little(std::bit_cast<std::uint32_t>(static_cast<float>(v)), 4));
  }
  return out;
}

// `header` behind 0xFA: groups and fields; `payload` as it is.
inline Octets binary(const char* header, const Octets& payload) {
  Octets m = joined(joined(hex("FA"), hex(header)), payload);
  const unsigned crc = crc16(hal::Bytes(m).subspan(1));
  m.push_back(static_cast<std::byte>(crc >> 8));
  m.push_back(static_cast<std::byte>(crc));
  return m;
}

// Of a level sensor at rest: start-up time, quaternion, rate, acceleration.
inline Octets sample(std::int64_t ns) {
  return binary("01 31 01", joined(little(static_cast<std::uint64_t>(ns), 8),
                                   floats({0, 0, 0, 1, 0.01, -0.02, 0.03, 0.1, -0.2, -9.81})));
}

// "VNYMR,..." with its check, of two digits or four.
inline Octets text(const std::string& body, bool four = false) {
  unsigned sum = 0;
  for (const char c : body) sum ^= static_cast<unsigned char>(c);
  char check[8];
  if (four) {
    std::snprintf(check, sizeof check, "%04X", crc16(std::as_bytes(std::span(body))));
  } else {
    std::snprintf(check, sizeof check, "%02X", sum);
  }
  const std::string line = "$" + body + "*" + check + "\r\n";
  const hal::Bytes bytes = std::as_bytes(std::span(line));
  return {bytes.begin(), bytes.end()};
}

}  // namespace test::vn
