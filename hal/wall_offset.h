// Unix time minus inner time, as the outputs use it.
#pragma once

#include <cstdint>
#include <optional>

#include "hal/time.h"

namespace hal {

enum class WallClock : std::uint8_t {
  follow,  // small differences are slewed, large ones are steps
  hold,    // the offset of the start is kept
};

class WallOffset {
 public:
  struct Step {
    Duration size;  // what Unix time jumped by; above kLargestSlewed either way
  };

  WallOffset(WallClock mode, const ClockPair& start)
      : mode_(mode), offset_ns_(start.unix_ns - to_ns(start.inner)), slewed_until_(start.inner) {}

  // Fed regularly, and at once when the wall clock was set. A step holds from now on.
  std::optional<Step> update(const ClockPair& now);
  std::int64_t offset_ns() const { return offset_ns_; }

  static constexpr Duration kLargestSlewed = std::chrono::milliseconds(100);
  static constexpr std::int64_t kSlewDivisor = 2000;  // 500 ppm of the elapsed inner time

 private:
  WallClock mode_;
  std::int64_t offset_ns_;
  Time slewed_until_;
};

}  // namespace hal
