// Merging by time, as ns per datum: both policies, and beside them the shape of Cartographer's
// queue, for ratios within one run.
//
// Reference on a 2.3 GHz x86-64 core: Cartographer's own OrderedMultiQueue takes 570-650 ns per
// datum with 2 queues, 1.7-1.9 us with 8, 5.6-6.9 us with 32, 53-68 us with 256.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "collation/ordered_multi_queue.h"
#include "test/bench/allocations.h"
#include "test/bench/items.h"

namespace {

using namespace std::chrono_literals;
using collation::Policy;

struct NullSink final : collation::CollatedSink {
  void add_sensor_data(drivers::SensorId, const collation::TimedPointCloud& cloud) override {
    benchmark::DoNotOptimize(&cloud);
  }
  void add_sensor_data(drivers::SensorId, const collation::ImuData& imu) override {
    benchmark::DoNotOptimize(&imu);
  }
  void add_sensor_data(drivers::SensorId, const collation::OpaqueMessage& message) override {
    benchmark::DoNotOptimize(&message);
  }
};

// Queues of one rate whose data arrive up to three periods late, read in passes of one period.
// Drawn beforehand: what is measured is the merging.
class Arrivals {
 public:
  struct Arrival {
    drivers::SensorId queue;
    std::uint32_t at_us, arrival_us;  // since the begin of the schedule
  };

  explicit Arrivals(std::size_t queues) : length_(kPeriod * static_cast<int>(kData / queues)) {
    std::mt19937 random(1);
    std::vector<std::int64_t> sent(queues);
    const std::int64_t passes = length_ / kPeriod;
    for (std::int64_t pass = 1; pass <= passes; ++pass) {
      for (std::size_t queue = 0; queue < queues; ++queue) {
        const std::int64_t periods_late = pass == passes ? 0 : random() % 4;
        for (; sent[queue] < pass - periods_late; ++sent[queue]) {
          const std::int64_t at = sent[queue] * (kPeriod / 1us) + static_cast<std::int64_t>(queue);
          data_.push_back({static_cast<drivers::SensorId>(queue), static_cast<std::uint32_t>(at),
                           static_cast<std::uint32_t>(pass * (kPeriod / 1us))});
        }
      }
      pass_ends_.push_back(data_.size());
    }
  }
  // The next round of the same schedule: in how far it is later than the first.
  hal::Duration next_round() { return length_ * static_cast<std::int64_t>(rounds_++); }
  std::span<const Arrival> data() const { return data_; }
  std::span<const std::size_t> pass_ends() const { return pass_ends_; }  // into data()
  std::uint64_t played() const { return rounds_ * data_.size(); }

  static constexpr hal::Time kBegin{1000s};
  static constexpr hal::Duration kPeriod = 10ms;

 private:
  static constexpr std::size_t kData = 1 << 16;

  const hal::Duration length_;
  std::vector<Arrival> data_;
  std::vector<std::size_t> pass_ends_;
  std::uint64_t rounds_ = 0;
};

void report(benchmark::State& state, const Arrivals& arrivals, const bench::Allocations& made) {
  bench::report_allocations(state, made);
  bench::report_items(state, arrivals.played());
}

void add(collation::OrderedMultiQueue& order, hal::Time begin, const Arrivals::Arrival& arrival) {
  collation::ImuData imu;
  imu.at = begin + 1us * arrival.at_us;
  order.add(collation::make_datum(arrival.queue, imu), begin + 1us * arrival.arrival_us);
}

void play_strict(collation::OrderedMultiQueue& order, hal::Time begin, const Arrivals& arrivals) {
  for (const Arrivals::Arrival& arrival : arrivals.data()) add(order, begin, arrival);
}

void play_live(collation::OrderedMultiQueue& order, hal::Time begin, const Arrivals& arrivals,
               std::size_t queues) {
  hal::Time now = begin;
  std::size_t i = 0;
  for (const std::size_t end : arrivals.pass_ends()) {
    now += Arrivals::kPeriod;
    for (; i < end; ++i) add(order, begin, arrivals.data()[i]);
    for (std::size_t queue = 0; queue < queues; ++queue) {
      order.read_empty(static_cast<drivers::SensorId>(queue), now);
    }
    order.release(now);
  }
}

void collate(benchmark::State& state, Policy policy) {
  const auto queues = static_cast<std::size_t>(state.range(0));
  const auto id = [](std::size_t queue) { return static_cast<drivers::SensorId>(queue); };
  NullSink sink;
  collation::OrderedMultiQueue order(policy, sink);
  for (std::size_t queue = 0; queue < queues; ++queue) {
    const bool added(order.add_queue(0, "sensor" + std::to_string(queue), id(queue),
                                     {.capacity = 16, .max_wait = 40ms}));
    if (!added) state.SkipWithError("a queue was refused");
    order.set_waiting(id(queue), true, Arrivals::kBegin);
  }
  Arrivals arrivals(queues);
  const bench::Allocations allocations;
  for (auto _ : state) {
    const hal::Time begin = Arrivals::kBegin + arrivals.next_round();
    if (policy == Policy::strict) {
      play_strict(order, begin, arrivals);
    } else {
      play_live(order, begin, arrivals, queues);
    }
  }
  report(state, arrivals, allocations);
  for (std::size_t queue = 0; queue < queues; ++queue) {
    if (order.stats(id(queue)).forced + order.stats(id(queue)).late > 0) {
      state.SkipWithError("data were late or forced out");
    }
  }
}

// The shape of Cartographer's queue: data on the heap, a deque under a mutex per sensor, all of
// them walked over in a sorted map for each datum.
class Shape {
 public:
  using Key = std::pair<int, std::string>;
  struct Data {
    virtual ~Data() = default;
    hal::Time at{};
  };
  struct Imu final : Data {
    collation::ImuData imu;
  };
  using Callback = std::function<void(std::unique_ptr<Data>)>;

