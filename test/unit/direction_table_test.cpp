#include "collation/direction_table.h"

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"

using collation::DirectionTable;

TEST_GROUP(DirectionTable) {
  DirectionTable table{3};

  void check(std::size_t place, float angle) {
    const auto& direction = table.at(place, angle);
    CHECK_EQUAL(std::cos(angle), direction.cos);
    CHECK_EQUAL(std::sin(angle), direction.sin);
  }
};

TEST(DirectionTable, IsExactForAnyAngleAtAnyPlace) {
  test::AllocationCounter counter;
  for (int turn = 0; turn < 3; ++turn) {
    for (std::size_t place = 0; place < 10; ++place) {
      check(place, static_cast<float>(turn / 2) + 0.1F * static_cast<float>(place));
    }
  }
  LONGS_EQUAL(0, counter.count());
}

TEST(DirectionTable, KnowsTheAngleZeroFromTheStart) { check(1, 0); }

TEST(DirectionTable, RemembersByPlace) {
  const auto* const first = &table.at(0, 1.0F);
  POINTERS_EQUAL(first, &table.at(0, 1.0F));
  CHECK_TRUE(first != &table.at(1, 1.0F));
  POINTERS_EQUAL(&table.at(2, 0.5F), &table.at(77, 0.5F));
}
