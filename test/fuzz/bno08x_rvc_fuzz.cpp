// Any bytes from a BNO08x in UART-RVC mode.
#include "drivers/bno08x_rvc/bno08x_rvc.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Bno08xRvc::options());
  return test::fuzz_device<drivers::Bno08xRvc>(options, data, size);
}
