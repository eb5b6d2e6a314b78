#include "drivers/utc_clock.h"

#include "drivers/decoded.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"

using namespace drivers;
using namespace std::chrono_literals;

TEST_GROUP(UtcClock) {
  test::ManualClock clock;
  UtcClock utc;

  std::int64_t offset() const { return clock.both().unix_ns - hal::to_ns(clock.now()); }
  // A stamp that is this old when it arrives now.
  std::optional<hal::Time> stamped(hal::Duration age) {
    return utc.instant(clock.both().unix_ns - age.count(), clock.now());
  }
  void is(UtcState state) { LONGS_EQUAL(static_cast<int>(state), static_cast<int>(utc.state())); }
};

TEST(UtcClock, GivesNothingBeforeTheWallClockIsKnown) {
  CHECK_FALSE(stamped(1ms).has_value());
  is(UtcState::unused);
}

TEST(UtcClock, ConvertsByTheWallClock) {
  utc.set_wall_clock(offset());
  CHECK_TRUE(stamped(3ms) == clock.now() - 3ms);
  is(UtcState::trusted);
}

TEST(UtcClock, BelievesNothingOlderThanASecondOrOfTheFuture) {
  for (const hal::Duration age : {hal::Duration(1s + 1ns), hal::Duration(-1ms - 1ns),
                                  hal::Duration(1'700'000'000s), hal::Duration(18s)}) {
    UtcClock fresh;
    fresh.set_wall_clock(offset());
    utc = fresh;
    CHECK_TRUE(stamped(1s).has_value());
    CHECK_TRUE(stamped(-1ms).has_value());
    CHECK_FALSE(stamped(age).has_value());
    is(UtcState::implausible);
  }
}

TEST(UtcClock, NamesTai) {
  utc.set_wall_clock(offset());
  CHECK_FALSE(stamped(5ms - 37s).has_value());
  is(UtcState::tai);
  CHECK_FALSE(stamped(5ms - 36s).has_value());
  is(UtcState::implausible);
}

TEST(UtcClock, BelievesAgainAfterAHundredStampsThatFit) {
  utc.set_wall_clock(offset());
  CHECK_FALSE(stamped(2s).has_value());
  for (int i = 1; i < 100; ++i) CHECK_FALSE(stamped(2ms).has_value());
  is(UtcState::implausible);
  CHECK_TRUE(stamped(2ms).has_value());
  is(UtcState::trusted);
}

// A device at 100 Hz whose stamps are Unix time, through the stamper.
TEST_GROUP(DeviceUtc) {
  test::ManualClock clock;
  StampOptions options{
      .fixed_latency = 0ns, .warm_up = {}, .clock = StampOptions::Clock::device_utc};
  std::int64_t ahead = 0;  // of the device's clock, ns
  hal::Duration latency = 4ms;

  // Measured now, arrives a latency later; the stamp's error.
  hal::Duration sample(Stamper & stamper) {
    const hal::Time truth = clock.advance(10ms);
    const hal::ClockPair both = clock.both();
    stamper.set_wall_clock(both.unix_ns - hal::to_ns(both.inner));
    Packet packet = ImuSample{};
    const auto outcome = stamper.stamp(packet, {.source = Timing::Source::utc,
                                                .raw_ns = both.unix_ns + ahead,
                                                .arrival = truth + latency,
                                                .bytes = 10});
    CHECK_TRUE(outcome == Stamper::Outcome::stamped);
    return std::get<ImuSample>(packet).at - truth;
  }
};

TEST(DeviceUtc, IsTakenAsItIsSoThatEvenTheConstantLatencyShows) {
  Stamper stamper({}, 0, options);
  for (int i = 0; i < 300; ++i) CHECK_TRUE(sample(stamper) == 0ns);
  CHECK_TRUE(stamper.health().utc == UtcState::trusted);
}

TEST(DeviceUtc, IsMappedLikeAnyClockUnlessAskedFor) {
  Stamper stamper({}, 0, {.fixed_latency = 0ns});
  for (int i = 0; i < 300; ++i) CHECK_TRUE(sample(stamper) == 4ms);
  CHECK_TRUE(stamper.health().utc == UtcState::unused);
}

TEST(DeviceUtc, OfTaiIsMappedAndNamed) {
  ahead = 37'000'000'000;
  Stamper stamper({}, 0, options);
  for (int i = 0; i < 300; ++i) CHECK_TRUE(sample(stamper) == 4ms);
  CHECK_TRUE(stamper.health().utc == UtcState::tai);
  CHECK_TRUE(stamper.health().locked);
}

TEST(DeviceUtc, FallsBackToALineThatIsThereAlready) {
  Stamper stamper({}, 0, options);
  for (int i = 0; i < 3000; ++i) sample(stamper);
  clock.step_wall(-3600s);  // of the host alone; the device goes on
  ahead = 3'600'000'000'000;
  for (int i = 0; i < 200; ++i) CHECK_TRUE(sample(stamper) == 4ms);
  CHECK_TRUE(stamper.health().utc == UtcState::implausible);
  LONGS_EQUAL(0, stamper.health().epoch);
  ahead = 0;
  clock.step_wall(3600s);
  ahead = 0;
  for (int i = 0; i < 200; ++i) sample(stamper);
  CHECK_TRUE(sample(stamper) == 0ns);
  LONGS_EQUAL(0, stamper.health().epoch);
}

TEST(DeviceUtc, DoesNotWarmUp) {
  options.warm_up = 5s;
  Stamper stamper({}, 0, options);
  for (int i = 0; i < 10; ++i) sample(stamper);
  LONGS_EQUAL(0, stamper.health().withheld);
}
