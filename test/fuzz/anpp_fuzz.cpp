// Any bytes from an Advanced Navigation device.
#include "drivers/anpp/anpp.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Anpp::options());
  return test::fuzz_device<drivers::Anpp>(options, data, size);
}
