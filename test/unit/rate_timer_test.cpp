#include "collation/rate_timer.h"

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using namespace std::chrono_literals;
using collation::RateTimer;

TEST_GROUP(RateTimer) {
  hal::Time at{100s}, wall{500s};

  void pulse(RateTimer & timer, int n, hal::Duration at_step, hal::Duration wall_step) {
    for (int i = 0; i < n; ++i) {
      timer.pulse(at, wall);
      at += at_step;
      wall += wall_step;
    }
  }
};

TEST(RateTimer, ComputeRate) {
  RateTimer timer(1s, 1000);
  pulse(timer, 100, 100ms, 1us);
  DOUBLES_EQUAL(10, timer.rate_hz(), 1e-3);
}

TEST(RateTimer, ComputeWallTimeRateRatio) {
  RateTimer timer(1s, 1000);
  pulse(timer, 100, 100ms, 50ms);
  DOUBLES_EQUAL(2, timer.wall_time_ratio(), 1e-3);
}

TEST(RateTimer, IsUnknownBeforeTheSecondEvent) {
  RateTimer timer(15s, 10);
  STRCMP_EQUAL("unknown", timer.text().c_str());
  pulse(timer, 1, 100ms, 100ms);
  STRCMP_EQUAL("unknown", timer.text().c_str());
  CHECK_EQUAL(0.0, timer.rate_hz());
  CHECK_EQUAL(0.0, timer.wall_time_ratio());
}

TEST(RateTimer, HasNoDeviationWithOneInterval) {
  RateTimer timer(15s, 10);
  pulse(timer, 2, 100ms, 100ms);
  STRCMP_EQUAL("10.00 Hz 1.00e-01 s +/- 0.00e+00 s (pulsed at 100.00% real time)",
               timer.text().c_str());
}

TEST(RateTimer, PrintsTheReferencesText) {
  RateTimer timer(15s, 10);
  timer.pulse(hal::Time(1000ms), hal::Time(1000ms));
  timer.pulse(hal::Time(1100ms), hal::Time(1100ms));
  timer.pulse(hal::Time(1250ms), hal::Time(1200ms));
  STRCMP_EQUAL("8.00 Hz 1.25e-01 s +/- 3.54e-02 s (pulsed at 125.00% real time)",
               timer.text().c_str());
}

TEST(RateTimer, PrintsTheReferencesTextOfManyEvents) {
  RateTimer timer(15s, 400);
  pulse(timer, 400, 100ms, 50ms);
  STRCMP_EQUAL("10.00 Hz 1.00e-01 s +/- 5.14e-16 s (pulsed at 200.00% real time)",
               timer.text().c_str());
}

TEST(RateTimer, EqualStampsGiveNoInfinity) {
  RateTimer timer(15s, 10);
  pulse(timer, 3, 0s, 0s);
  STRCMP_EQUAL("0.00 Hz 0.00e+00 s +/- 0.00e+00 s (pulsed at 0.00% real time)",
               timer.text().c_str());
}

TEST(RateTimer, ForgetsEventsOlderThanTheWindowButKeepsTwo) {
  RateTimer timer(1s, 1000);
  pulse(timer, 50, 100ms, 100ms);
  pulse(timer, 12, 200ms, 100ms);
  DOUBLES_EQUAL(5, timer.rate_hz(), 1e-6);
  timer.pulse(at + 1h, wall + 1h);
  CHECK_TRUE(timer.rate_hz() > 0);
}

TEST(RateTimer, HoldsABoundedNumberOfEvents) {
  RateTimer timer(15s, 10);
  test::AllocationCounter counter;
  pulse(timer, 1000, 1s, 1us);
  pulse(timer, 10, 100ms, 1us);
  DOUBLES_EQUAL(10, timer.rate_hz(), 1e-6);
  LONGS_EQUAL(0, counter.count());
}
