// Any bytes from a Delta-2, whose packets are told, or not.
#include "drivers/delta2/delta2.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array kModels{"auto", "2A", "2G"};
  if (size == 0) return 0;
  drivers::Options options(drivers::Delta2::options());
  if (!options.set("model", kModels[data[0] % kModels.size()])) return 0;
  return test::fuzz_device<drivers::Delta2>(options, data + 1, size - 1);
}
