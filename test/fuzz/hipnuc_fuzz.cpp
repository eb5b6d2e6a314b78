// Any bytes from a HiPNUC sensor.
#include "drivers/hipnuc/hipnuc.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Hipnuc::options());
  return test::fuzz_device<drivers::Hipnuc>(options, data, size);
}
