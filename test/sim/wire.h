// Writing the fields of simulated frames, byte by byte, in either order.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>

#include "test/sim/device_model.h"

namespace sim {

inline void put8(ByteVector& to, std::uint64_t value) {
  to.push_back(static_cast<std::byte>(value & 0xFFU));
}
inline void put_le(ByteVector& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) put8(to, value >> (8 * i));
}
inline void put_be(ByteVector& to, std::uint64_t value, int bytes) {
  for (int i = bytes - 1; i >= 0; --i) put8(to, value >> (8 * i));
}
inline void put_be_f32(ByteVector& to, double value) {
  put_be(to, std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
}
inline void put_be_f64(ByteVector& to, double value) {
  put_be(to, std::bit_cast<std::uint64_t>(value), 8);
}
inline void put_le_f32(ByteVector& to, double value) {
  put_le(to, std::bit_cast<std::uint32_t>(static_cast<float>(value)), 4);
}
inline void put_le_f64(ByteVector& to, double value) {
  put_le(to, std::bit_cast<std::uint64_t>(value), 8);
}
inline void put_text(ByteVector& to, std::string_view text) {
  for (const char c : text) put8(to, static_cast<unsigned char>(c));
}
inline unsigned u8_at(hal::Bytes bytes, std::size_t at) {
  return std::to_integer<unsigned>(bytes[at]);
}
inline std::uint64_t get_le(hal::Bytes bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = count; i > 0; --i) value = (value << 8) | u8_at(bytes, at + i - 1);
  return value;
}
inline std::uint64_t get_be(hal::Bytes bytes, std::size_t at, std::size_t count) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < count; ++i) value = (value << 8) | u8_at(bytes, at + i);
  return value;
}

}  // namespace sim
