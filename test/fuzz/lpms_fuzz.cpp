// Any bytes from an LPMS sensor.
#include "drivers/lpms/lpms.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Lpms::options());
  return test::fuzz_device<drivers::Lpms>(options, data, size);
}
