// Any bytes from a Leuze RSL, and any content behind good heads.
#include "drivers/leuze_rsl/leuze_rsl.h"
#include "test/fuzz/device_fuzz.h"

namespace {

// Each piece as a datagram whose head is right, of a scanner whose statuses and blocks mix.
void under_good_heads(hal::Bytes input) {
  constexpr std::uint64_t kMark = 0xC8021504FEAF0008U;
  drivers::Options options(drivers::LeuzeRsl::options());
  test::FuzzSink sink;
  drivers::DeviceDecoder<drivers::LeuzeRsl> decoder(options, 0, sink);
  hal::Time now{std::chrono::seconds(1000)};
  test::in_pieces(input, [&](hal::Bytes piece) {
    if (piece.size() < 4) return;
    const auto at = [&](std::size_t i) { return std::to_integer<unsigned>(piece[i]); };
    const unsigned device = at(0) >> 7, block = at(1) % 8, scan = 1 + at(2) % 4;
    const bool is_status = at(0) % 8 == 1;
    const unsigned kind = is_status ? 1 : at(0) % 2 == 0 ? 3 : 6;
    std::size_t data = is_status ? (device == 0 ? 28 : 36) : kind == 3 ? 1440 : 720;
    if (at(3) % 4 == 0) data = 4 * (1 + at(3));
    std::vector<std::byte> datagram;
    const auto put = [&](std::uint64_t v, int n) {
      for (int i = 0; i < n; ++i) datagram.push_back(static_cast<std::byte>(v >> (8 * i)));
    };
    put(20 + data, 4);
    put(kMark, 8);
    put(device << 8 | kind, 2);
    put(block, 2);
    put(scan, 4);
    for (std::size_t i = 0; i < data; ++i) datagram.push_back(piece[i % piece.size()]);
    if (is_status && at(3) % 2 == 0) {  // a field that makes sense
      datagram.resize(datagram.size() - 8);
      put(0, 2), put(at(3) * 8, 2), put(1, 4);
    }
    decoder.feed({datagram, now += std::chrono::milliseconds(4), {}, 0, true});
  });
  decoder.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  under_good_heads(std::as_bytes(std::span(data, size)));
  return test::fuzz_device<drivers::LeuzeRsl>(drivers::Options(drivers::LeuzeRsl::options()), data,
                                              size);
}
