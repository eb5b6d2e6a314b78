// Any bytes from a MIP sensor.
#include "drivers/microstrain_mip/microstrain_mip.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::MicrostrainMip::options());
  return test::fuzz_device<drivers::MicrostrainMip>(options, data, size);
}
