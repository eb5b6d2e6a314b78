// Keeps a fixed ratio of the packets of one sensor.
#pragma once

#include <cinttypes>
#include <cstdint>

#include "hal/text.h"

namespace collation {

// Cartographer's FixedRatioSampler: keeps a packet whenever kept / pulses, this pulse counted,
// is below `ratio`, so the first one is always kept unless the ratio is 0. One per sensor:
// Cartographer shares one among all lidars of a trajectory, which can starve one of them.
class FixedRatioSampler {
 public:
  static constexpr bool is_valid(double ratio) { return ratio >= 0 && ratio <= 1; }

  // `ratio` is_valid().
  explicit FixedRatioSampler(double ratio) : ratio_(ratio) {}

  // True when this packet is kept.
  bool pulse() {
    ++pulses_;
    const bool keep = static_cast<double>(kept_) / static_cast<double>(pulses_) < ratio_;
    kept_ += keep;
    return keep;
  }
  std::uint64_t pulses() const { return pulses_; }
  std::uint64_t kept() const { return kept_; }

  // "6 (30.000000%)": what was kept, and the part of all. 0 % before the first.
  hal::Text<48> text() const {
    const double pulses = static_cast<double>(pulses_ > 0 ? pulses_ : 1);
    return hal::Text<48>::of("%" PRIu64 " (%f%%)", kept_,
                             100 * static_cast<double>(kept_) / pulses);
  }

 private:
  const double ratio_;
  std::uint64_t pulses_ = 0, kept_ = 0;
};

}  // namespace collation
