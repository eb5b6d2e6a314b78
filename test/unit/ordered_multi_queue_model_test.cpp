// The strict order against a slow model of the reference, over random schedules of everything that
// may be asked of it.
#include <algorithm>
#include <cstdio>
#include <deque>
#include <map>
#include <random>
#include <set>

#include "collation/ordered_multi_queue.h"
#include "test/support/harness.h"
#include "test/support/recording_sink.h"

using collation::OrderedMultiQueue;
using collation::Policy;
using test::datum;

namespace {

using Key = std::pair<int, std::string>;

// Cartographer's queue, written for plainness: it walks over everything for every datum. What
// aborts the reference is refused beforehand: `aborts` tells that the operation would have.
class Model {
 public:
  std::vector<std::pair<Key, std::int64_t>> left;
  std::optional<Key> blocker;
  std::size_t ignored = 0, dropped = 0;
  bool aborts = false;

  bool has(const Key& key) const { return queues_.contains(key); }
  bool is_open(const Key& key) const { return has(key) && !queues_.at(key).finished; }
  std::size_t held() const {
    std::size_t sum = 0;
    for (const auto& [key, queue] : queues_) sum += queue.data.size();
    return sum;
  }
  void add_queue(const Key& key) { queues_[key]; }
  void add(const Key& key, std::int64_t at) {
    if (!has(key)) return void(++ignored);
    queues_[key].data.push_back(at);
    dispatch();
  }
  void finish(const Key& key) {
    queues_[key].finished = true;
    dispatch();
  }
  void flush() {
    std::vector<Key> open;
    for (const auto& [key, queue] : queues_) {
      if (!queue.finished) open.push_back(key);
    }
    for (const Key& key : open) finish(key);
  }

 private:
  struct Queue {
    std::deque<std::int64_t> data;
    bool finished = false;
  };

  void dispatch() {
    while (!aborts && step()) {
    }
  }
  // One walk. False when nothing more can be done.
  bool step() {
    blocker.reset();
    const Key* best = nullptr;
    for (auto it = queues_.begin(); it != queues_.end();) {
      if (it->second.data.empty()) {
        if (!it->second.finished) return blocker = it->first, false;
        it = queues_.erase(it);
        continue;
      }
      if (!best || it->second.data.front() < queues_[*best].data.front()) best = &it->first;
      if (queues_[*best].data.front() < last_) return aborts = true, false;
      ++it;
    }
    return best && take(*best, queues_[*best]);
  }
  bool take(const Key key, Queue& queue) {
    const std::int64_t start = start_of(key.first), at = queue.data.front();
    bool deliver = at >= start;
    if (!deliver && queue.data.size() < 2) {
      if (!queue.finished) return blocker = key, false;
      deliver = true;
    }
    queue.data.pop_front();
    if (!deliver && queue.data.front() <= start) return ++dropped, true;
    last_ = at;
    left.emplace_back(key, at);
    return true;
  }
  std::int64_t start_of(int trajectory) {
    if (!starts_.contains(trajectory)) {
      std::int64_t start = INT64_MIN;
      for (const auto& [key, queue] : queues_) {
        if (key.first == trajectory) start = std::max(start, queue.data.front());
      }
      starts_[trajectory] = start;
    }
    return starts_[trajectory];
  }

  std::map<Key, Queue> queues_;
  std::map<int, std::int64_t> starts_;
  std::int64_t last_ = INT64_MIN;
};

}  // namespace

