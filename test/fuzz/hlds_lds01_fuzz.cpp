// Any bytes from an LDS-01.
#include "drivers/hlds_lds01/hlds_lds01.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::HldsLds01::options());
  return test::fuzz_device<drivers::HldsLds01>(options, data, size);
}
