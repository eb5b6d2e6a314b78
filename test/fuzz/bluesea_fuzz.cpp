// Any bytes from a Bluesea lidar; the first tells how it is configured.
#include "drivers/bluesea/bluesea.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  drivers::Options options(drivers::Bluesea::options());
  if (!options.set("intensity", data[0] & 1 ? "true" : "false")) return 0;
  if (!options.set("unit", data[0] & 2 ? "cm" : "auto")) return 0;
  return test::fuzz_device<drivers::Bluesea>(options, data + 1, size - 1);
}
