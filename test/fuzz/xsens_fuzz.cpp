// Any bytes from a MTi.
#include "drivers/xsens/xsens.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Xsens::options());
  return test::fuzz_device<drivers::Xsens>(options, data, size);
}
