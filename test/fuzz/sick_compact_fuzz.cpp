// Any bytes from a picoScan, and any content under a good checksum.
#include "drivers/sick_compact/sick_compact.h"
#include "hal/crc32.h"
#include "test/fuzz/device_fuzz.h"

namespace {

// Each piece as a datagram: its start and its checksum made good.
void under_good_checksums(hal::Bytes input) {
  drivers::Options options(drivers::SickCompact::options());
  test::FuzzSink sink;
  drivers::DeviceDecoder<drivers::SickCompact> decoder(options, 0, sink);
  hal::Time now{std::chrono::seconds(1000)};
  test::in_pieces(input, [&](hal::Bytes piece) {
    std::vector<std::byte> datagram(4, std::byte{2});
    datagram.insert(datagram.end(), piece.begin(), piece.end());
    if (datagram.size() > 8) {
      datagram[4] = (datagram[4] & std::byte{1}) == std::byte{0} ? std::byte{1} : std::byte{2};
      datagram[5] = datagram[6] = datagram[7] = std::byte{0};
    }
    const std::uint32_t crc = hal::crc32(datagram);
    for (int shift = 0; shift < 32; shift += 8)
      datagram.push_back(static_cast<std::byte>(crc >> shift));
    decoder.feed({datagram, now += std::chrono::milliseconds(4), {}, 0, true});
  });
  decoder.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  under_good_checksums(std::as_bytes(std::span(data, size)));
  return test::fuzz_device<drivers::SickCompact>(drivers::Options(drivers::SickCompact::options()),
                                                 data, size);
}
