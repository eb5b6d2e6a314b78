// Any bytes from an LDROBOT lidar, the models that take commands included.
#include "drivers/ldrobot/ldrobot.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  drivers::Options options(drivers::Ldrobot::options());
  if (!options.set("model", "LD14P")) return 0;
  return test::fuzz_device<drivers::Ldrobot>(options, data, size);
}
