// Any bytes from a WitMotion sensor.
#include "drivers/witmotion/witmotion.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Witmotion::options());
  return test::fuzz_device<drivers::Witmotion>(options, data, size);
}
