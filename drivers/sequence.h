// What a device's own counter shows to be missing.
#pragma once

#include <cstdint>
#include <optional>

namespace drivers {

class Sequence {
 public:
  // `bits`: of the counter, which wraps to 0 after its largest value; 8 to 64.
  explicit Sequence(unsigned bits) : mask_(~std::uint64_t{0} >> (64 - bits)) {}

  // How many are missing between the newest and this. None before the first, and none where the
  // counter repeats or goes back: by a little, one came late that was counted already; else the
  // device began anew.
  std::uint64_t missing_before(std::uint64_t counter) {
    const std::uint64_t steps = newest_ ? (counter - *newest_) & mask_ : 1;
    if (steps != 0 && mask_ - steps < kLate) return 0;
    newest_ = counter & mask_;
    return steps == 0 || steps > mask_ / 2 ? 0 : steps - 1;
  }
  void forget() { newest_.reset(); }

 private:
  static constexpr std::uint64_t kLate = 16;

  const std::uint64_t mask_;
  std::optional<std::uint64_t> newest_{};
};

}  // namespace drivers
