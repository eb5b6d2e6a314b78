// Every order in which the data of three sensors, four of each, can arrive; with passes of
// different length, a process that is held up, sensors that fail and come back, and queues too
// small for what they get: the live order against a slow model of its rules.
#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <vector>

#include "collation/ordered_multi_queue.h"
#include "test/support/harness.h"
#include "test/support/recording_sink.h"

using namespace std::chrono_literals;
using collation::OrderedMultiQueue;
using collation::Overflow;
using collation::QueueStats;
using drivers::SensorId;

namespace {

constexpr std::size_t kSensors = 3, kEvents = 4, kSteps = kSensors * kEvents;
constexpr std::int64_t kMs = 1'000'000;
constexpr std::array<std::int64_t, kSensors> kMaxWait{8 * kMs, 15 * kMs, 11 * kMs};

// The rules, one by one. Keys are the numbers of the sensors.
class Model {
 public:
  struct Counts {
    std::uint64_t out = 0, late = 0, duplicate = 0, backward = 0, future = 0, overflow = 0,
                  forced = 0;
    bool operator==(const Counts&) const = default;
  };
  Model(std::size_t capacity, Overflow overflow) : capacity_(capacity), overflow_(overflow) {}

  void add(std::size_t s, std::int64_t at, std::int64_t arrival) {
    Sensor& sensor = sensors[s];
    if (at > arrival + kMs) return void(++sensor.counts.future);
    if (at == sensor.previous) return void(++sensor.counts.duplicate);
    if (at < sensor.previous) return void(++sensor.counts.backward);
    sensor.previous = at;
    sensor.next = std::max(sensor.next, at + 1);
    if (at < last_out_) return void(++sensor.counts.late);
    if (sensor.held.size() == capacity_) {
      if (overflow_ == Overflow::drop_newest) return void(++sensor.counts.overflow);
      if (overflow_ == Overflow::drop_oldest) {
        ++sensor.counts.overflow;
        sensor.held.erase(sensor.held.begin());
      }
      while (sensor.held.size() == capacity_) {
        const std::size_t oldest = *earliest_head();
        ++sensors[oldest].counts.forced;
        leave(oldest);
      }
    }
    sensor.held.push_back(at);
  }
  void read_empty(std::size_t s, std::int64_t began) {
    sensors[s].next = std::max(sensors[s].next, began - kMaxWait[s]);
  }
  void set_waiting(std::size_t s, bool waiting, std::int64_t floor) {
    if (waiting && !sensors[s].waiting) sensors[s].next = std::max(sensors[s].next, floor);
    sensors[s].waiting = waiting;
  }
  void release() {
    while (const auto head = earliest_head()) {
      const std::int64_t at = sensors[*head].held.front();
      for (std::size_t q = 0; q < kSensors; ++q) {
        const bool may_be_earlier = std::pair(sensors[q].next, q) <= std::pair(at, *head);
        if (q != *head && sensors[q].held.empty() && sensors[q].waiting && may_be_earlier) return;
      }
      leave(*head);
    }
  }

  struct Sensor {
    std::vector<std::int64_t> held;
    std::int64_t next = INT64_MIN, previous = INT64_MIN;
    bool waiting = true;
    Counts counts;
  };
  std::array<Sensor, kSensors> sensors;
  std::vector<test::Left> left;

 private:
  std::optional<std::size_t> earliest_head() const {
    std::optional<std::size_t> best;
    for (std::size_t s = 0; s < kSensors; ++s) {
      if (sensors[s].held.empty()) continue;
      if (!best || sensors[s].held.front() < sensors[*best].held.front()) best = s;
    }
    return best;
  }
  void leave(std::size_t s) {
    last_out_ = sensors[s].held.front();
    sensors[s].held.erase(sensors[s].held.begin());
    ++sensors[s].counts.out;
    left.push_back({static_cast<SensorId>(s), last_out_});
  }

  const std::size_t capacity_;
  const Overflow overflow_;
  std::int64_t last_out_ = INT64_MIN;
};

struct Trouble {
  enum class Kind : std::uint8_t { none, held_up, fails } kind = Kind::none;
  std::size_t at = 0;      // before this step
  std::size_t sensor = 0;  // that fails, until four steps later
};

// Ours, kept over all schedules: each begins a second later, when nothing of the last one counts.
class Ours {
 public:
  Ours(std::size_t capacity, Overflow overflow) : capacity_(capacity), overflow_(overflow) {
    for (std::size_t s = 0; s < kSensors; ++s) {
      const SensorId id = static_cast<SensorId>(s);
      CHECK_TRUE(bool(queue.add_queue(
          0, std::string(1, static_cast<char>('a' + s)), id,
          {.capacity = capacity, .max_wait = hal::Duration(kMaxWait[s]), .overflow = overflow})));
      queue.set_waiting(id, true, hal::from_ns(0));
    }
  }

