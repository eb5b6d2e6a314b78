// Datagrams of twelve blocks (Lakibeam, LSLIDAR N301), built from their descriptions.
#pragma once

#include <array>
#include <cmath>
#include <cstdint>

#include "test/support/stream.h"

namespace test::blocks {

inline constexpr unsigned kUnused = 0xFFFF;
using Azimuths = std::array<unsigned, 12>;

inline void set16(Stream& s, std::size_t at, unsigned v) {
  s[at] = static_cast<std::byte>(v);
  s[at + 1] = static_cast<std::byte>(v >> 8);
}

// Without points; the maker's bytes as they stand in the datagram, first one high.
inline Stream empty(const Azimuths& azimuths, std::uint32_t us, unsigned maker) {
  Stream s(1206);
  for (std::size_t k = 0; k < 12; ++k) {
    set16(s, 100 * k, 0xEEFF);
    set16(s, 100 * k + 2, azimuths[k]);
  }
  set16(s, 1200, us & 0xFFFF);
  set16(s, 1202, us >> 16);
  set16(s, 1204, maker >> 8 | (maker & 0xFF) << 8);
  return s;
}

// A point of three bytes.
inline void put(Stream& s, std::size_t block, std::size_t at, unsigned distance, unsigned rssi) {
  set16(s, 100 * block + at, distance);
  s[100 * block + at + 2] = static_cast<std::byte>(rssi);
}

// Point j of block k is 1000 + 16 k + j mm away; `second`: and has a further return 500 mm behind.
inline Stream lakibeam(const Azimuths& azimuths, std::uint32_t us, bool second = false) {
  Stream s = empty(azimuths, us, 0x3740);
  for (unsigned k = 0; k < 12; ++k) {
    for (unsigned j = 0; j < 16; ++j) {
      put(s, k, 4 + 6 * j, 1000 + 16 * k + j, 10 + j);
      if (second) put(s, k, 7 + 6 * j, 1500 + 16 * k + j, 50 + j);
    }
  }
  return s;
}

// Azimuths from `first` on.
inline Azimuths even(unsigned first, unsigned step) {
  Azimuths a{};
  for (unsigned k = 0; k < 12; ++k) a[k] = (first + k * step) % 36'000;
  return a;
}

// What a Lakibeam sends: blocks of 4 degrees from 44 to 316, the blind ones left out or FFFF.
class LakibeamStream {
 public:
  explicit LakibeamStream(double hz = 20, bool sends_blind = false, double us = 1e6)
      : hz_(hz), sends_blind_(sends_blind), us_(us) {}

  Stream next(bool second = false) {
    Azimuths azimuths{};
    if (!sends_blind_) skip_blind();
    stamp_us_ = us_;
    for (unsigned& azimuth : azimuths) {
      if (!sends_blind_) skip_blind();
      azimuth = is_blind() ? kUnused : block_ * 400;
      pass();
    }
    const auto stamp = static_cast<std::uint64_t>(std::llround(stamp_us_));
    return lakibeam(azimuths, static_cast<std::uint32_t>(stamp), second);
  }
  double us() const { return us_; }              // when the newest datagram was sent
  double stamp_us() const { return stamp_us_; }  // when its first block began
  void restart(double us) { us_ = us; }

 private:
  bool is_blind() const { return block_ < 11 || block_ > 79; }
  void skip_blind() {
    while (is_blind()) pass();
  }
  void pass() {
    block_ = (block_ + 1) % 90;
    us_ += 1e6 / hz_ / 90;
  }
  double hz_;
  bool sends_blind_;
  double us_, stamp_us_ = 0;
  unsigned block_ = 11;
};

// LSLIDAR N301: group g's point i of block k is 1000 + 100 k + 15 g + i units away.
inline Stream n301(const Azimuths& azimuths, std::uint32_t us, bool is_17) {
  Stream s = empty(azimuths, us, 0x3700);
  for (unsigned k = 0; k < 12; ++k)
    for (unsigned g = 0; g < 2; ++g)
      for (unsigned i = 0; i < (is_17 ? 15U : 1U); ++i)
        put(s, k, 4 + 48 * g + 3 * i, 1000 + 100 * k + 15 * g + i, 60 + i);
  return s;
}

}  // namespace test::blocks
