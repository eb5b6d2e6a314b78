// Any bytes from an Epson unit.
#include "drivers/epson/epson.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Epson::options());
  return test::fuzz_device<drivers::Epson>(options, data, size);
}
