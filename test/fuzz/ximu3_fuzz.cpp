// Any bytes from an x-IMU3.
#include "drivers/ximu3/ximu3.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Ximu3::options());
  return test::fuzz_device<drivers::Ximu3>(options, data, size);
}
