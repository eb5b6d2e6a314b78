// Any bytes from an SBG device.
#include "drivers/sbg/sbg.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Sbg::options());
  return test::fuzz_device<drivers::Sbg>(options, data, size);
}
