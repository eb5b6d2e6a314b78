// Inner time read from the system: CLOCK_MONOTONIC_RAW plus the time slept.
#pragma once

#include <time.h>

#include <cstdint>

#include "hal/time.h"

namespace sim {

class InnerClock {
 public:
  hal::Time now() {
    const std::int64_t slept = read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC);
    // The two reads are not one: only a difference that no scheduler explains is sleep.
    if (slept - slept_ > kLeastSleep) slept_ = slept;
    return hal::from_ns(read(CLOCK_MONOTONIC_RAW) + slept_);
  }

 private:
  static constexpr std::int64_t kLeastSleep = 1'000'000;  // ns

  static std::int64_t read(clockid_t id) {
    timespec t{};
    ::clock_gettime(id, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  }

  std::int64_t slept_ = 0;
};

}  // namespace sim
