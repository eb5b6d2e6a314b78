// Any bytes from a Lakibeam, and any content of its blocks.
#include "drivers/lakibeam/lakibeam.h"
#include "test/fuzz/block_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const drivers::Options options(drivers::Lakibeam::options());
  test::fuzz_blocks<drivers::Lakibeam>(options, std::as_bytes(std::span(data, size)), 0x37, 0x40);
  return test::fuzz_device<drivers::Lakibeam>(options, data, size);
}
