// The reference's order: its own named cases, and what follows from its rules.
#include "collation/ordered_multi_queue.h"
#include "test/support/harness.h"
#include "test/support/recording_sink.h"

using collation::OrderedMultiQueue;
using collation::Overflow;
using collation::Policy;
using test::datum;
using Ids = std::initializer_list<drivers::SensorId>;

namespace {

constexpr drivers::SensorId kFirst = 0, kSecond = 1, kThird = 2;

}  // namespace

TEST_GROUP(StrictOrder) {
  test::RecordingSink sink;
  OrderedMultiQueue queue{Policy::strict, sink};

  void add_queue(int trajectory, const char* name, drivers::SensorId sensor,
                 collation::QueueOptions options = {.capacity = 64}) {
    CHECK_TRUE(bool(queue.add_queue(trajectory, name, sensor, options)));
  }
  void add_three_queues() {
    add_queue(1, "a", kFirst);
    add_queue(1, "b", kSecond);
    add_queue(2, "b", kThird);
  }
  void add(drivers::SensorId sensor, std::initializer_list<std::int64_t> stamps) {
    for (const std::int64_t at : stamps) queue.add(datum(sensor, at), hal::Time{});
  }
  void check_left(const char* expected) { STRCMP_EQUAL(expected, sink.text().c_str()); }
};

TEST(StrictOrder, Ordering) {
  add_three_queues();
  add(kFirst, {0, 4, 5, 6});
  add(kSecond, {0, 1});
  LONGS_EQUAL(0, sink.left.size());
  add(kThird, {0, 2});
  check_left("0@0 1@0 2@0 1@1 ");
  add(kSecond, {3});
  LONGS_EQUAL(5, sink.left.size());
  add(kSecond, {7});
  add(kThird, {8});
  queue.flush();
  LONGS_EQUAL(11, sink.left.size());
  CHECK_TRUE(sink.is_sorted());
}

TEST(StrictOrder, MarkQueueAsFinished) {
  add_three_queues();
  add(kFirst, {1, 2, 3});
  queue.mark_finished(kFirst);
  queue.mark_finished(kSecond);
  LONGS_EQUAL(0, sink.left.size());
  queue.mark_finished(kThird);
  check_left("0@1 0@2 0@3 ");
}

TEST(StrictOrder, CommonStartTimePerTrajectory) {
  add_three_queues();
  add(kFirst, {0, 1, 2, 3});
  add(kSecond, {2});
  LONGS_EQUAL(0, sink.left.size());
  add(kThird, {4});
  check_left("0@2 1@2 ");
  queue.mark_finished(kFirst);
  LONGS_EQUAL(2, sink.left.size());
  queue.mark_finished(kSecond);
  check_left("0@2 1@2 0@3 2@4 ");
  queue.mark_finished(kThird);
  LONGS_EQUAL(4, sink.left.size());
  LONGS_EQUAL(2, queue.stats(kFirst).before_start);
}

TEST(StrictOrder, KeepsTheLastDatumBeforeTheCommonStart) {
  add_queue(0, "a", kFirst);
  add_queue(0, "b", kSecond);
  add(kFirst, {0, 3, 4, 6});
  add(kSecond, {5});
  queue.flush();
  check_left("0@4 1@5 0@6 ");
}

TEST(StrictOrder, DropsItWhenADatumStandsAtTheCommonStart) {
  add_queue(0, "a", kFirst);
  add_queue(0, "b", kSecond);
  add(kFirst, {0, 3, 4, 5, 6});
  add(kSecond, {5});
  queue.flush();
  check_left("0@5 1@5 0@6 ");
}

TEST(StrictOrder, DeliversTheOnlyDatumBeforeTheStartOfAFinishedQueue) {
  add_queue(0, "a", kFirst);
  add_queue(0, "b", kSecond);
  add(kFirst, {1});
  add(kSecond, {5});
  check_left("");
  LONGS_EQUAL(kFirst, queue.blocking()->sensor);
  queue.mark_finished(kFirst);
  check_left("0@1 1@5 ");
}

