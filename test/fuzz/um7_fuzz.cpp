// Any bytes from a UM7.
#include "drivers/um7/um7.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Um7::options());
  return test::fuzz_device<drivers::Um7>(options, data, size);
}
