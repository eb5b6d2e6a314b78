#include "drivers/clock_mapper.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

#include "test/support/harness.h"
#include "test/support/manual_clock.h"

using namespace drivers;
using namespace std::chrono_literals;

namespace {

constexpr std::int64_t ns(hal::Duration d) { return d.count(); }

// A device whose clock runs at (1 + skew) of inner time, seen through a line with one-sided noise.
struct World {
  explicit World(unsigned seed) : engine(seed) {
    UT_PRINT(StringFromFormat("seed %u", seed).asCharString());
  }
  // A true UART: small exponential noise, and 1 % of the reads up to 20 ms late.
  hal::Duration uart_noise() {
    const double tail = uniform(engine) < 0.01 ? 20e6 * uniform(engine) : 0;
    return hal::Duration(std::llround(-0.1e6 * std::log(1 - uniform(engine)) + tail));
  }
  std::int64_t device(hal::Time t) const {
    return device_at_start + std::llround(static_cast<double>((t - start).count()) * (1 + skew));
  }
  std::mt19937_64 engine;
  std::uniform_real_distribution<double> uniform{0, 1};
  hal::Time start{1000s};
  std::int64_t device_at_start = 123'456'789;
  double skew = 0;
};

double p99(std::vector<double> errors) {
  std::ranges::sort(errors);
  return errors[errors.size() * 99 / 100];
}

}  // namespace

TEST_GROUP(ClockMapper) {
  hal::Time last_arrival{}, last_at = hal::Time::min();

  // Arrivals are in order, as a port gives them; stamps are checked for what holds always.
  std::optional<ClockMapper::Stamp> map(ClockMapper & mapper, std::int64_t raw, hal::Time arrival) {
    last_arrival = std::max(last_arrival, arrival);
    const auto stamp = mapper.map(raw, last_arrival);
    if (!stamp) return stamp;
    CHECK_TRUE(last_at < stamp->at);
    // Strictly increasing comes first where several samples arrive at once.
    CHECK_TRUE(stamp->at <= last_arrival || stamp->at - last_at == 1us);
    last_at = stamp->at;
    return stamp;
  }

  // Absolute errors in ns from the second `from` on.
  std::vector<double> errors(ClockMapper & mapper, World & world, hal::Duration period,
                             hal::Duration length, hal::Duration from) {
    std::vector<double> out;
    for (hal::Time t = world.start; t < world.start + length; t += period) {
      const auto stamp = map(mapper, world.device(t), t + world.uart_noise());
      CHECK_TRUE(stamp.has_value());
      if (t >= world.start + from) {
        out.push_back(std::abs(static_cast<double>((stamp->at - t).count())));
      }
    }
    return out;
  }
};

