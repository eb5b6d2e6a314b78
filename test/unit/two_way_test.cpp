#include "drivers/two_way.h"

#include <random>

#include "drivers/decoded.h"
#include "test/support/harness.h"

using namespace drivers;
using namespace std::chrono_literals;

namespace {

constexpr hal::Time kStart{1000s};
constexpr hal::Duration kModulus = 16777216ms;

}  // namespace

TEST_GROUP(TwoWay) {
  TwoWay two_way{kModulus, 1ms};
  hal::Duration at_start = 5s + 300us;  // what the device's clock read then

  hal::Duration reading(hal::Time at) const {
    const hal::Duration uncut = (at - kStart + at_start) % kModulus;
    return uncut - uncut % 1ms;
  }
  void exchange(hal::Time asked, hal::Duration there, hal::Duration back) {
    two_way.exchange(reading(asked + there), asked, asked + there + back);
  }
};

TEST(TwoWay, NothingIsKnownBeforeAnExchangeAndAFrame) {
  two_way.arrived(1s, kStart);
  CHECK_FALSE(two_way.knows_latency());
  exchange(kStart, 1ms, 1ms);
  CHECK_TRUE(two_way.has_exchanged());
  CHECK_FALSE(two_way.knows_latency());
  two_way.arrived(reading(kStart), kStart + 30ms);
  CHECK_TRUE(two_way.knows_latency());
}

