// Random numbers that a seed repeats on every machine and compiler (splitmix64).
#pragma once

#include <cstdint>

namespace sim {

class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed) {}

  std::uint64_t next() {
    state_ += 0x9E3779B97F4A7C15U;
    std::uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9U;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBU;
    return z ^ (z >> 31);
  }
  double uniform(double low, double high) {  // in [low, high)
    return low + (high - low) * static_cast<double>(next() >> 11) * 0x1.0p-53;
  }
  std::uint64_t below(std::uint64_t n) { return n == 0 ? 0 : next() % n; }  // in [0, n)
  bool chance(double probability) { return uniform(0.0, 1.0) < probability; }

 private:
  std::uint64_t state_;
};

}  // namespace sim
