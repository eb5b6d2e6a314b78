// Any bytes from an Inertial Labs unit.
#include "drivers/inertial_labs/inertial_labs.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::InertialLabs::options());
  return test::fuzz_device<drivers::InertialLabs>(options, data, size);
}