TEST_GROUP(StrictModel) {
  std::mt19937 random;
  std::uint64_t operations = 0;

  int pick(int n) { return std::uniform_int_distribution<>(0, n - 1)(random); }

  // Both get the same operations, but those that would abort the reference.
  void play_schedule() {
    test::RecordingSink out(4000);
    OrderedMultiQueue ours{Policy::strict, out};
    Model model;
    std::set<Key> names;
    for (int n = 1 + pick(7); n > 0; --n) {
      names.insert({pick(4) - 1, std::string(1 + static_cast<std::size_t>(pick(2)),
                                             static_cast<char>('a' + pick(4)))});
    }
    const std::vector<Key> keys(names.begin(), names.end());
    std::vector<std::int64_t> next(keys.size());
    for (std::int64_t& n : next) n = pick(20);
    const bool late_queues = pick(2) == 0;
    const auto add_queue = [&](std::size_t s) {
      const auto id = static_cast<drivers::SensorId>(s);
      const bool added(ours.add_queue(keys[s].first, keys[s].second, id, {.capacity = 512}));
      CHECK_EQUAL(!model.has(keys[s]), added);
      model.add_queue(keys[s]);
    };
    for (std::size_t s = 0; s < keys.size(); ++s) {
      if (!late_queues || pick(2) == 0) add_queue(s);
    }
    for (int step = 20 + pick(200); step > 0; --step, ++operations) {
      const auto s = static_cast<std::size_t>(pick(static_cast<int>(keys.size())));
      const auto id = static_cast<drivers::SensorId>(s);
      Model tried = model;
      switch (pick(40)) {
        case 0:
        case 1:
          add_queue(s);
          continue;
        case 2:
        case 3:
          if (!model.is_open(keys[s])) continue;
          tried.finish(keys[s]);
          if (tried.aborts) continue;
          ours.mark_finished(id);
          break;
        case 4:
          if (pick(4) != 0) continue;
          tried.flush();
          if (tried.aborts) continue;
          ours.flush();
          break;
        default: {
          const std::int64_t at = next[s] - (pick(60) == 0 ? pick(4) : 0);
          tried.add(keys[s], at);
          if (tried.aborts) continue;
          next[s] = at + pick(4) * pick(3);
          ours.add(datum(id, at), hal::Time{});
        }
      }
      model = std::move(tried);
      LONGS_EQUAL(model.left.size(), out.left.size());
      LONGS_EQUAL(model.held(), ours.held());
      if (ours.held() > 0) CHECK_TRUE(keys[ours.blocking()->sensor] == model.blocker);
    }
    Model tried = model;
    tried.flush();
    if (!tried.aborts) {
      model = std::move(tried);
      ours.flush();
      LONGS_EQUAL(0, ours.held());
    }
    compare(keys, model, ours, out);
  }
  static void compare(const std::vector<Key>& keys, const Model& model,
                      const OrderedMultiQueue& ours, const test::RecordingSink& out) {
    LONGS_EQUAL(model.left.size(), out.left.size());
    for (std::size_t i = 0; i < out.left.size(); ++i) {
      CHECK_TRUE(keys[out.left[i].sensor] == model.left[i].first);
      LONGS_EQUAL(model.left[i].second, out.left[i].at);
    }
    std::uint64_t dropped = 0, late = 0;
    for (std::size_t s = 0; s < keys.size(); ++s) {
      const collation::QueueStats& stats = ours.stats(static_cast<drivers::SensorId>(s));
      dropped += stats.before_start;
      late += stats.late + stats.forced + stats.backward + stats.future;
    }
    LONGS_EQUAL(model.dropped, dropped);
    LONGS_EQUAL(0, late);
    LONGS_EQUAL(model.ignored, ours.unknown_sensor());
  }
};

TEST(StrictModel, EqualsASlowModelOfTheReferenceOverRandomSchedules) {
  const unsigned seed = std::random_device{}();
  random.seed(seed);
  for (int round = 0; round < 8000; ++round) play_schedule();
  std::printf("\nStrictModel seed %u: 8000 schedules, %llu operations ", seed,
              static_cast<unsigned long long>(operations));
}

// With everything that aborts the reference: books balance, all is counted, and the order holds
// until all queues have ended.
TEST(StrictModel, KeepsItsOrderOverSchedulesThatAbortTheReference) {
  const unsigned seed = std::random_device{}();
  std::printf("\nStrictModel any schedule: seed %u ", seed);
  random.seed(seed);
  constexpr drivers::SensorId kAll[] = {0, 1, 2, 3, 4};
  for (int round = 0; round < 3000; ++round) {
    test::RecordingSink out(4000);
    OrderedMultiQueue ours{Policy::strict, out};
    std::uint64_t refused = 0, added = 0;
    std::size_t order_began = 0;
    for (int step = 0; step < 200; ++step) {
      const auto id = static_cast<drivers::SensorId>(pick(5));
      switch (pick(12)) {
        case 0:
          if (!ours.add_queue(id % 2, std::to_string(id), id, {.capacity = 8})) ++refused;
          break;
        case 1:
          ours.mark_finished(id);
          break;
        default:
          ++added;
          ours.add(datum(id, std::int64_t{step} - pick(8)), hal::Time{});
      }
      for (std::size_t i = order_began + 1; i < out.left.size(); ++i) {
        CHECK_TRUE(out.left[i - 1].at <= out.left[i].at);
      }
      const auto is_done = [&](drivers::SensorId s) { return ours.is_done(s); };
      if (std::ranges::all_of(kAll, is_done)) order_began = out.left.size();
    }
    CHECK_TRUE(ours.misuse() >= refused);
    std::uint64_t accounted = ours.unknown_sensor();
    for (drivers::SensorId id = 0; id < 5; ++id) {
      const collation::QueueStats& s = ours.stats(id);
      LONGS_EQUAL(s.in, s.out + s.late + s.before_start + s.held);
      accounted += s.in;
    }
    LONGS_EQUAL(added, accounted);
  }
}
