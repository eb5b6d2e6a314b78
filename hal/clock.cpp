#include "hal/clock.h"

#include <ctime>

namespace hal {
namespace {

constexpr int kTries = 5;
constexpr Duration kTight = std::chrono::microseconds(1);
constexpr Duration kShortestSleep = std::chrono::milliseconds(1);

Duration read(clockid_t id) {
  timespec t{};
  ::clock_gettime(id, &t);
  return std::chrono::seconds(std::int64_t{t.tv_sec}) + Duration(t.tv_nsec);
}

// One clock read between two reads of another.
struct Bracket {
  Duration before, inside, after;
  Duration width() const { return after - before; }
};

// The tightest of a few tries: between two reads the scheduler may take us away.
Bracket bracket(clockid_t outside, clockid_t inside) {
  Bracket best{Duration::min() / 2, {}, Duration::max() / 2};
  for (int i = 0; i < kTries && best.width() > kTight; ++i) {
    const Duration before = read(outside), middle = read(inside), after = read(outside);
    if (after - before < best.width()) best = {before, middle, after};
  }
  return best;
}

}  // namespace

Time InnerClock::now() const { return Time(read(CLOCK_MONOTONIC_RAW) + slept_); }

ClockPair InnerClock::both() const {
  const Bracket b = bracket(CLOCK_MONOTONIC_RAW, CLOCK_REALTIME);
  return {Time(b.before + b.width() / 2 + slept_), b.inside.count()};
}

Duration InnerClock::sample_sleep() {
  // The boot clock read first makes this a lower bound of the time slept.
  const Duration boot = read(CLOCK_BOOTTIME);
  if (boot - read(CLOCK_MONOTONIC) < slept_ + kShortestSleep) return {};
  const Bracket b = bracket(CLOCK_MONOTONIC, CLOCK_BOOTTIME);
  const Duration total = b.inside - (b.before + b.width() / 2);
  const Duration found = total - slept_;
  slept_ = total;
  return found;
}

}  // namespace hal
