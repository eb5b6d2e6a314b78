// Any bytes from a VectorNav sensor.
#include "drivers/vectornav/vectornav.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Vectornav::options());
  return test::fuzz_device<drivers::Vectornav>(options, data, size);
}
