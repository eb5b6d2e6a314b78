// Merging by time and converting to Cartesian, as ns per datum and per beam.
//
// Reference on a 2.3 GHz x86-64 core: Cartographer's OrderedMultiQueue takes 570-650 ns per datum
// with 2 queues, 1.7-1.9 us with 8, 5.6-6.9 us with 32; cartographer_ros's conversion 30-35 ns per
// point.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <numbers>
#include <random>
#include <string>
#include <vector>

#include "collation/cloud_builder.h"
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

// Whole turns of one slice.
void convert(benchmark::State& state) {
  const auto beams = static_cast<std::size_t>(state.range(0));
  auto pool = collation::make_cloud_pool(2, beams, false);
  collation::CloudOptions options;
  options.emit = collation::Emit::chunk;
  options.tracking_from_sensor =
      Eigen::Translation3f(0.1F, 0.2F, 0.3F) * Eigen::AngleAxisf(0.5F, Eigen::Vector3f::UnitZ());
  collation::CloudBuilder builder(options, pool);
  std::vector<std::vector<drivers::Beam>> scans(16);
  for (std::size_t scan = 0; scan < scans.size(); ++scan) {
    for (std::size_t i = 0; i < beams; ++i) {
      const float part = static_cast<float>(i) / static_cast<float>(beams);
      const float phase = 0.001F * static_cast<float>(scan);
      scans[scan].push_back({phase + part * 2 * std::numbers::pi_v<float>, 1 + part, 0});
    }
  }
  hal::Time first{1000s};
  std::size_t scan = 0;
  for (auto _ : state) {
    first += 100ms;
    builder.add(
        {.first = first, .step = 10us, .beams = scans[++scan % scans.size()]}, true,
        [](collation::CloudPool::Lease cloud) { benchmark::DoNotOptimize(cloud->points.begin()); });
  }
  bench::report_items(state, builder.stats().beams);
}

}  // namespace

BENCHMARK(collate)->ArgName("queues")->Arg(2)->Arg(8)->Arg(32);
BENCHMARK(convert)->ArgName("points")->Arg(360)->Arg(1440);
