// Any bytes from an LSLIDAR N301 of either protocol, and any content of its blocks.
#include "drivers/lslidar_n301/lslidar_n301.h"
#include "test/fuzz/block_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  drivers::Options options(drivers::LslidarN301::options());
  const bool is_old = size > 0 && (data[0] & 1) != 0;
  if (is_old) test::must(static_cast<bool>(options.set("protocol", "1.6")));
  test::fuzz_blocks<drivers::LslidarN301>(options, std::as_bytes(std::span(data, size)), 0x37, 0);
  return test::fuzz_device<drivers::LslidarN301>(options, data, size);
}
