// The bursts of a simulated Epson M-G370: 80, big-endian words as two registers choose them, 0D.
#pragma once

#include <string_view>

#include "test/sim/device_model.h"
#include "test/sim/motion.h"

namespace sim::epson {

inline constexpr const char* kProducts =
    "G370PDG0|G370PDT0|G330PDG0|G366PDG0|G370PDF1|G365PDF1|G365PDC1|G364PDC0|G354PDH0|G320PDG0";

// What the numbers of a product mean; of most products told by the maker's driver alone.
struct Product {
  const char* name;    // as its registers tell
  double gyro, accel;  // of 1 in 16 bits: degrees/s, g
  double celsius, at_25;
  std::int64_t count_ns;  // of 1
};
const Product& product_of(std::string_view name);  // of the option `model`

struct Sample {
  Motion motion;
  unsigned count = 0;
};

// `fields`: BURST_CTRL1; `wide`: BURST_CTRL2, which of them have 32 bits.
ByteVector burst_of(const Product& product, const Sample& sample, unsigned fields, unsigned wide);
// Puts the sum right, where the burst has one.
void seal(ByteVector& burst, unsigned fields);

}  // namespace sim::epson
