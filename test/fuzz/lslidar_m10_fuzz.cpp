// Any bytes from an M10 or N10 of each kind, told or not.
#include "drivers/lslidar_m10/lslidar_m10.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array kModels{"auto", "N10", "N10P", "M10", "M10GPS", "M10P", "M10PLUS"};
  if (size == 0) return 0;
  drivers::Options options(drivers::LslidarM10::options());
  if (!options.set("model", kModels[data[0] % kModels.size()])) return 0;
  return test::fuzz_device<drivers::LslidarM10>(options, data + 1, size - 1);
}
