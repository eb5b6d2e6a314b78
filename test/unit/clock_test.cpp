#include "hal/clock.h"

#include <cstdlib>
#include <ctime>

#include "test/support/harness.h"

using namespace std::chrono_literals;

namespace {

hal::Duration read(clockid_t id) {
  timespec t{};
  clock_gettime(id, &t);
  return std::chrono::seconds(std::int64_t{t.tv_sec}) + hal::Duration(t.tv_nsec);
}

}  // namespace

TEST_GROUP(InnerClock) { hal::InnerClock clock; };

TEST(InnerClock, NeverRunsBackwards) {
  hal::Time before = clock.now();
  for (int i = 0; i < 10'000; ++i) {
    const hal::Time now = clock.now();
    CHECK_TRUE(now >= before);
    before = now;
  }
}

TEST(InnerClock, IsTheRawClockPlusTheTimeSlept) {
  const hal::Duration slept = read(CLOCK_BOOTTIME) - read(CLOCK_MONOTONIC);
  const hal::Duration off = clock.now().time_since_epoch() - read(CLOCK_MONOTONIC_RAW) - slept;
  CHECK_TRUE(off < 1s && off > -1s);
}

TEST(InnerClock, ReadsBothClocksOfOneInstant) {
  for (int i = 0; i < 100; ++i) {
    const hal::Time before = clock.now();
    const hal::Duration unix_before = read(CLOCK_REALTIME);
    const hal::ClockPair pair = clock.both();
    CHECK_TRUE(pair.inner >= before && pair.inner <= clock.now());
    CHECK_TRUE(pair.unix_ns >= unix_before.count());
  }
}

TEST(InnerClock, FindsNoSleepWhileTheMachineIsAwake) {
  for (int i = 0; i < 10'000; ++i) CHECK_TRUE(clock.sample_sleep() == 0ns);
}
