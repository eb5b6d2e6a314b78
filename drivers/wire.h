// Fields and checks of frames. Offsets are the caller's to keep within the frame.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "hal/bytes.h"

namespace drivers::wire {

using hal::Bytes;

constexpr std::uint8_t u8(Bytes b, std::size_t at) { return std::to_integer<std::uint8_t>(b[at]); }

// Little-endian. In one piece where the machine is, too: compilers do not always see that bytes
// that are put together are one.
template <class T>
constexpr T little(Bytes b, std::size_t at) {
  if (std::is_constant_evaluated() || std::endian::native != std::endian::little) {
    std::uint64_t value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) value = value << 8 | u8(b, at + i);
    return static_cast<T>(value);
  }
  T value{};
  std::memcpy(&value, &b[at], sizeof value);
  return value;
}
constexpr std::uint16_t u16(Bytes b, std::size_t at) { return little<std::uint16_t>(b, at); }
constexpr std::uint32_t u32(Bytes b, std::size_t at) { return little<std::uint32_t>(b, at); }
constexpr std::uint64_t u64(Bytes b, std::size_t at) { return little<std::uint64_t>(b, at); }
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

// Checks go by eight bytes at a time: one by one they cost more than the decoding of a frame.

// Of little-endian words; an odd last byte counts as one.
constexpr std::uint16_t xor16(Bytes b) {
  std::uint64_t x = 0;
  std::size_t at = 0;
  for (; at + 8 <= b.size(); at += 8) x ^= u64(b, at);
  x ^= x >> 32;
  x ^= x >> 16;
  for (; at + 2 <= b.size(); at += 2) x ^= u16(b, at);
  if (at < b.size()) x ^= u8(b, at);
  return static_cast<std::uint16_t>(x);
}
constexpr std::uint8_t xor8(Bytes b, std::uint8_t start = 0) {
  const unsigned x = xor16(b);
  return static_cast<std::uint8_t>(start ^ x ^ x >> 8);
}

// Of little-endian words, of an even number of bytes.
constexpr std::uint32_t sum16(Bytes b) {
  constexpr std::uint64_t kWords = 0x0000'FFFF'0000'FFFF;
  std::uint64_t lanes = 0;  // two sums of 32 bits
  std::size_t at = 0;
  for (; at + 8 <= b.size(); at += 8) {
    const std::uint64_t x = u64(b, at);
    lanes += (x & kWords) + (x >> 16 & kWords);
  }
  auto sum = static_cast<std::uint32_t>(lanes + (lanes >> 32));
  for (; at + 2 <= b.size(); at += 2) sum += u16(b, at);
  return sum;
}

// Of bytes.
constexpr std::uint32_t sum_of(Bytes b) {
  constexpr std::uint64_t kBytes = 0x00FF'00FF'00FF'00FF, kWords = 0x0000'FFFF'0000'FFFF;
  std::uint64_t lanes = 0;  // two sums of 32 bits
  std::size_t at = 0;
  for (; at + 8 <= b.size(); at += 8) {
    const std::uint64_t x = u64(b, at), pairs = (x & kBytes) + (x >> 8 & kBytes);
    lanes += (pairs & kWords) + (pairs >> 16 & kWords);
  }
  auto sum = static_cast<std::uint32_t>(lanes + (lanes >> 32));
  for (; at < b.size(); ++at) sum += u8(b, at);
  return sum;
}

// [k][v]: CRC-8 of byte v with k zero bytes behind it; MSB first, start value 0, no final xor.
template <std::uint8_t kPolynomial>
inline constexpr auto kCrc8 = [] {
  std::array<std::array<std::uint8_t, 256>, 8> tables{};
  for (unsigned v = 0; v < 256; ++v) {
    unsigned crc = v;
    for (auto& table : tables) {
      for (int bit = 0; bit < 8; ++bit)
        crc = (crc & 0x80 ? (crc << 1) ^ kPolynomial : crc << 1) & 0xFF;
      table[v] = static_cast<std::uint8_t>(crc);
    }
  }
  return tables;
}();

