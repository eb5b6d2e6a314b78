// Builds what an RPLIDAR sends, from the description of its protocol.
#pragma once

#include <cmath>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string_view>
#include <utility>

#include "test/support/stream.h"

namespace test::rplidar {

inline void put(Stream& s, std::uint64_t v, int bytes) {
  for (; bytes > 0; --bytes, v >>= 8) s.push_back(static_cast<std::byte>(v & 0xFF));
}

inline Stream hex(std::string_view text) {
  Stream out;
  int high = -1;
  for (const char c : text) {
    const int v = c >= '0' && c <= '9'   ? c - '0'
                  : c >= 'a' && c <= 'f' ? c - 'a' + 10
                  : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                         : -1;
    if (v < 0) continue;
    if (high >= 0) out.push_back(static_cast<std::byte>(high * 16 + v));
    high = high < 0 ? v : -1;
  }
  return out;
}

inline Stream join(std::initializer_list<Stream> parts) {
  Stream all;
  for (const Stream& part : parts) append(all, part);
  return all;
}

inline Stream descriptor(unsigned type, std::uint32_t length, bool loop) {
  Stream s = hex("A5 5A");
  put(s, length | (loop ? 1u << 30 : 0), 4);
  put(s, type, 1);
  return s;
}

inline Stream reply(unsigned type, const Stream& payload) {
  return join({descriptor(type, static_cast<std::uint32_t>(payload.size()), false), payload});
}

inline Stream conf_reply(std::uint32_t type, const Stream& value) {
  Stream payload;
  put(payload, type, 4);
  append(payload, value);
  return reply(0x20, payload);
}

inline Stream number(std::uint64_t v, int bytes) {
  Stream s;
  put(s, v, bytes);
  return s;
}

inline Stream text(std::string_view t) {
  const auto bytes = std::as_bytes(std::span(t));
  return {bytes.begin(), bytes.end()};
}

inline Stream banner() {
  return text("RP LIDAR System.\r\nFirmware Ver 1.29 - rtm, HW Ver 7\r\nModel: 18\r\n");
}

inline Stream node(double deg, double mm, unsigned quality, bool start = false) {
  Stream s;
  const auto angle = static_cast<unsigned>(std::lround(deg * 64));
  put(s, (start ? 1u : 2u) | quality << 2, 1);
  put(s, 1u | angle << 1, 2);
  put(s, static_cast<unsigned>(std::lround(mm * 4)), 2);
  return s;
}

// Header of 0x82, 0x84 and 0x85, checksum still missing.
inline Stream open_capsule(double start_deg, bool first) {
  Stream s = hex("A0 50");
  const double wrapped = std::fmod(start_deg, 360);
  put(s, static_cast<unsigned>(std::lround(wrapped * 64)) | (first ? 0x8000u : 0u), 2);
  return s;
}

inline Stream close_capsule(Stream s) {
  unsigned x = 0;
  for (std::size_t i = 2; i < s.size(); ++i) x ^= std::to_integer<unsigned>(s[i]);
  s[0] = static_cast<std::byte>(0xA0 | (x & 15));
  s[1] = static_cast<std::byte>(0x50 | x >> 4);
  return s;
}

// All distances alike; `salt` makes capsules differ.
inline Stream express(double start_deg, unsigned mm, bool first = false, unsigned salt = 0) {
  Stream s = open_capsule(start_deg, first);
  for (unsigned i = 0; i < 16; ++i) {
    put(s, (mm + (salt + i) % 7) << 2, 2);
    put(s, mm << 2, 2);
    put(s, 0, 1);
  }
  return close_capsule(std::move(s));
}

inline Stream dense(double start_deg, unsigned mm, bool first = false) {
  Stream s = open_capsule(start_deg, first);
  for (int i = 0; i < 40; ++i) put(s, mm, 2);
  return close_capsule(std::move(s));
}

inline std::uint32_t cabin(unsigned major, int predict1, int predict2) {
  return major | (static_cast<std::uint32_t>(predict1) & 0x3FF) << 12 |
         (static_cast<std::uint32_t>(predict2) & 0x3FF) << 22;
}

inline Stream ultra(double start_deg, const std::vector<std::uint32_t>& cabins) {
  Stream s = open_capsule(start_deg, false);
  for (std::size_t i = 0; i < 32; ++i) put(s, i < cabins.size() ? cabins[i] : cabins.back(), 4);
  return close_capsule(std::move(s));
}

inline Stream ultra_dense(double start_deg, std::uint32_t v0, std::uint32_t v1) {
  Stream s = hex("A0 50");
  put(s, 123456, 4);
  put(s, 0, 2);
  put(s, static_cast<unsigned>(std::lround(std::fmod(start_deg, 360) * 64)), 2);
  for (int i = 0; i < 32; ++i) {
    put(s, v0 & 0xFFFF, 2);
    put(s, v1 & 0xFFFF, 2);
    put(s, v0 >> 16 | (v1 >> 16) << 4, 1);
  }
  return close_capsule(std::move(s));
}

inline std::uint32_t crc32(const Stream& s) {
  std::uint32_t crc = 0xFFFFFFFF;
  for (const std::byte byte : s) {
    crc ^= std::to_integer<std::uint32_t>(byte);
    for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? crc >> 1 ^ 0xEDB88320 : crc >> 1;
  }
  return ~crc;
}

inline Stream hq(double start_deg, double step_deg, double mm, unsigned quality, int flagged) {
  Stream s = hex("A5");
  put(s, 987654321, 8);
  for (int i = 0; i < 96; ++i) {
    const double deg = std::fmod(start_deg + step_deg * i, 360);
    put(s, static_cast<unsigned>(std::lround(deg * 16384 / 90)), 2);
    put(s, static_cast<unsigned>(std::lround(mm * 4)), 4);
    put(s, quality, 1);
    put(s, i == flagged, 1);
  }
  Stream padded = s;
  padded.resize(s.size() + 3);
  put(s, crc32(padded), 4);
  return s;
}

}  // namespace test::rplidar