TEST(ClockMapper, TheFirstStampIsItsArrival) {
  ClockMapper mapper({});
  const auto stamp = mapper.map(5'000, hal::Time{1000s});
  CHECK_TRUE(stamp->at == hal::Time{1000s});
  CHECK_TRUE(stamp->device_ns == 5'000);
  LONGS_EQUAL(0, mapper.health().epoch);
  CHECK_FALSE(mapper.health().locked);
}

TEST(ClockMapper, FollowsDriftThroughNoise) {
  for (const double skew : {30e-6, -30e-6, 100e-6}) {
    World world(11);
    world.skew = skew;
    ClockMapper mapper({});
    last_at = hal::Time::min(), last_arrival = {};
    const auto late = errors(mapper, world, 10ms, 300s, 60s);
    CHECK_TRUE(p99(late) < 0.05e6);
    DOUBLES_EQUAL(-skew * 1e6, mapper.health().drift_ppm, 2);
    CHECK_TRUE(mapper.health().locked);
    LONGS_EQUAL(0, mapper.health().epoch);
    LONGS_EQUAL(0, mapper.health().stale);
  }
}

TEST(ClockMapper, StepsAreAsSteadyAsTheDevicesOwn) {
  World world(12);
  world.skew = 30e-6;
  ClockMapper mapper({});
  hal::Time before{};
  std::vector<double> steps;
  for (hal::Time t = world.start; t < world.start + 120s; t += 10ms) {
    const auto stamp = map(mapper, world.device(t), t + world.uart_noise());
    if (t > world.start + 60s) {
      steps.push_back(std::abs(static_cast<double>((stamp->at - before - 10ms).count())));
    }
    before = stamp->at;
  }
  CHECK_TRUE(p99(steps) < 1e3);
}

TEST(ClockMapper, FollowsCountedTimeThatIsOnePercentWrong) {
  for (const double skew : {0.01, -0.01}) {
    World world(13);
    world.skew = skew;
    ClockMapper mapper({.max_skew = kCountedSkew});
    last_at = hal::Time::min(), last_arrival = {};
    CHECK_TRUE(mapper.counted());
    CHECK_TRUE(p99(errors(mapper, world, 10ms, 180s, 60s)) < 0.05e6);
    LONGS_EQUAL(0, mapper.health().epoch);
  }
}

TEST(ClockMapper, GoesOnOverAWrapOfEveryModulus) {
  for (const hal::Duration modulus :
       {hal::Duration(1'048'576us), hal::Duration(2560ms), hal::Duration(30s),
        hal::Duration(16'777'216ms), hal::Duration(4'294'967'296us), hal::Duration(86'400s),
        hal::Duration(604'800s), hal::Duration(4'294'967'296ms)}) {
    ClockMapper mapper({.modulus = modulus});
    last_at = hal::Time::min(), last_arrival = {};
    for (int i = 0; i < 400; ++i) {
      const hal::Duration elapsed = i * 10ms;
      const std::int64_t true_ns = ns(modulus - 500ms + elapsed);
      const auto stamp = map(mapper, true_ns % ns(modulus), hal::Time{1000s} + elapsed);
      CHECK_TRUE(stamp->device_ns == true_ns);
      CHECK_TRUE(stamp->at == hal::Time{1000s} + elapsed);
    }
    LONGS_EQUAL(0, mapper.health().epoch);
  }
}

TEST(ClockMapper, AGapLongerThanTheModulusIsSeenByItsArrival) {
  ClockMapper mapper({.modulus = 2560ms, .max_skew = kCountedSkew});
  mapper.map(0, hal::Time{1000s});
  const auto after = mapper.map(ns(1000ms), hal::Time{1000s} + 2 * 2560ms + 1000ms);
  CHECK_TRUE(after->device_ns == ns(2 * 2560ms + 1000ms));
  CHECK_TRUE(after->at == hal::Time{1000s} + 6120ms);
  LONGS_EQUAL(0, mapper.health().epoch);
}

TEST(ClockMapper, ARestartOfTheDeviceIsOneEpoch) {
  World world(14);
  ClockMapper mapper({});
  errors(mapper, world, 10ms, 60s, 0s);
  World again(15);
  again.start = world.start + 61s;
  again.device_at_start = 0;
  errors(mapper, again, 10ms, 60s, 0s);
  LONGS_EQUAL(1, mapper.health().epoch);
}

TEST(ClockMapper, ARestartIsNotTakenForAWrap) {
  ClockMapper mapper({.modulus = 4'294'967'296us});
  for (int i = 0; i < 100; ++i) map(mapper, ns(100s + i * 10ms), hal::Time{1000s} + i * 10ms);
  const auto stamp = map(mapper, 0, hal::Time{1003s});
  CHECK_TRUE(stamp->at == hal::Time{1003s});
  CHECK_TRUE(stamp->device_ns == 0);
  LONGS_EQUAL(1, mapper.health().epoch);
}

TEST(ClockMapper, AJumpForwardIsOneEpoch) {
  World world(16);
  ClockMapper mapper({});
  errors(mapper, world, 10ms, 30s, 0s);
  World jumped(17);
  jumped.start = world.start + 30s;
  jumped.device_at_start = world.device(jumped.start) + ns(5000s);
  const auto after = errors(mapper, jumped, 10ms, 90s, 60s);
  LONGS_EQUAL(1, mapper.health().epoch);
  CHECK_TRUE(p99(after) < 0.05e6);
}

TEST(ClockMapper, AStalledHostIsNoEpochAndItsBacklogKeepsItsStamps) {
  World world(18);
  world.skew = 20e-6;
  ClockMapper mapper({});
  double worst = 0;
  for (hal::Time t = world.start; t < world.start + 120s; t += 10ms) {
    hal::Time arrival = t + world.uart_noise();
    if (t >= world.start + 90s) arrival = std::max(arrival, world.start + 92s);
    const auto stamp = map(mapper, world.device(t), arrival);
    if (t > world.start + 60s) {
      worst = std::max(worst, std::abs(static_cast<double>((stamp->at - t).count())));
    }
  }
  LONGS_EQUAL(0, mapper.health().epoch);
  CHECK_TRUE(worst < 0.1e6);
}

TEST(ClockMapper, ACoarseClockIsCarriedOnByNominalPeriods) {
  for (const double speed : {1.0, 1.003, 0.997}) {  // of the beam rate, of which nobody tells
    World world(19);
    ClockMapper mapper({.modulus = 30s, .quantum = 1ms, .period = hal::Duration(2'666'667)});
    last_at = hal::Time::min(), last_arrival = {};
    std::vector<double> late;
    for (int i = 0; i < 375 * 90; ++i) {
      const hal::Time t = world.start + hal::Duration(std::llround(2'666'667.0 * speed * i));
      const std::int64_t raw = world.device(t) / 1'000'000 * 1'000'000 % ns(30s);
      const auto stamp = map(mapper, raw, t + world.uart_noise());
      CHECK_TRUE(stamp.has_value());
      if (t > world.start + 60s) {
        late.push_back(std::abs(static_cast<double>((stamp->at - t).count())));
      }
    }
    CHECK_TRUE(p99(late) < 1e6);
    LONGS_EQUAL(0, mapper.health().epoch);
  }
}

TEST(ClockMapper, ACoarseStampMayRepeat) {
  ClockMapper mapper({.quantum = 1ms, .period = hal::Duration(400us)});
  std::int64_t before = 0;
  for (int i = 0; i < 50; ++i) {
    const hal::Duration t = i * 400us;
    const auto stamp = map(mapper, ns(t) / 1'000'000 * 1'000'000, hal::Time{1000s} + t);
    CHECK_TRUE(stamp.has_value());
    before = ns(t);
  }
  LONGS_EQUAL(0, mapper.health().stale);
  CHECK_TRUE(before > 0);
}

TEST(ClockMapper, AStampThatDoesNotAdvanceIsStaleAndCounted) {
  ClockMapper mapper({});
  map(mapper, ns(1s), hal::Time{1000s});
  CHECK_FALSE(map(mapper, ns(1s), hal::Time{1000s}).has_value());
  CHECK_FALSE(map(mapper, ns(501ms), hal::Time{1000s}).has_value());
  LONGS_EQUAL(2, mapper.health().stale);
  CHECK_TRUE(map(mapper, ns(500ms), hal::Time{1001s}).has_value());  // half a second is a restart
  LONGS_EQUAL(1, mapper.health().epoch);
}

TEST(ClockMapper, ASharedStampBelongsToTheMeasurementBefore) {
  ClockMapper mapper({.modulus = 10s});
  map(mapper, ns(9'999ms), hal::Time{1000s});
  const auto newer = map(mapper, ns(9ms), hal::Time{1000s} + 10ms);
  const auto same = mapper.map(ns(9ms), hal::Time{1000s} + 11ms, true);
  const auto older = mapper.map(ns(9'999ms), hal::Time{1000s} + 12ms, true);
  CHECK_TRUE(newer->device_ns == ns(10'009ms));
  CHECK_TRUE(same->device_ns == ns(10'009ms));
  CHECK_TRUE(older->device_ns == ns(9'999ms));
  CHECK_TRUE(same->at == newer->at + 1ns && older->at == same->at + 1ns);
  LONGS_EQUAL(0, mapper.health().stale);
  CHECK_TRUE(mapper.map(ns(20ms), hal::Time{1000s} + 21ms, true)->at == hal::Time{1000s} + 21ms);
}

TEST(ClockMapper, SamplesThatArriveTogetherKeepTheirDistances) {
  ClockMapper mapper({});
  for (int burst = 0; burst < 100; ++burst) {
    for (int i = 0; i < 4; ++i) {  // a USB adapter: four samples every 16 ms
      map(mapper, ns(burst * 16ms + i * 4ms), hal::Time{1000s} + burst * 16ms + 12ms);
    }
  }
  const hal::Time a = map(mapper, ns(1600ms), hal::Time{1000s} + 1612ms)->at;
  const hal::Time b = map(mapper, ns(1604ms), hal::Time{1000s} + 1612ms)->at;
  CHECK_TRUE(b - a == 4ms);
}

TEST(ClockMapper, ASampleThatComesEarlierThanAllMovesTheLineAtOnce) {
  ClockMapper mapper({});
  map(mapper, ns(0ms), hal::Time{1000s} + 7ms);
  CHECK_TRUE(map(mapper, ns(10ms), hal::Time{1000s} + 10ms)->at == hal::Time{1000s} + 10ms);
  CHECK_TRUE(map(mapper, ns(20ms), hal::Time{1000s} + 23ms)->at == hal::Time{1000s} + 20ms);
}

TEST(ClockMapper, ACountBeginsAnewWithThePortAndThatIsNoEpoch) {
  ClockMapper mapper({.max_skew = kCountedSkew});
  mapper.reopened();
  map(mapper, ns(100s), hal::Time{1000s});
  mapper.reopened();
  CHECK_TRUE(map(mapper, ns(1ms), hal::Time{1005s})->at == hal::Time{1005s});
  LONGS_EQUAL(0, mapper.health().epoch);
}

TEST(ClockMapper, AClockThatRestartedWhileThePortWasClosedIsRightAtOnce) {
  World world(20);
  for (const hal::Duration away : {3s, 10s, 20s}) {
    for (int phase = 0; phase < 10; ++phase) {
      ClockMapper mapper({.modulus = 30s, .quantum = 1ms, .period = hal::Duration(2'666'667)});
      last_at = hal::Time::min(), last_arrival = {};
      const auto run = [&](hal::Time from, hal::Duration length, std::int64_t device_from) {
        for (hal::Duration d{}; d < length; d += hal::Duration(2'666'667)) {
          const std::int64_t raw = (device_from + ns(d)) / 1'000'000 * 1'000'000 % ns(30s);
          const auto stamp = map(mapper, raw, from + d + world.uart_noise());
          CHECK_TRUE(stamp.has_value());
          if (d > 1s) CHECK_TRUE(std::abs(ns(stamp->at - from - d)) < ns(50ms));
        }
      };
      const hal::Duration first = 15s + phase * 3s;
      run(world.start, first, 0);
      mapper.reopened();
      run(world.start + first + away, 12s, ns(200ms));
    }
  }
}

TEST(ClockMapper, AClockThatWentOnWhileThePortWasClosedKeepsItsModel) {
  World world(21);
  world.skew = 30e-6;
  ClockMapper mapper({});
  errors(mapper, world, 10ms, 60s, 0s);
  const double drift = mapper.health().drift_ppm;
  mapper.reopened();
  const hal::Time t = world.start + 80s;
  const auto stamp = map(mapper, world.device(t), t + 15ms);
  CHECK_TRUE(std::abs(ns(stamp->at - t)) < ns(1ms));
  DOUBLES_EQUAL(drift, mapper.health().drift_ppm, 1);
  LONGS_EQUAL(0, mapper.health().epoch);
}

TEST(ClockMapper, AStepBackWhileThePortWasClosedIsAnEpochAndNotStale) {
  ClockMapper mapper({});
  for (int i = 0; i < 100; ++i) map(mapper, ns(i * 10ms), hal::Time{1000s} + i * 10ms);
  mapper.reopened();
  CHECK_TRUE(map(mapper, ns(900ms), hal::Time{1001s})->at == hal::Time{1001s});
  LONGS_EQUAL(1, mapper.health().epoch);
  LONGS_EQUAL(0, mapper.health().stale);
}

TEST(ClockMapper, UnstampedPacketsAreStampedAtArrivalInTheirOrder) {
  ClockMapper mapper({});
  CHECK_TRUE(mapper.unstamped(hal::Time{1000s}) == hal::Time{1000s});
  CHECK_TRUE(mapper.unstamped(hal::Time{1000s}) == hal::Time{1000s} + 1us);
  CHECK_TRUE(mapper.unstamped(hal::Time{1001s}) == hal::Time{1001s});
  LONGS_EQUAL(1, mapper.health().nudged);
}

TEST(ClockMapper, APacketAfterNoneIsStampedAtArrival) {
  ClockMapper mapper({});
  CHECK_TRUE(mapper.after_previous(hal::Time{1000s}) == hal::Time{1000s});
  CHECK_TRUE(mapper.after_previous(hal::Time{1005s}) == hal::Time{1000s} + 1ns);
}

TEST(ClockMapper, IsCoarseUntilTheFirstBlockIsWhole) {
  ClockMapper mapper({});
  for (int i = 0; i <= 100; ++i) {
    CHECK_FALSE(mapper.health().locked);
    map(mapper, ns(i * 10ms), hal::Time{1000s} + i * 10ms);
  }
  CHECK_TRUE(mapper.health().locked);
}

TEST(ClockMapper, AClockThatStaysBehindForTenSecondsIsAnEpoch) {
  ClockMapper mapper({});
  for (int i = 0; i < 2000; ++i) map(mapper, ns(i * 10ms), hal::Time{1000s} + i * 10ms);
  for (int i = 2000; i < 3200; ++i) {
    map(mapper, ns(i * 10ms), hal::Time{1000s} + i * 10ms + 700ms);
  }
  LONGS_EQUAL(1, mapper.health().epoch);
  CHECK_TRUE(last_arrival - last_at < 1ms);
}

TEST(ClockMapper, AStepBackOfAPartOfASecondIsMadeUpWithinTwelveSeconds) {
  for (const hal::Duration step : {25ms, 100ms, 450ms}) {
    World world(22);
    ClockMapper mapper({});
    last_at = hal::Time::min(), last_arrival = {};
    errors(mapper, world, 10ms, 40s, 0s);
    world.start += 40s + step;  // the first stamps after it would be stale
    world.device_at_start += ns(40s);
    const auto after = errors(mapper, world, 10ms, 40s, 13s);
    CHECK_TRUE(*std::ranges::max_element(after) < 0.1e6);
  }
}

TEST(ClockMapper, CountedTimeThatIsFarOffIsFollowedAfterTwoSeconds) {
  for (const double skew : {0.0075, -0.0075, 0.03, -0.03}) {
    for (const double noise : {0.0, 6e6}) {
      World world(23);
      world.skew = skew;
      ClockMapper mapper({.max_skew = kCountedSkew});
      last_at = hal::Time::min(), last_arrival = {};
      for (hal::Time t = world.start; t < world.start + 8s; t += 5ms) {
        const auto late = std::llround(-noise * std::log(1 - world.uniform(world.engine)));
        const auto stamp = map(mapper, world.device(t), t + hal::Duration(late));
        if (t > world.start + 2100ms) CHECK_TRUE(std::abs(ns(stamp->at - t)) < ns(5ms));
      }
    }
  }
}

TEST(ClockMapper, TimeThatACountedClockLostIsMadeUpWithinTwoSeconds) {
  // A packet each 10 ms counts 10 ms; then as many are lost as fit into `lost`.
  for (const auto& [lost, after] : {std::pair{137ms, 1000}, {5000ms, 1000}, {200ms, 120}}) {
    ClockMapper mapper({.max_skew = kCountedSkew});
    last_at = hal::Time::min();
    const hal::Time start = last_arrival + 1s;
    for (int i = 0; i < after + 500; ++i) {
      const hal::Time arrival = start + i * 10ms + (i < after ? 0ms : lost);
      const auto stamp = map(mapper, ns(i * 10ms), arrival);
      if (i < after || i > after + 200) LONGS_EQUAL(0, (arrival - stamp->at).count());
    }
    LONGS_EQUAL(0, mapper.health().epoch);
    DOUBLES_EQUAL(0, mapper.health().drift_ppm, 1e-3);
  }
}
