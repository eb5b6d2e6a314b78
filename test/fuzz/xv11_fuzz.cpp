// Any bytes from an XV-11, whichever firmware is looked for.
#include "drivers/xv11/xv11.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array kFirmware{"auto", "2.4", "2.1"};
  if (size == 0) return 0;
  drivers::Options options(drivers::Xv11::options());
  if (!options.set("firmware", kFirmware[data[0] % kFirmware.size()])) return 0;
  return test::fuzz_device<drivers::Xv11>(options, data + 1, size - 1);
}
