// The reference's order: its own named cases, and a comparison with a slow model of it.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <random>

#include "collation/ordered_multi_queue.h"
#include "test/support/allocation_counter.h"
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

namespace {

// Cartographer's queue, written for plainness: walks everything for every datum.
class Model {
 public:
  using Key = std::pair<int, std::string>;
  std::vector<std::pair<Key, std::int64_t>> left;
  std::optional<Key> blocker;
  std::size_t ignored = 0, late = 0;

  void add_queue(const Key& key) { queues_[key]; }
  void add(const Key& key, std::int64_t at) {
    if (!queues_.count(key)) {
      ++ignored;
      return;
    }
    queues_[key].data.push_back(at);
    dispatch();
  }
  void finish(const Key& key) {
    queues_[key].finished = true;
    dispatch();
  }
  bool is_open(const Key& key) const {
    const auto found = queues_.find(key);
    return found != queues_.end() && !found->second.finished;
  }

 private:
  struct Queue {
    std::deque<std::int64_t> data;
    bool finished = false;
  };
  bool remove_done() {
    for (auto it = queues_.begin(); it != queues_.end(); ++it) {
      if (it->second.finished && it->second.data.empty()) return queues_.erase(it), true;
    }
    return false;
  }
  std::int64_t start_of(int trajectory) {
    if (!starts_.count(trajectory)) {
      std::int64_t start = INT64_MIN;
      for (const auto& [key, queue] : queues_) {
        if (key.first == trajectory) start = std::max(start, queue.data.front());
      }
      starts_[trajectory] = start;
    }
    return starts_[trajectory];
  }
  void dispatch() {
    while (step()) {
    }
  }
  bool step() {
    while (remove_done()) {
    }
    blocker.reset();
    const Key* best = nullptr;
    for (auto& [key, queue] : queues_) {
      if (queue.data.empty()) return blocker = key, false;
      if (!best || queue.data.front() < queues_[*best].data.front()) best = &key;
    }
    if (!best) return false;
    Queue& queue = queues_[*best];
    const std::int64_t at = queue.data.front();
    if (at < last_) {
      ++late;
      queue.data.pop_front();
      return true;
    }
    bool keep = at >= start_of(best->first);
    if (!keep && queue.data.size() < 2) {
      if (!queue.finished) return blocker = *best, false;
      keep = true;
    } else if (!keep) {
      keep = queue.data[1] > start_of(best->first);
    }
    queue.data.pop_front();
    if (keep) {
      last_ = at;
      left.emplace_back(*best, at);
    }
    return true;
  }

  std::map<Key, Queue> queues_;
  std::map<int, std::int64_t> starts_;
  std::int64_t last_ = INT64_MIN;
};

}  // namespace

TEST(StrictOrder, EqualsASlowModelOfTheReference) {
  const unsigned seed = std::random_device{}();
  std::printf("\nStrictOrder model seed %u ", seed);
  std::mt19937 random(seed);
  const auto pick = [&](int n) { return std::uniform_int_distribution<>(0, n - 1)(random); };
  for (int round = 0; round < 300; ++round) {
    test::RecordingSink out;
    OrderedMultiQueue ours{Policy::strict, out};
    Model model;
    const int sensors = 1 + pick(6);
    std::vector<Model::Key> keys;
    for (int s = 0; s < sensors; ++s) {
      keys.push_back({pick(3), std::string(1, static_cast<char>('a' + s))});
      CHECK_TRUE(bool(ours.add_queue(keys.back().first, keys.back().second,
                                     static_cast<drivers::SensorId>(s), {.capacity = 600})));
      model.add_queue(keys.back());
    }
    std::vector<std::int64_t> next(keys.size());
    for (std::int64_t& n : next) n = pick(20);
    for (int step = 0; step < 400; ++step) {
      const auto s = static_cast<std::size_t>(pick(sensors));
      const auto id = static_cast<drivers::SensorId>(s);
      if (pick(150) == 0 && model.is_open(keys[s])) {
        model.finish(keys[s]);
        ours.mark_finished(id);
      } else {
        const std::int64_t at = next[s] - (pick(60) == 0 ? pick(4) : 0);  // now and then unsorted
        next[s] += pick(4);
        model.add(keys[s], at);
        ours.add(datum(id, at), hal::Time{});
      }
      LONGS_EQUAL(model.left.size(), out.left.size());
      if (ours.held() > 0) {
        CHECK_TRUE(keys[ours.blocking()->sensor] == model.blocker);
      }
    }
    for (const std::size_t s : [&] {
           std::vector<std::size_t> order;
           for (std::size_t i = 0; i < keys.size(); ++i) order.push_back(i);
           std::sort(order.begin(), order.end(),
                     [&](std::size_t a, std::size_t b) { return keys[a] < keys[b]; });
           return order;
         }()) {
      if (model.is_open(keys[s])) model.finish(keys[s]);
    }
    ours.flush();
    std::size_t late = 0;
    for (std::size_t s = 0; s < keys.size(); ++s) {
      late += ours.stats(static_cast<drivers::SensorId>(s)).late;
    }
    LONGS_EQUAL(model.left.size(), out.left.size());
    for (std::size_t i = 0; i < out.left.size(); ++i) {
      CHECK_TRUE(keys[out.left[i].sensor] == model.left[i].first);
      LONGS_EQUAL(model.left[i].second, out.left[i].at);
    }
    LONGS_EQUAL(model.late, late);
    LONGS_EQUAL(model.ignored, ours.unknown_sensor());
    LONGS_EQUAL(0, ours.held());
  }
}