template <std::uint8_t kPolynomial>
constexpr std::uint8_t crc8(Bytes b) {
  constexpr auto& kOf = kCrc8<kPolynomial>;
  std::uint8_t crc = 0;
  std::size_t at = 0;
  for (; at + 8 <= b.size(); at += 8) {
    crc ^= u8(b, at);
    crc = kOf[7][crc] ^ kOf[6][u8(b, at + 1)] ^ kOf[5][u8(b, at + 2)] ^ kOf[4][u8(b, at + 3)] ^
          kOf[3][u8(b, at + 4)] ^ kOf[2][u8(b, at + 5)] ^ kOf[1][u8(b, at + 6)] ^
          kOf[0][u8(b, at + 7)];
  }
  for (; at < b.size(); ++at) crc = kOf[0][crc ^ u8(b, at)];
  return crc;
}

// [k][v]: CRC-16 of byte v with k zero bytes behind it; the polynomial of the CCITT, 0x1021, start
// value 0, no final xor. Reflected: LSB first, and so is what they hold.
template <bool kReflected>
inline constexpr auto kCrc16 = [] {
  std::array<std::array<std::uint16_t, 256>, 8> tables{};
  for (unsigned v = 0; v < 256; ++v) {
    unsigned crc = kReflected ? v : v << 8;
    for (auto& table : tables) {
      for (int bit = 0; bit < 8; ++bit) {
        if (kReflected) {
          crc = crc & 1 ? (crc >> 1) ^ 0x8408 : crc >> 1;
        } else {
          crc = (crc & 0x8000 ? (crc << 1) ^ 0x1021 : crc << 1) & 0xFFFF;
        }
      }
      table[v] = static_cast<std::uint16_t>(crc);
    }
  }
  return tables;
}();

template <bool kReflected>
constexpr std::uint16_t crc16_of(Bytes b, std::uint16_t start) {
  constexpr auto& kOf = kCrc16<kReflected>;
  unsigned crc = start;
  std::size_t at = 0;
  const auto low = [&crc] { return crc & 0xFF; };
  const auto high = [&crc] { return crc >> 8; };
  for (; at + 8 <= b.size(); at += 8) {
    const unsigned first = u8(b, at) ^ (kReflected ? low() : high());
    const unsigned second = u8(b, at + 1) ^ (kReflected ? high() : low());
    crc = unsigned{kOf[7][first]} ^ kOf[6][second] ^ kOf[5][u8(b, at + 2)] ^ kOf[4][u8(b, at + 3)] ^
          kOf[3][u8(b, at + 4)] ^ kOf[2][u8(b, at + 5)] ^ kOf[1][u8(b, at + 6)] ^
          kOf[0][u8(b, at + 7)];
  }
  for (; at < b.size(); ++at) {
    const unsigned byte = u8(b, at) ^ (kReflected ? low() : high());
    crc = kOf[0][byte] ^ (kReflected ? high() : low() << 8);
  }
  return static_cast<std::uint16_t>(crc);
}

// MSB first; start 0: XMODEM, 0xFFFF: CCITT-FALSE.
constexpr std::uint16_t crc16(Bytes b, std::uint16_t start = 0) {
  return crc16_of<false>(b, start);
}
// LSB first (KERMIT).
constexpr std::uint16_t crc16_reflected(Bytes b) { return crc16_of<true>(b, 0); }

// Of an even number of bytes, as little-endian words: each doubles what came before it, and what
// lies above 15 bits is added to them at the end. The Neato XV-11's, and of others after it.
constexpr unsigned fold15(Bytes b) {
  std::uint32_t sum = 0;
  for (std::size_t i = 0; i + 1 < b.size(); i += 2) sum = (sum << 1) + u16(b, i);
  return ((sum & 0x7FFF) + (sum >> 15)) & 0x7FFF;
}

}  // namespace drivers::wire
