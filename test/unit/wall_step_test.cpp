#include "hal/wall_step.h"

#include "test/support/harness.h"
#include "test/support/loop.h"

using namespace std::chrono_literals;

// The clock of the machine that runs the tests is left alone, so only the quiet case is seen here.
TEST_GROUP(WallStepWatch) { test::RealLoop real; };

TEST(WallStepWatch, IsQuietWhileNobodySetsTheClock) {
  int steps = 0;
  hal::WallStepWatch watch(real.loop, [&](hal::Time) { ++steps; });
  CHECK_TRUE(static_cast<bool>(watch.status()));
  real.loop.run_for(real.passes, 10ms);
  LONGS_EQUAL(0, steps);
}

TEST(WallStepWatch, TakesNoStepFromATimerThatWasNotCancelled) {
  hal::Result<hal::UniqueFd> timer = hal::open_wall_step_timer();
  CHECK_TRUE(static_cast<bool>(timer));
  CHECK_FALSE(hal::take_wall_step(timer->get()));
}