TEST(StrictOrder, NeverForgetsACommonStart) {
  add_queue(0, "a", kFirst);
  add(kFirst, {5});
  add_queue(0, "b", kSecond);
  add(kFirst, {6});
  add(kSecond, {5, 6, 7});
  queue.flush();
  check_left("0@5 1@5 0@6 1@6 1@7 ");
  LONGS_EQUAL(0, queue.stats(kSecond).before_start);
}

TEST(StrictOrder, LowestKeyLeavesFirstOnATie) {
  add_queue(2, "a", 0);
  add_queue(1, "z", 1);
  add_queue(1, "b", 2);
  for (const drivers::SensorId sensor : Ids{0, 1, 2}) add(sensor, {5, 6});
  queue.flush();
  check_left("2@5 1@5 0@5 2@6 1@6 0@6 ");
}

TEST(StrictOrder, ComparesNamesByBytes) {
  add_queue(0, "\xc3\xa4", 0);  // beyond ASCII
  add_queue(0, "b", 1);
  add_queue(0, "B", 2);
  add_queue(0, "ba", 3);
  for (const drivers::SensorId sensor : Ids{0, 1, 2, 3}) add(sensor, {5});
  queue.flush();
  check_left("2@5 1@5 3@5 0@5 ");
}

TEST(StrictOrder, EqualStampsPassWithinAndAcrossQueues) {
  add_queue(0, "a", kFirst);
  add_queue(0, "b", kSecond);
  add(kFirst, {5, 5, 6});
  add(kSecond, {5, 5});
  queue.flush();
  check_left("0@5 0@5 1@5 1@5 0@6 ");
}

TEST(StrictOrder, CountsWhatWouldAbortTheReference) {
  add_queue(0, "a", kFirst);
  add(kFirst, {5, 3, 6});
  check_left("0@5 0@6 ");
  LONGS_EQUAL(1, queue.stats(kFirst).late);
  queue.mark_finished(kFirst);
  queue.mark_finished(kFirst);
  queue.mark_finished(77);
  LONGS_EQUAL(2, queue.misuse());
  queue.flush();
  queue.flush();
  LONGS_EQUAL(2, queue.misuse());
}

TEST(StrictOrder, CountsDataForAQueueThatIsNotThere) {
  add_three_queues();
  add(9, {1});
  queue.mark_finished(kFirst);
  add(kFirst, {1});
  LONGS_EQUAL(2, queue.unknown_sensor());
  LONGS_EQUAL(0, queue.held());
}

TEST(StrictOrder, AcceptsDataOfAFinishedQueueThatHoldsSome) {
  add_queue(0, "a", kFirst);
  add_queue(0, "b", kSecond);
  add(kFirst, {1});
  queue.mark_finished(kFirst);
  add(kFirst, {2});
  queue.mark_finished(kSecond);
  check_left("0@1 0@2 ");
}

// The reference removes a finished queue on its walk, which ends at the first that blocks.
TEST(StrictOrder, AFinishedQueueBehindABlockerIsStillThere) {
  add_queue(0, "a", kFirst);
  add_queue(0, "b", kSecond);
  queue.mark_finished(kSecond);
  CHECK_FALSE(queue.is_done(kSecond));
  CHECK_FALSE(bool(queue.add_queue(0, "b", kSecond, {})));
  add(kSecond, {1});
  LONGS_EQUAL(0, queue.unknown_sensor());
  add(kFirst, {2});
  check_left("1@1 0@2 ");
  CHECK_TRUE(queue.is_done(kSecond));
  add(kSecond, {3});
  LONGS_EQUAL(1, queue.unknown_sensor());
}

TEST(StrictOrder, ARefusedQueueIsCounted) {
  add_queue(0, "a", kFirst);
  CHECK_FALSE(bool(queue.add_queue(0, "a", kFirst, {})));
  LONGS_EQUAL(1, queue.misuse());
}

TEST(StrictOrder, ATrajectoryThatStartsAnewKeepsItsCommonStart) {
  add_queue(0, "a", kFirst);
  add(kFirst, {5});
  queue.flush();
  add_queue(0, "a", kFirst);
  add_queue(0, "b", kSecond);
  add(kFirst, {6, 7, 8});
  add(kSecond, {8});
  queue.flush();
  check_left("0@5 0@6 0@7 0@8 1@8 ");
}

