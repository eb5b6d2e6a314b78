// Any datagrams from a safety scanner, as a stream of recorded bytes and to its driver.
#include "drivers/sick_safety/sick_safety.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  drivers::Options options(drivers::SickSafety::options());
  if (!options.set("intensity", data[0] & 1 ? "flags" : "reflectivity")) return 0;
  if (!options.set("stamp", data[0] & 2 ? "last" : "first")) return 0;
  return test::fuzz_device<drivers::SickSafety>(options, data + 1, size - 1);
}
