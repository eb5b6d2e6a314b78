#include "test/sim/device_clock.h"

#include <algorithm>

namespace sim {

std::int64_t DeviceClock::count(hal::Time t) const {
  const hal::Duration passed = t - since_;
  const auto extra = static_cast<std::int64_t>(static_cast<double>(passed.count()) * drift_);
  return value_ns_ + passed.count() + extra;
}

std::int64_t DeviceClock::stamp(hal::Time t) {
  const std::int64_t exact = count(t);
  if (jitter_.count() == 0) return exact;
  const auto half = static_cast<double>(jitter_.count());
  const std::int64_t moved = exact + static_cast<std::int64_t>(random_.uniform(-half, half));
  return std::max<std::int64_t>(0, moved);
}

void DeviceClock::restart(hal::Time t, std::int64_t value_ns) {
  since_ = t;
  value_ns_ = value_ns;
}

void DeviceClock::jump(hal::Time t, hal::Duration by) {
  restart(t, std::max<std::int64_t>(0, count(t) + by.count()));
}

void DeviceClock::set_drift(hal::Time t, double ppm) {
  value_ns_ = count(t);
  since_ = t;
  drift_ = ppm * 1e-6;
}

void DeviceClock::set_jitter(hal::Duration half_width) { jitter_ = half_width; }

}  // namespace sim
