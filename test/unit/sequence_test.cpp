#include "drivers/sequence.h"

#include "test/support/harness.h"

using drivers::Sequence;

TEST_GROUP(Sequence){};

TEST(Sequence, WhatTheCounterSkippedIsMissing) {
  Sequence sequence(16);
  LONGS_EQUAL(0, sequence.missing_before(41));
  LONGS_EQUAL(0, sequence.missing_before(42));
  LONGS_EQUAL(2, sequence.missing_before(45));
  LONGS_EQUAL(0, sequence.missing_before(46));
}

TEST(Sequence, TheCounterWraps) {
  Sequence narrow(16), wide(64);
  narrow.missing_before(0xFFFE);
  LONGS_EQUAL(2, narrow.missing_before(1));
  wide.missing_before(~std::uint64_t{0});
  LONGS_EQUAL(0, wide.missing_before(0));
  LONGS_EQUAL(4, wide.missing_before(5));
}

TEST(Sequence, WhatComesLateIsNotMissingAgain) {
  Sequence sequence(16);
  sequence.missing_before(0xFFFF);
  LONGS_EQUAL(2, sequence.missing_before(2));
  LONGS_EQUAL(0, sequence.missing_before(0));
  LONGS_EQUAL(0, sequence.missing_before(1));
  LONGS_EQUAL(0, sequence.missing_before(3));
  LONGS_EQUAL(1, sequence.missing_before(5));
}

TEST(Sequence, ACounterThatRepeatsOrGoesBackShowsNothing) {
  Sequence sequence(16);
  sequence.missing_before(500);
  LONGS_EQUAL(0, sequence.missing_before(500));
  LONGS_EQUAL(0, sequence.missing_before(3));
  LONGS_EQUAL(1, sequence.missing_before(5));
  sequence.forget();
  LONGS_EQUAL(0, sequence.missing_before(9));
}
