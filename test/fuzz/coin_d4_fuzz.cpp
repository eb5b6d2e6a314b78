// Any bytes from a COIN-D4.
#include "drivers/coin_d4/coin_d4.h"
#include "test/fuzz/device_fuzz.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  return test::fuzz_device<drivers::CoinD4>(drivers::Options(drivers::CoinD4::options()), data,
                                            size);
}