TEST(TwoWay, TheTruthLiesWithinTheBoundsHoweverUnequalTheWaysAre) {
  std::mt19937 random(4711);
  UT_PRINT("seed 4711");
  const auto up_to = [&random](int us) {
    return std::chrono::microseconds(random() % unsigned(us));
  };
  for (int round = 0; round < 200; ++round) {
    two_way.forget();
    at_start = std::chrono::microseconds(random()) % kModulus;
    hal::Time now = kStart + up_to(1'000'000);
    for (int i = 0; i < 8; ++i) {
      exchange(now, up_to(9000), up_to(round % 2 == 0 ? 9000 : 300));
      now += 20ms + up_to(999);
    }
    CHECK_TRUE(two_way.uncertainty() <= 5ms);
    const hal::Duration latency = 20ms + up_to(50'000);
    hal::Duration fastest = 1h;
    for (int i = 0; i < 100; ++i, now += 25ms + up_to(999)) {
      const hal::Duration late = up_to(4000);
      fastest = std::min(fastest, latency + late);
      two_way.arrived(reading(now), now + latency + late);
      CHECK_TRUE(two_way.least() <= fastest && fastest <= two_way.most());
      CHECK_TRUE(two_way.most() - two_way.least() <= 2 * two_way.uncertainty() + 1ms);
    }
  }
}

TEST(TwoWay, ManyExchangesKnowMoreThanTheStepOfTheClock) {
  for (int i = 0; i < 20; ++i) exchange(kStart + i * 20'050us, 40us, 40us);
  CHECK_TRUE(two_way.uncertainty() < 100us);
}

TEST(TwoWay, AClockMayWrapBetweenTheExchangeAndTheScans) {
  at_start = kModulus - 1s;
  exchange(kStart, 1ms, 1ms);
  two_way.arrived(reading(kStart + 2s), kStart + 2s + 30ms);
  CHECK_TRUE(two_way.least() >= 27ms && two_way.most() <= 32ms);
}

TEST(TwoWay, LateFramesDoNotCountAndLaterDriftNeither) {
  exchange(kStart, 1ms, 1ms);
  two_way.arrived(reading(kStart), kStart + 30ms);
  const hal::Duration most = two_way.most();
  two_way.arrived(reading(kStart + 25ms), kStart + 95ms);
  CHECK_TRUE(two_way.most() == most);
  two_way.arrived(reading(kStart + 50ms), kStart + 70ms);
  CHECK_TRUE(two_way.most() < most);
  const hal::Duration least = two_way.least();
  for (int s = 1; s < 100; ++s) {
    two_way.arrived(reading(kStart + s * 1s), kStart + s * (1s - 300us) + 30ms);
  }
  CHECK_TRUE(least - two_way.least() < 1ms);
}

TEST(TwoWay, ScansThatAreStampedByAnotherClockAreNotBelieved) {
  for (const hal::Duration off : {hal::Duration(-402s), hal::Duration(402s)}) {
    two_way.forget();
    exchange(kStart, 1ms, 1ms);
    two_way.arrived(reading(kStart + off), kStart + 30ms);
    CHECK_FALSE(two_way.knows_latency());
  }
}

TEST(TwoWay, AnExchangeThatContradictsTheOthersBeginsAnew) {
  exchange(kStart, 1ms, 1ms);
  at_start = 70s;
  exchange(kStart + 20ms, 1ms, 1ms);
  two_way.arrived(reading(kStart + 100ms), kStart + 130ms);
  CHECK_TRUE(two_way.least() >= 27ms && two_way.most() <= 32ms);
}

TEST(TwoWay, TheLatencyOfAStampIsWhatWasHeldAndTheLineWithinWhatWasMeasured) {
  const auto stamped_at = [](const Timing& timing, const StampOptions& options) {
    Stamper stamper({}, 100'000, options);
    Packet packet = ScanSlice{};
    CHECK_TRUE(stamper.stamp(packet, timing) == Stamper::Outcome::stamped);
    return kStart - std::get<ScanSlice>(packet).first;
  };
  Timing timing{.source = Timing::Source::clock, .arrival = kStart, .bytes = 100, .held = 20ms};
  CHECK_TRUE(stamped_at(timing, {}) == 30ms);
  timing.least = 45ms;
  CHECK_TRUE(stamped_at(timing, {}) == 45ms);
  timing.least = 0ms, timing.most = 25ms;
  CHECK_TRUE(stamped_at(timing, {}) == 25ms);
  CHECK_TRUE(stamped_at(timing, {.fixed_latency = 7ms}) == 27ms);
}

TEST(TwoWay, LaterRoundsNarrowTheLatencyAndWidenItNever) {
  const auto settle = [&](hal::Time from) {
    for (hal::Duration t{}; t < 3s; t += 100ms) {
      two_way.arrived(reading(from + t), from + t + 30ms);
    }
  };
  exchange(kStart, 5ms, 1ms);
  settle(kStart + 100ms);
  const hal::Duration least = two_way.least(), most = two_way.most();
  exchange(kStart + 30s, 1ms, 9ms);
  CHECK_TRUE(two_way.least() == least && two_way.most() == most);  // until its frames have settled
  settle(kStart + 30s + 100ms);
  CHECK_TRUE(two_way.least() > least || two_way.most() < most);
  CHECK_TRUE(two_way.least() <= 30ms && two_way.most() >= 30ms);
  CHECK_TRUE(two_way.uncertainty() <= 2500us);
  const hal::Duration narrow = two_way.most() - two_way.least();
  exchange(kStart + 60s, 50ms, 50ms);
  settle(kStart + 61s);
  CHECK_TRUE(two_way.most() - two_way.least() == narrow);
}

TEST(TwoWay, ARoundThatContradictsEarlierOnesDoesNotCount) {
  exchange(kStart, 1ms, 1ms);
  for (int i = 0; i < 30; ++i)
    two_way.arrived(reading(kStart + i * 100ms), kStart + i * 100ms + 30ms);
  const hal::Duration least = two_way.least(), most = two_way.most();
  for (const hal::Duration off :
       {hal::Duration(-50ms), hal::Duration(50ms), hal::Duration(-402s)}) {
    const hal::Time now = kStart + 30s;
    two_way.exchange(reading(now) + off, now, now + 1ms);
    for (int i = 1; i < 30; ++i) two_way.arrived(reading(now + i * 100ms), now + i * 100ms + 30ms);
    CHECK_TRUE(two_way.least() == least && two_way.most() == most);
    CHECK_TRUE(two_way.knows_latency());
  }
}
