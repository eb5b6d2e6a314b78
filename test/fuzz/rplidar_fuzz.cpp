// Any bytes from an RPLIDAR. The first says in which format a recording begins.
#include "drivers/rplidar/rplidar.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  drivers::Options options(drivers::Rplidar::options());
  const std::string answer = std::to_string(0x81 + data[0] % 6);
  test::must(static_cast<bool>(options.set("answer", answer)));
  return test::fuzz_device<drivers::Rplidar>(options, data + 1, size - 1);
}
