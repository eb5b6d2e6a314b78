// Any bytes from an NGIMU.
#include "drivers/ngimu/ngimu.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Ngimu::options());
  return test::fuzz_device<drivers::Ngimu>(options, data, size);
}
