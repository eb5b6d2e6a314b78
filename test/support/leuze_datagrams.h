// Datagrams of a Leuze RSL, built from the description.
#pragma once

#include "test/support/stream.h"

namespace test::leuze {

inline void put(Stream& to, std::uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to.push_back(static_cast<std::byte>(value >> (8 * i)));
}

inline Stream head(std::size_t data, unsigned kind, unsigned device, unsigned block,
                   std::uint32_t scan) {
  Stream bytes;
  put(bytes, 20 + data, 4);
  put(bytes, 0xC8021504FEAF0008U, 8);
  put(bytes, device << 8 | kind, 2);
  put(bytes, block, 2);
  put(bytes, scan, 4);
  return bytes;
}

inline Stream status(unsigned device, std::uint32_t scan, unsigned first, unsigned last,
                     unsigned interval) {
  Stream bytes = head(device == 0 ? 28 : 36, 1, device, 0, scan);
  bytes.resize(device == 0 ? 40 : 48);
  for (const unsigned v : {first, last, interval, 0U}) put(bytes, v, 2);
  return bytes;
}

// Beam k of the scan: 1000 + k % 20'000 mm, amplitude k % 1000.
inline Stream block(unsigned device, std::uint32_t scan, unsigned number, std::size_t beams,
                    bool has_amplitude = true) {
  Stream bytes = head(beams * (has_amplitude ? 4 : 2), has_amplitude ? 3 : 6, device, number, scan);
  for (std::size_t i = 0; i < beams; ++i) {
    const std::size_t k = number * 360 + i;
    put(bytes, 1000 + k % 20'000, 2);
    if (has_amplitude) put(bytes, k % 1000, 2);
  }
  return bytes;
}

// Status and blocks of the whole field.
inline std::vector<Stream> scan(unsigned device, std::uint32_t number, bool has_amplitude = true) {
  const std::size_t beams = device == 0 ? 2700 : 1351;
  std::vector<Stream> all{status(device, number, 0, static_cast<unsigned>(beams - 1), 1)};
  for (unsigned b = 0; b * 360 < beams; ++b) {
    all.push_back(
        block(device, number, b, std::min<std::size_t>(360, beams - b * 360), has_amplitude));
  }
  return all;
}

}  // namespace test::leuze