TEST(StrictOrder, WhenAllHaveEndedAnOlderTimeBeginsANewOrderWithItsOwnStart) {
  add_queue(0, "a", kFirst);
  add(kFirst, {50});
  queue.flush();
  add_queue(0, "a", kFirst);
  add_queue(0, "b", kSecond);
  add(kFirst, {6, 7, 8});
  add(kSecond, {8});
  queue.flush();
  check_left("0@50 0@8 1@8 ");
  LONGS_EQUAL(0, queue.stats(kFirst).late);
  LONGS_EQUAL(2, queue.stats(kFirst).before_start);
}

TEST(StrictOrder, WhileOthersRunANewTrajectoryDoesNotBreakTheOrder) {
  add_queue(0, "a", kFirst);
  add(kFirst, {50, 60});
  add_queue(1, "a", kSecond);
  add(kSecond, {10, 70});
  queue.flush();
  check_left("0@50 0@60 1@70 ");
  LONGS_EQUAL(1, queue.stats(kSecond).late);
}

TEST(StrictOrder, HundredsOfQueuesAreOneOrder) {
  for (drivers::SensorId id = 0; id < 600; ++id) {
    add_queue(id % 7, ("s" + std::to_string(id)).c_str(), id, {.capacity = 4});
  }
  for (std::int64_t at = 0; at < 5; ++at) {
    for (drivers::SensorId id = 600; id-- > 0;) add(id, {at * 1000 + id});
  }
  queue.flush();
  LONGS_EQUAL(3000, sink.left.size());
  CHECK_TRUE(sink.is_sorted());
}

TEST(StrictOrder, AQueueMayStartAnewOnceFinishedAndEmpty) {
  add_queue(0, "a", kFirst);
  CHECK_FALSE(bool(queue.add_queue(0, "a", kSecond, {})));
  CHECK_FALSE(bool(queue.add_queue(0, "b", kFirst, {})));
  add(kFirst, {1});
  queue.flush();
  add_queue(0, "a", kFirst);
  add(kFirst, {2});
  check_left("0@1 0@2 ");
  LONGS_EQUAL(2, queue.stats(kFirst).out);
}

TEST(StrictOrder, AFullQueueLetsTheOldestOfAllLeave) {
  add_queue(0, "a", kFirst, {.capacity = 3});
  add_queue(0, "b", kSecond, {.capacity = 3});
  add_queue(0, "c", kThird, {.capacity = 3});
  add(kSecond, {1});
  add(kFirst, {2, 3, 4});
  check_left("");
  add(kFirst, {5});
  check_left("1@1 0@2 ");
  LONGS_EQUAL(1, queue.stats(kFirst).forced);
  LONGS_EQUAL(1, queue.stats(kSecond).forced);
  LONGS_EQUAL(3, queue.stats(kFirst).held);
  LONGS_EQUAL(0, queue.stats(kFirst).overflow);
}

TEST(StrictOrder, AFullQueueTellsWhomTheOrderWaitedFor) {
  add_queue(0, "a", kFirst, {.capacity = 2});
  add_queue(0, "b", kSecond, {.capacity = 2});
  add(kFirst, {1, 2, 3, 4});
  LONGS_EQUAL(2, queue.stats(kFirst).full);
  LONGS_EQUAL(kSecond, queue.stats(kFirst).full_for);
  LONGS_EQUAL(0, queue.stats(kSecond).full);
}

TEST(StrictOrder, NamesTheFirstEmptyQueueAsTheBlocker) {
  add_three_queues();
  CHECK_FALSE(queue.blocking().has_value());
  add(kThird, {7});
  LONGS_EQUAL(kFirst, queue.blocking()->sensor);
  LONGS_EQUAL(kThird, queue.blocking()->head_sensor);
  LONGS_EQUAL(7, hal::to_ns(queue.blocking()->head));
  add(kFirst, {7});
  LONGS_EQUAL(kSecond, queue.blocking()->sensor);
  add(kSecond, {7});
  check_left("0@7 ");
  LONGS_EQUAL(kFirst, queue.blocking()->sensor);
  queue.flush();
  CHECK_FALSE(queue.blocking().has_value());
}
