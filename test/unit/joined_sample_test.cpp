#include "drivers/joined_sample.h"

#include <random>

#include "test/support/harness.h"

using namespace drivers;
using namespace std::chrono_literals;

TEST_GROUP(JoinedSample) {
  JoinedSample joined{4ms};
  Decoded out;
  std::vector<ImuSample> given;
  std::vector<Timing> timings;

  static ImuSample rates() {
    ImuSample s;
    s.accel = {0, 0, 9.8};
    s.gyro = {1, 2, 3};
    return s;
  }
  static ImuSample attitude() {
    ImuSample s;
    s.orientation = {0, 0, 0, 1};
    return s;
  }
  static ImuSample field() {
    ImuSample s;
    s.mag = {1e-5, 0, 4e-5};
    return s;
  }
  static ImuSample warmth() {
    ImuSample s;
    s.temperature = 25;
    return s;
  }
  void put(const ImuSample& s, hal::Duration at) {
    joined.put(s, {.source = Timing::Source::clock, .raw_ns = at.count()}, out);
    take();
  }
  void take() {
    for (const Decoded::Item& item : out.items()) {
      given.push_back(std::get<ImuSample>(item.packet));
      timings.push_back(item.timing);
    }
    out.clear();
  }
};

TEST(JoinedSample, WhatComesAloneGoesAtOnce) {
  for (int i = 0; i < 5; ++i) {
    put(rates(), i * 10ms);
    LONGS_EQUAL(i + 1, given.size());
    CHECK_TRUE(timings.back().shared);
  }
}

TEST(JoinedSample, OnceTheRhythmIsKnownMessagesOfAnInstantAreOneSampleWhicheverComesFirst) {
  for (const bool attitude_first : {false, true}) {
    joined.forget();
    given.clear(), timings.clear();
    for (int i = 0; i < 20; ++i) {
      put(attitude_first ? attitude() : rates(), i * 10ms);
      put(attitude_first ? rates() : attitude(), i * 10ms);
    }
    LONGS_EQUAL(22, given.size());  // the first two apart
    for (std::size_t i = 4; i < given.size(); ++i) {
      CHECK_TRUE(given[i].accel && given[i].orientation);
      LONGS_EQUAL((static_cast<long>(i) - 2) * 10'000'000, timings[i].raw_ns);
    }
  }
}

TEST(JoinedSample, TheInstantIsThatOfTheAcceleration) {
  for (int i = 0; i < 6; ++i) {
    put(attitude(), i * 10ms + 1ms);
    put(rates(), i * 10ms);
  }
  CHECK_TRUE(given.back().orientation.has_value());
  LONGS_EQUAL(50'000'000, timings.back().raw_ns);
  for (int i = 6; i < 9; ++i) put(rates(), i * 10ms), put(attitude(), i * 10ms + 1ms);
  CHECK_TRUE(given.back().orientation.has_value());
  LONGS_EQUAL(80'000'000, timings.back().raw_ns);
}

TEST(JoinedSample, ThreeKindsAreOneSample) {
  for (int i = 0; i < 6; ++i) {
    put(rates(), i * 10ms), put(attitude(), i * 10ms), put(field(), i * 10ms);
  }
  CHECK_TRUE(given.back().accel && given.back().orientation && given.back().mag);
}

TEST(JoinedSample, AnAttitudeOfEverySecondInstantIsAwaitedAtItsOwn) {
  for (int i = 0; i < 40; ++i) {
    put(rates(), i * 10ms);
    const std::size_t before = given.size();
    if (i % 2 == 0) put(attitude(), i * 10ms);
    if (i > 4) LONGS_EQUAL(before + (i % 2 == 0), given.size());
    if (i > 4) CHECK_TRUE(given.back().orientation.has_value() == (i % 2 == 0));
  }
}

TEST(JoinedSample, AnAttitudeThatWasLostHoldsUpNothingBeyondTheNext) {
  for (int i = 0; i < 10; ++i) put(rates(), i * 10ms), put(attitude(), i * 10ms);
  put(rates(), 100ms);
  const std::size_t before = given.size();
  put(rates(), 110ms);
  LONGS_EQUAL(before + 1, given.size());
  CHECK_FALSE(given.back().orientation.has_value());
  for (int i = 12; i < 20; ++i) put(rates(), i * 10ms);  // none came for long: not awaited
  LONGS_EQUAL(190'000'000, timings.back().raw_ns);
}

TEST(JoinedSample, MessagesOfNeighbouringInstantsStayApart) {
  // Every 5 ms: 4 ms are no neighbour's distance once that is known.
  for (int i = 0; i < 10; ++i) put(rates(), i * 5ms), put(attitude(), i * 5ms);
  put(rates(), 50ms);
  put(attitude(), 53ms);
  CHECK_FALSE(given.back().orientation.has_value());
  joined.give(out);
  take();
  CHECK_FALSE(given.back().accel.has_value());
}

TEST(JoinedSample, WhatItsKindToldBeforeIsNoNews) {
  put(rates(), 10ms);
  put(rates(), 20ms);
  put(rates(), 20ms);
  CHECK_FALSE(timings.back().shared);
  put(rates(), 10ms);
  CHECK_FALSE(timings.back().shared);
  put(attitude(), 20ms);
  CHECK_TRUE(timings.back().shared);
}

TEST(JoinedSample, AClockThatStartedAnewIsNews) {
  put(rates(), 100s);
  put(rates(), 1s);
  CHECK_TRUE(timings.back().shared);
}

TEST(JoinedSample, AReadingThatIsNotAwaitedJoinsWhatIsThereOrGoesByItself) {
  put(warmth(), 0ms);
  LONGS_EQUAL(1, given.size());
  for (int i = 1; i < 5; ++i) put(rates(), i * 10ms), put(attitude(), i * 10ms);
  put(rates(), 50ms), put(warmth(), 50ms), put(attitude(), 50ms);
  CHECK_TRUE(given.back().accel && given.back().temperature && given.back().orientation);
}

TEST(JoinedSample, NothingIsLostWhateverComes) {
  std::mt19937 random(7);
  std::size_t parts = 0, found = 0;
  std::int64_t t = 0;
  for (int i = 0; i < 20'000; ++i) {
    t += static_cast<std::int64_t>(random() % 12'000'000) - 1'000'000;
    t = std::max<std::int64_t>(t, 0);
    const ImuSample kinds[] = {rates(), attitude(), field(), warmth()};
    put(kinds[random() % 4], hal::Duration(t));
    ++parts;
  }
  joined.give(out);
  take();
  for (const ImuSample& s : given) {
    found += static_cast<std::size_t>(s.accel.has_value()) + s.orientation.has_value() +
             s.mag.has_value() + s.temperature.has_value();
  }
  LONGS_EQUAL(parts, found);
}
