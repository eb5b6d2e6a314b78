// Fields and checks of frames. Offsets are the caller's to keep within the frame.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "hal/bytes.h"

namespace drivers::wire {

using hal::Bytes;

constexpr std::uint8_t u8(Bytes b, std::size_t at) { return std::to_integer<std::uint8_t>(b[at]); }

// Little-endian.
constexpr std::uint16_t u16(Bytes b, std::size_t at) {
  return static_cast<std::uint16_t>(u8(b, at) | u8(b, at + 1) << 8);
}
constexpr std::uint32_t u32(Bytes b, std::size_t at) {
  return u16(b, at) | static_cast<std::uint32_t>(u16(b, at + 2)) << 16;
}
constexpr std::uint64_t u64(Bytes b, std::size_t at) {
  return u32(b, at) | static_cast<std::uint64_t>(u32(b, at + 4)) << 32;
}
constexpr std::int16_t i16(Bytes b, std::size_t at) {
  return static_cast<std::int16_t>(u16(b, at));
}
constexpr std::int32_t i32(Bytes b, std::size_t at) {
  return static_cast<std::int32_t>(u32(b, at));
}
constexpr float f32(Bytes b, std::size_t at) { return std::bit_cast<float>(u32(b, at)); }
constexpr double f64(Bytes b, std::size_t at) { return std::bit_cast<double>(u64(b, at)); }

// Big-endian.
constexpr std::uint16_t u16be(Bytes b, std::size_t at) {
  return static_cast<std::uint16_t>(u8(b, at) << 8 | u8(b, at + 1));
}
constexpr std::uint32_t u32be(Bytes b, std::size_t at) {
  return static_cast<std::uint32_t>(u16be(b, at)) << 16 | u16be(b, at + 2);
}
constexpr std::uint64_t u64be(Bytes b, std::size_t at) {
  return static_cast<std::uint64_t>(u32be(b, at)) << 32 | u32be(b, at + 4);
}
constexpr std::int16_t i16be(Bytes b, std::size_t at) {
  return static_cast<std::int16_t>(u16be(b, at));
}
constexpr std::int32_t i32be(Bytes b, std::size_t at) {
  return static_cast<std::int32_t>(u32be(b, at));
}
constexpr float f32be(Bytes b, std::size_t at) { return std::bit_cast<float>(u32be(b, at)); }
constexpr double f64be(Bytes b, std::size_t at) { return std::bit_cast<double>(u64be(b, at)); }

constexpr std::uint8_t xor8(Bytes b, std::uint8_t start = 0) {
  for (const std::byte byte : b) start ^= std::to_integer<std::uint8_t>(byte);
  return start;
}

// CRC-8, MSB first, start value 0, no final xor.
template <std::uint8_t kPolynomial>
constexpr std::uint8_t crc8(Bytes b) {
  constexpr auto kTable = [] {
    std::array<std::uint8_t, 256> table{};
    for (unsigned i = 0; i < 256; ++i) {
      unsigned crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc & 0x80 ? (crc << 1) ^ kPolynomial : crc << 1;
      table[i] = static_cast<std::uint8_t>(crc);
    }
    return table;
  }();
  std::uint8_t crc = 0;
  for (const std::byte byte : b) crc = kTable[crc ^ std::to_integer<std::uint8_t>(byte)];
  return crc;
}

constexpr unsigned sum_of(Bytes b) {
  unsigned sum = 0;
  for (const std::byte byte : b) sum += std::to_integer<unsigned>(byte);
  return sum;
}

// CRC-16 with the polynomial of the CCITT, 0x1021, MSB first, without final xor; start 0: XMODEM,
// 0xFFFF: CCITT-FALSE.
constexpr std::uint16_t crc16(Bytes b, std::uint16_t start = 0) {
  constexpr auto kTable = [] {
    std::array<std::uint16_t, 256> table{};
    for (unsigned i = 0; i < 256; ++i) {
      unsigned crc = i << 8;
      for (int bit = 0; bit < 8; ++bit) crc = crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1;
      table[i] = static_cast<std::uint16_t>(crc);
    }
    return table;
  }();
  std::uint16_t crc = start;
  for (const std::byte byte : b) {
    crc = static_cast<std::uint16_t>((crc << 8) ^
                                     kTable[(crc >> 8) ^ std::to_integer<unsigned>(byte)]);
  }
  return crc;
}

// The same polynomial, LSB first, start value 0 (KERMIT).
constexpr std::uint16_t crc16_reflected(Bytes b) {
  constexpr auto kTable = [] {
    std::array<std::uint16_t, 256> table{};
    for (unsigned i = 0; i < 256; ++i) {
      unsigned crc = i;
      for (int bit = 0; bit < 8; ++bit) crc = crc & 1 ? (crc >> 1) ^ 0x8408 : crc >> 1;
      table[i] = static_cast<std::uint16_t>(crc);
    }
    return table;
  }();
  std::uint16_t crc = 0;
  for (const std::byte byte : b) {
    crc = static_cast<std::uint16_t>((crc >> 8) ^
                                     kTable[(crc ^ std::to_integer<unsigned>(byte)) & 0xFF]);
  }
  return crc;
}

// Of an even number of bytes, as little-endian words: each doubles what came before it, and what
// lies above 15 bits is added to them at the end. The Neato XV-11's, and of others after it.
constexpr unsigned fold15(Bytes b) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < b.size(); i += 2) sum = (sum << 1) + u16(b, i);
  return ((sum & 0x7FFF) + (sum >> 15)) & 0x7FFF;
}

}  // namespace drivers::wire