  void add_queue(const Key& key, Callback callback) { queues_[key].callback = std::move(callback); }
  void add(const Key& key, std::unique_ptr<Data> data) {
    const auto found = queues_.find(key);
    if (found == queues_.end()) return;
    found->second.data.push(std::move(data));
    dispatch();
  }

 private:
  class Fifo {
   public:
    void push(std::unique_ptr<Data> data) {
      const std::lock_guard lock(mutex_);
      data_.push_back(std::move(data));
    }
    const Data* peek() {
      const std::lock_guard lock(mutex_);
      return data_.empty() ? nullptr : data_.front().get();
    }
    std::size_t size() {
      const std::lock_guard lock(mutex_);
      return data_.size();
    }
    std::unique_ptr<Data> pop() {
      const std::lock_guard lock(mutex_);
      std::unique_ptr<Data> data = std::move(data_.front());
      data_.pop_front();
      return data;
    }

   private:
    std::mutex mutex_;
    std::deque<std::unique_ptr<Data>> data_;
  };
  struct Queue {
    Fifo data;
    Callback callback;
    bool finished = false;
  };

  void dispatch() {
    for (;;) {
      const Data* earliest = nullptr;
      Queue* from = nullptr;
      Key key;
      for (auto it = queues_.begin(); it != queues_.end();) {
        const Data* const head = it->second.data.peek();
        if (head == nullptr) {
          if (!it->second.finished) return blocked(it->first);
          it = queues_.erase(it);
          continue;
        }
        if (earliest == nullptr || head->at < earliest->at) {
          earliest = head;
          from = &it->second;
          key = it->first;
        }
        ++it;
      }
      if (from == nullptr || earliest->at < start(key.first)) return;
      last_ = earliest->at;
      from->callback(from->data.pop());
    }
  }
  void blocked(const Key& key) {
    blocker_ = key;
    for (auto& [other, queue] : queues_) {
      if (queue.data.size() > 500) benchmark::DoNotOptimize(&other);
    }
  }
  hal::Time start(int trajectory) {
    return starts_.emplace(trajectory, Arrivals::kBegin).first->second;
  }

  std::map<Key, Queue> queues_;
  std::map<int, hal::Time> starts_;
  hal::Time last_{};
  Key blocker_;
};

void collate_reference_shape(benchmark::State& state) {
  const auto queues = static_cast<std::size_t>(state.range(0));
  Shape order;
  std::vector<Shape::Key> keys;
  for (std::size_t queue = 0; queue < queues; ++queue) {
    keys.emplace_back(0, "sensor" + std::to_string(queue));
    order.add_queue(keys.back(), [](std::unique_ptr<Shape::Data> data) {
      benchmark::DoNotOptimize(data.get());
    });
  }
  Arrivals arrivals(queues);
  const bench::Allocations allocations;
  for (auto _ : state) {
    const hal::Time begin = Arrivals::kBegin + arrivals.next_round();
    for (const Arrivals::Arrival& arrival : arrivals.data()) {
      auto data = std::make_unique<Shape::Imu>();
      data->at = data->imu.at = begin + 1us * arrival.at_us;
      order.add(keys[arrival.queue], std::move(data));
    }
  }
  report(state, arrivals, allocations);
}

void numbers_of_queues(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("queues")->Arg(2)->Arg(8)->Arg(32)->Arg(256);
}

void collate(benchmark::State& state) { collate(state, Policy::strict); }
void collate_live(benchmark::State& state) { collate(state, Policy::live); }

}  // namespace

BENCHMARK(collate)->Apply(numbers_of_queues);
BENCHMARK(collate_live)->Apply(numbers_of_queues);
BENCHMARK(collate_reference_shape)->Apply(numbers_of_queues);
