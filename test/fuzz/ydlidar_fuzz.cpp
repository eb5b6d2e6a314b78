// Any bytes from a YDLIDAR of each unit of distance.
#include "drivers/ydlidar/ydlidar.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array kModels{"auto", "X4", "G4B", "G6", "TG30", "TminiPlusSH", "X2", "TX"};
  if (size == 0) return 0;
  drivers::Options options(drivers::Ydlidar::options());
  if (!options.set("model", kModels[data[0] % kModels.size()])) return 0;
  return test::fuzz_device<drivers::Ydlidar>(options, data + 1, size - 1);
}
