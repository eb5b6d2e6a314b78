// Any bytes from an FDILink device.
#include "drivers/fdilink/fdilink.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Fdilink::options());
  return test::fuzz_device<drivers::Fdilink>(options, data, size);
}
