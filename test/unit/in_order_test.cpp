#include "drivers/in_order.h"

#include <deque>
#include <vector>

#include "test/support/framing_properties.h"

using drivers::InOrder;

TEST_GROUP(InOrder) {
  InOrder<std::uint64_t, 3> order;
  std::vector<std::uint64_t> given;

  std::uint64_t take(std::uint64_t number) {
    if (order.is_behind(number) || order.is_waiting(number)) return 0;
    order.place() = number;
    return order.take(number, [&](std::uint64_t item) { given.push_back(item); });
  }
  std::uint64_t take_all(std::initializer_list<std::uint64_t> numbers) {
    std::uint64_t lost = 0;
    for (const std::uint64_t number : numbers) lost += take(number);
    return lost;
  }
  void expect(const std::vector<std::uint64_t>& wanted) { CHECK_TRUE(given == wanted); }
};

TEST(InOrder, WhatComesInOrderWaitsForNothing) {
  LONGS_EQUAL(0, take_all({7, 8, 9}));
  expect({7, 8, 9});
}

TEST(InOrder, WhatIsOvertakenByThreeIsNotLost) {
  LONGS_EQUAL(0, take_all({1, 3, 4, 5, 2, 6}));
  expect({1, 2, 3, 4, 5, 6});
}

TEST(InOrder, WhatThreeWaitForIsLostWhenAFourthComes) {
  LONGS_EQUAL(0, take_all({1, 3, 4, 6}));
  expect({1});
  LONGS_EQUAL(1, take(7));
  expect({1, 3, 4});
  CHECK_TRUE(order.is_behind(2));
  LONGS_EQUAL(0, take(5));
  expect({1, 3, 4, 5, 6, 7});
}

TEST(InOrder, WhatComesTwiceIsKnown) {
  LONGS_EQUAL(0, take_all({1, 3}));
  CHECK_TRUE(order.is_behind(1));
  CHECK_TRUE(order.is_waiting(3));
  CHECK_FALSE(order.is_behind(2) || order.is_waiting(2));
}

TEST(InOrder, CloseIsWhatFitsAmongThoseThatAreWaitedFor) {
  CHECK_FALSE(order.is_close(7));
  take_all({7, 9});
  CHECK_FALSE(order.is_close(7) || order.is_close(8 + 257));
  CHECK_TRUE(order.is_close(8) && order.is_close(8 + 256));
}

TEST(InOrder, AFarJumpIsANewBeginning) {
  take_all({1, 3});
  LONGS_EQUAL(1 + 997, take(1001));
  LONGS_EQUAL(0, take(1002));
  expect({1, 3, 1001, 1002});
  LONGS_EQUAL(0, take(std::uint64_t{1} << 40));  // no loss is so large
}

// Of one call all are valid until the next place().
TEST(InOrder, ACountThatBeginsAnewOverwritesNothingOfBefore) {
  for (const bool is_told : {true, false}) {
    InOrder<std::uint64_t, 3> other;
    std::vector<const std::uint64_t*> places;
    const auto keep = [&](const std::uint64_t& item) { places.push_back(&item); };
    for (const std::uint64_t number : {501U, 503U, 505U, 506U}) {
      places.clear();
      other.place() = number;
      (void)other.take(number, keep);
    }
    places.clear();
    other.place() = 2000;
    UNSIGNED_LONGS_EQUAL(2U + (is_told ? 0 : 2000 - 507),
                         is_told ? other.take_anew(2000, keep) : other.take(2000, keep));
    LONGS_EQUAL(4, places.size());
    LONGS_EQUAL(503, *places[0]);
    LONGS_EQUAL(506, *places[2]);
    LONGS_EQUAL(2000, *places[3]);
    CHECK_TRUE(other.expected() == 2001);
  }
}

TEST(InOrder, NumbersMayOnlyTellTheOrder) {
  const auto follows = [&](std::uint64_t item) {
    return given.empty() || item == given.back() + 10;
  };
  const auto give = [&](std::uint64_t item) { given.push_back(item); };
  for (const std::uint64_t item : {10U, 30U, 40U, 20U, 60U, 70U, 80U}) {
    order.place() = item;
    order.take_by(item, follows, give);
  }
  expect({10, 20, 30, 40});
  order.place() = 90;
  order.take_by(90, follows, give);
  expect({10, 20, 30, 40, 60, 70, 80, 90});
  CHECK_TRUE(order.is_behind(50));
}

TEST(InOrder, WhatWaitsIsGivenAtTheEnd) {
  take_all({1, 3, 5});
  LONGS_EQUAL(2, order.give_up_all([&](std::uint64_t item) { given.push_back(item); }));
  expect({1, 3, 5});
  LONGS_EQUAL(0, take(6));
  expect({1, 3, 5, 6});
}

TEST(InOrder, NothingIsKnownOfBefore) {
  take_all({5, 7});
  order.forget();
  LONGS_EQUAL(0, take_all({2, 3}));
  expect({5, 2, 3});
}

// A tenth is lost, a tenth comes twice, a tenth is late by one to three others.
TEST(InOrder, EachOfAMillionIsGivenOnceOrCounted) {
  test::Random random(17);
  std::uint64_t lost = 0, never = 0;
  std::deque<std::pair<std::uint64_t, unsigned>> late;  // and by how many
  for (std::uint64_t number = 0; number < 1'000'000; ++number) {
    const unsigned fate = number == 0 ? 9 : random.below(10);
    if (fate == 0) {
      ++never;
    } else if (fate == 1 && late.empty()) {
      late.emplace_back(number, 1 + random.below(3));
      continue;
    } else {
      lost += take(number);
      if (fate == 2) lost += take(number);
    }
    if (late.empty() || --late.front().second != 0) continue;
    lost += take(late.front().first);
    late.pop_front();
  }
  for (const auto& [number, by] : late) lost += take(number);
  lost += order.give_up_all([&](std::uint64_t item) { given.push_back(item); });
  CHECK_TRUE(std::ranges::is_sorted(given));
  CHECK_TRUE(std::ranges::adjacent_find(given) == given.end());
  LONGS_EQUAL(1'000'000 - never, given.size());
  CHECK_TRUE(never - lost <= 3);  // those behind the last
}
