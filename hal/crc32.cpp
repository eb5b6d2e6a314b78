#include "hal/crc32.h"

#include <array>

namespace hal {
namespace {

// Row k advances a byte by k further zero bytes, so that eight bytes are taken at a time.
using Tables = std::array<std::array<std::uint32_t, 256>, 8>;

constexpr Tables make_tables() {
  Tables t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t value = i;
    for (int bit = 0; bit < 8; ++bit) value = (value >> 1) ^ (value & 1U ? 0xedb88320U : 0U);
    t[0][i] = value;
  }
  for (std::size_t row = 1; row < t.size(); ++row) {
    for (std::size_t i = 0; i < 256; ++i) {
      const std::uint32_t before = t[row - 1][i];
      t[row][i] = (before >> 8) ^ t[0][before & 0xffU];
    }
  }
  return t;
}

constexpr Tables kTables = make_tables();

}  // namespace

void Crc32::add(Bytes bytes) {
  std::uint32_t state = state_;
  const auto at = [&bytes](std::size_t i) { return std::to_integer<std::uint32_t>(bytes[i]); };
  for (; bytes.size() >= 8; bytes = bytes.subspan(8)) {
    state ^= at(0) | at(1) << 8 | at(2) << 16 | at(3) << 24;
    state = kTables[7][state & 0xffU] ^ kTables[6][state >> 8 & 0xffU] ^
            kTables[5][state >> 16 & 0xffU] ^ kTables[4][state >> 24] ^ kTables[3][at(4)] ^
            kTables[2][at(5)] ^ kTables[1][at(6)] ^ kTables[0][at(7)];
  }
  for (const std::byte b : bytes) {
    state = (state >> 8) ^ kTables[0][(state ^ std::to_integer<std::uint32_t>(b)) & 0xffU];
  }
  state_ = state;
}

}  // namespace hal
