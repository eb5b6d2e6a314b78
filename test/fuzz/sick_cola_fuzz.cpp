// Any bytes from a SICK scanner, in both dialects.
#include "drivers/sick_cola/sick_cola.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return test::fuzz_device<drivers::SickCola>(drivers::Options(drivers::SickCola::options()), data,
                                              size);
}
