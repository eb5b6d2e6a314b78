// Merging by time, as ns per datum.
//
// Reference on a 2.3 GHz x86-64 core: Cartographer's OrderedMultiQueue takes 570-650 ns per datum
// with 2 queues, 1.7-1.9 us with 8, 5.6-6.9 us with 32.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "collation/ordered_multi_queue.h"
#include "test/bench/items.h"

namespace {

using namespace std::chrono_literals;

struct NullSink final : collation::CollatedSink {
  void add_sensor_data(drivers::SensorId, const collation::TimedPointCloud& cloud) override {
    benchmark::DoNotOptimize(&cloud);
  }
  void add_sensor_data(drivers::SensorId, const collation::ImuData& imu) override {
    benchmark::DoNotOptimize(&imu);
  }
};

// Queues of one rate whose data arrive up to three periods late, read in passes of one period.
void collate(benchmark::State& state) {
  const auto queues = static_cast<drivers::SensorId>(state.range(0));
  NullSink sink;
  collation::OrderedMultiQueue order(collation::Policy::live, sink);
  hal::Time now{1000s};
  for (drivers::SensorId sensor = 0; sensor < queues; ++sensor) {
    const bool added(order.add_queue(0, "sensor" + std::to_string(sensor), sensor,
                                     {.capacity = 16, .max_wait = 40ms}));
    if (!added) state.SkipWithError("a queue was refused");
    order.set_waiting(sensor, true, now);
  }
  std::mt19937 random(1);
  std::vector<std::int64_t> periods_late(1024);
  for (auto& late : periods_late) late = static_cast<std::int64_t>(random() % 3);
  std::vector<std::int64_t> sent(queues);
  std::uint64_t data = 0;
  std::int64_t pass = 0;
  for (auto _ : state) {
    now += 10ms;
    ++pass;
    for (drivers::SensorId sensor = 0; sensor < queues; ++sensor) {
      const std::size_t draw = static_cast<std::size_t>(pass * 31 + sensor) % 1024;
      for (; sent[sensor] < pass - periods_late[draw]; ++sent[sensor], ++data) {
        collation::ImuData imu;
        imu.at = hal::Time(1000s) + 10ms * sent[sensor] + 1us * sensor;
        order.add(collation::make_datum(sensor, imu), now);
      }
    }
    order.release(now);
  }
  bench::report_items(state, data);
}

}  // namespace

BENCHMARK(collate)->ArgName("queues")->Arg(2)->Arg(8)->Arg(32);
