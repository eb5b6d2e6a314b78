// Any bytes from a BNO055.
#include "drivers/bno055/bno055.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Bno055::options());
  return test::fuzz_device<drivers::Bno055>(options, data, size);
}