  void play(const std::array<std::uint8_t, kSteps>& schedule, std::size_t pass_every,
            const Trouble& trouble) {
    const std::int64_t zero = (began_ += 1000 * kMs);
    std::array<std::size_t, kSensors> sent{};
    Model model(capacity_, overflow_);
    for (std::size_t s = 0; s < kSensors; ++s) before_[s] = counts(s);
    out.left.clear();
    std::int64_t now = zero;
    const auto pass = [&] {
      for (std::size_t s = 0; s < kSensors; ++s) {
        model.read_empty(s, now);
        queue.read_empty(static_cast<SensorId>(s), hal::from_ns(now));
      }
      model.release();
      queue.release(hal::from_ns(now));
    };
    const auto set_waiting = [&](std::size_t s, bool waiting) {
      model.set_waiting(s, waiting, now);
      queue.set_waiting(static_cast<SensorId>(s), waiting, hal::from_ns(now));
    };
    for (std::size_t step = 0; step < kSteps; ++step) {
      now += 4 * kMs;
      if (trouble.kind == Trouble::Kind::held_up && step == trouble.at) now += 40 * kMs;
      if (trouble.kind == Trouble::Kind::fails) {
        if (step == trouble.at) set_waiting(trouble.sensor, false);
        if (step == trouble.at + 4) set_waiting(trouble.sensor, true);
      }
      const std::size_t s = schedule[step];
      // Two sensors share their stamps; the third repeats one of its own.
      const std::int64_t n = static_cast<std::int64_t>(sent[s]++);
      const std::int64_t at = zero + 10 * kMs * (s == 2 && n == 3 ? 2 : n) + (s == 2 ? 3 * kMs : 0);
      model.add(s, at, now);
      queue.add(test::datum(static_cast<SensorId>(s), at), hal::from_ns(now));
      if ((step + 1) % pass_every == 0) pass();
    }
    now += 100 * kMs;
    pass();
    compare(model);
  }

  test::RecordingSink out{1000};
  OrderedMultiQueue queue{collation::Policy::live, out};

 private:
  Model::Counts counts(std::size_t s) const {
    const QueueStats& q = queue.stats(static_cast<SensorId>(s));
    return {q.out, q.late, q.duplicate, q.backward, q.future, q.overflow, q.forced};
  }
  void compare(const Model& model) const {
    bool same = out.left == model.left && queue.held() == 0;
    for (std::size_t s = 0; s < kSensors && same; ++s) {
      const Model::Counts now = counts(s), &was = before_[s];
      same =
          model.sensors[s].counts ==
          Model::Counts{
              now.out - was.out,           now.late - was.late,     now.duplicate - was.duplicate,
              now.backward - was.backward, now.future - was.future, now.overflow - was.overflow,
              now.forced - was.forced};
    }
    if (!same || !out.is_sorted()) FAIL("the live order differs from its model");
  }

  const std::size_t capacity_;
  const Overflow overflow_;
  std::int64_t began_ = 0;
  std::array<Model::Counts, kSensors> before_;
};

}  // namespace

TEST_GROUP(LiveOrderExhaustive){};

TEST(LiveOrderExhaustive, EqualsASlowModelInEverySchedule) {
  using Kind = Trouble::Kind;
  constexpr Trouble kTroubles[] = {
      {}, {Kind::held_up, 6}, {Kind::fails, 3, 0}, {Kind::fails, 5, 1}, {Kind::fails, 2, 2}};
  struct Memory {
    std::size_t capacity;
    Overflow overflow;
  };
  constexpr Memory kMemories[] = {{8, Overflow::release},
                                  {2, Overflow::release},
                                  {1, Overflow::drop_oldest},
                                  {1, Overflow::drop_newest}};
  std::uint64_t schedules = 0, left = 0;
  for (const Memory& memory : kMemories) {
    Ours ours(memory.capacity, memory.overflow);
    for (const std::size_t pass_every : {1, 4}) {
      for (const Trouble& trouble : kTroubles) {
        std::array<std::uint8_t, kSteps> schedule{0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2};
        do {
          ours.play(schedule, pass_every, trouble);
          ++schedules;
          left += ours.out.left.size();
        } while (std::next_permutation(schedule.begin(), schedule.end()));
      }
    }
  }
  LONGS_EQUAL(34'650 * 2 * 5 * 4, schedules);
  std::printf("\nLiveOrderExhaustive: %llu schedules, %llu data left ",
              static_cast<unsigned long long>(schedules), static_cast<unsigned long long>(left));
}
