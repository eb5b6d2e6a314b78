// Any bytes from a Vanjee lidar of each model, and any content under a good check.
#include "drivers/vanjee/vanjee.h"
#include "drivers/wire.h"
#include "test/fuzz/device_fuzz.h"

namespace {

void under_good_checks(const drivers::Options& options, unsigned device, hal::Bytes input) {
  test::FuzzSink sink;
  drivers::DeviceDecoder<drivers::Vanjee> decoder(options, 0, sink);
  hal::Time now{std::chrono::seconds(1000)};
  test::in_pieces(input, [&](hal::Bytes piece) {
    if (piece.empty()) return;
    const auto at = [&](std::size_t i) { return piece[i % piece.size()]; };
    const std::size_t n = 1 + std::to_integer<std::size_t>(at(0)) * 2;
    const std::size_t size = device == 0x190A ? 1234 : 89 + 2 * n + 8;
    std::vector<std::byte> frame(size);
    for (std::size_t i = 0; i < size; ++i) frame[i] = at(i);
    const auto put = [&](std::size_t where, std::size_t value) {
      frame[where] = static_cast<std::byte>(value >> 8);
      frame[where + 1] = static_cast<std::byte>(value);
    };
    put(0, 0xFFAA), put(2, size - 4), put(12, device), put(size - 2, 0xEEEE);
    frame[10] = std::byte{1};
    if (device == 0x190A) {
      frame[16] = std::byte{5};
      frame[17] = static_cast<std::byte>(3 + std::to_integer<unsigned>(at(17)) % 6);
    } else {
      put(22, 0x0202);
      put(76, 0);
      frame[79] = std::byte{0};
      frame[80] = std::byte{4};
      frame[81] &= std::byte{3};
      frame[82] &= std::byte{1};
      put(83, n);
    }
    put(size - 4, drivers::wire::xor8(hal::Bytes(frame).subspan(2, size - 6)));
    decoder.feed({frame, now += std::chrono::milliseconds(4), {}, 0, true});
  });
  decoder.finish();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const hal::Bytes input = std::as_bytes(std::span(data, size));
  for (const auto& [model, device] :
       {std::pair{"716mini", 0x000DU}, {"718H", 0x000EU}, {"719", 0x190AU}}) {
    drivers::Options options(drivers::Vanjee::options());
    if (!options.set("model", model)) return 0;
    under_good_checks(options, device, input);
    test::fuzz_device<drivers::Vanjee>(options, data, size);
  }
  return 0;
}
