// Any bytes from a Hokuyo in each mode.
#include "drivers/hokuyo_scip/hokuyo_scip.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array kModes{"MD", "MS", "ME", "GD", "GS", "GE"};
  constexpr std::array kStamps{"first", "rear", "last"};
  if (size == 0) return 0;
  drivers::Options options(drivers::HokuyoScip::options());
  if (!options.set("mode", kModes[data[0] % kModes.size()])) return 0;
  if (!options.set("stamp", kStamps[data[0] / kModes.size() % kStamps.size()])) return 0;
  return test::fuzz_device<drivers::HokuyoScip>(options, data + 1, size - 1);
}
