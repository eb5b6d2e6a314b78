// Any bytes from a Camsense X1.
#include "drivers/camsense_x1/camsense_x1.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::CamsenseX1::options());
  return test::fuzz_device<drivers::CamsenseX1>(options, data, size);
}
