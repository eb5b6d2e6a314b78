// Builds frames of sbgECom from the protocol description, not with the driver's own writer.
#pragma once

#include <bit>
#include <cstdint>
#include <initializer_list>
#include <vector>

#include "test/support/hex.h"

namespace test::sbg {

using Octets = std::vector<std::byte>;

struct Data {
  Octets bytes{};
  Data& u8(unsigned v) { return put(v, 1); }
  Data& u16(unsigned v) { return put(v, 2); }
  Data& u32(std::uint32_t v) { return put(v, 4); }
  Data& i32(std::int32_t v) { return put(static_cast<std::uint32_t>(v), 4); }
  Data& f32(double v) { return u32(std::bit_cast<std::uint32_t>(static_cast<float>(v))); }

 private:
  Data& put(std::uint32_t v, int n) {
    for (; n > 0; --n, v >>= 8) bytes.push_back(static_cast<std::byte>(v & 0xFF));
    return *this;
  }
};

inline Octets frame(unsigned log, unsigned cls, const Octets& data) {
  Data f;
  f.u8(0xFF).u8(0x5A).u8(log).u8(cls).u16(static_cast<unsigned>(data.size()));
  f.bytes.insert(f.bytes.end(), data.begin(), data.end());
  unsigned crc = 0;
  for (std::size_t i = 2; i < f.bytes.size(); ++i) {
    crc ^= std::to_integer<unsigned>(f.bytes[i]);
    for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? (crc >> 1) ^ 0x8408U : crc >> 1;
  }
  return f.u16(crc).u8(0x33).bytes;
}

// Level and at rest, turning a little about x.
inline Octets imu_short(std::uint32_t us, unsigned status = 0x3FF, double z = -9.81) {
  Data d;
  d.u32(us).u16(status).i32(0).i32(0).i32(static_cast<std::int32_t>(z * 1048576));
  d.i32(671'089).i32(0).i32(0).u16(25 * 256);
  return frame(44, 0, d.bytes);
}
inline Octets imu_data(std::uint32_t us, double z = -9.81) {
  Data d;
  d.u32(us).u16(0x3FF);
  for (const double v : {0.0, 0.0, z, 0.01, 0.0, 0.0, 25.0, 0.0, 0.0, z, 0.01, 0.0, 0.0}) d.f32(v);
  return frame(3, 0, d.bytes);
}
// A nose to the North; `more`: fields of newer firmware.
inline Octets quaternion(std::uint32_t us, std::uint32_t status = 0x32, bool more = false) {
  Data d;
  d.u32(us);
  for (const double v : {1.0, 0.0, 0.0, 0.0, 0.01, 0.01, 0.02}) d.f32(v);
  d.u32(status);
  if (more) d.f32(0.02).f32(1.1);
  return frame(7, 0, d.bytes);
}
// 2026-12-01 at this second of the day.
inline Octets utc(std::uint32_t us, unsigned second, int ns = 0, unsigned status = 0x00A7) {
  Data d;
  d.u32(us).u16(status).u16(2026).u8(12).u8(1).u8(second / 3600).u8(second / 60 % 60);
  d.u8(second % 60).i32(ns).u32(0);
  return frame(2, 0, d.bytes);
}

inline Octets ack(unsigned command, unsigned code = 0) {
  return frame(0, 0x10, Data{}.u8(command).u8(0x10).u16(code).bytes);
}

}  // namespace test::sbg
