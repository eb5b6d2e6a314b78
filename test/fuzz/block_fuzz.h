// Datagrams of twelve blocks whose flags are right, whatever stands in them.
#pragma once

#include "test/fuzz/device_fuzz.h"

namespace test {

template <class D>
void fuzz_blocks(const drivers::Options& options, hal::Bytes input, unsigned maker0,
                 unsigned maker1) {
  FuzzSink sink;
  drivers::DeviceDecoder<D> decoder(options, 0, sink);
  hal::Time now{std::chrono::seconds(1000)};
  in_pieces(input, [&](hal::Bytes piece) {
    // The piece again and again, over the whole of the datagram.
    std::array<std::byte, 1206> datagram{};
    for (std::size_t i = 0; i < datagram.size() && !piece.empty(); ++i)
      datagram[i] = piece[i % piece.size()];
    for (std::size_t at = 0; at < 1200; at += 100) {
      datagram[at] = std::byte{0xFF}, datagram[at + 1] = std::byte{0xEE};
      if (at > 0 && piece.size() % 3 != 0) {  // azimuths that go on
        const unsigned before = std::to_integer<unsigned>(datagram[at - 98]) |
                                std::to_integer<unsigned>(datagram[at - 97]) << 8;
        const unsigned next = (before + std::to_integer<unsigned>(datagram[at + 2]) * 4) % 36'001;
        datagram[at + 2] = static_cast<std::byte>(next);
        datagram[at + 3] = static_cast<std::byte>(next >> 8);
      }
    }
    datagram[1204] = static_cast<std::byte>(maker0);
    datagram[1205] = static_cast<std::byte>(maker1);
    decoder.feed({datagram, now += std::chrono::microseconds(50 * piece.size()), {}, 0, true});
  });
  decoder.finish();
}

}  // namespace test
