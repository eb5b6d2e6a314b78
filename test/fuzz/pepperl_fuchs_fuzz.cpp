// Any bytes from an R2000 or R2300, as a stream and as datagrams, in any order.
#include "drivers/pepperl_fuchs/pepperl_fuchs.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::PepperlFuchs::options());
  test::FuzzSink sink;
  drivers::DeviceDecoder<drivers::PepperlFuchs> decoder(options, 0, sink);
  hal::Time now{std::chrono::seconds(1000)};
  test::in_pieces(std::as_bytes(std::span(data, size)), [&](hal::Bytes piece) {
    decoder.feed({piece, now += std::chrono::milliseconds(4), {}, 0, true});
  });
  decoder.finish();
  return test::fuzz_device<drivers::PepperlFuchs>(options, data, size);
}
