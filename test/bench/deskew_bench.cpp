// De-skew of whole turns, alone and behind the conversion, as ns per point: a gyro of 100 Hz and
// turns of 100 ms.
#include "collation/deskew.h"

#include <benchmark/benchmark.h>

#include <cstring>
#include <numbers>
#include <vector>

#include "collation/cloud_builder.h"
#include "test/bench/allocations.h"
#include "test/bench/items.h"

namespace {

using namespace std::chrono_literals;

// The gyro of a robot that turns at 3 rad/s, told up to any time.
class Gyro {
 public:
  void run_to(hal::Time end) {
    for (; at_ <= end; at_ += 10ms) {
      collation::ImuData imu;
      imu.at = at_;
      imu.angular_velocity = {0.1, 0, 3};
      track.add(imu);
    }
  }
  collation::GyroTrack track{256};

 private:
  hal::Time at_{999s};
};

std::vector<drivers::Beam> scan_of(std::size_t beams) {
  std::vector<drivers::Beam> scan;
  for (std::size_t i = 0; i < beams; ++i) {
    const float part = static_cast<float>(i) / static_cast<float>(beams);
    scan.push_back({part * 2 * std::numbers::pi_v<float>, 1 + part, 0});
  }
  return scan;
}

void run(benchmark::State& state, bool convert) {
  const auto beams = static_cast<std::size_t>(state.range(0));
  auto pool = collation::make_cloud_pool(2, beams, false);
  collation::CloudOptions options;
  options.emit = collation::Emit::chunk;
  collation::CloudBuilder builder(options, pool);
  Gyro gyro;
  collation::Deskewer deskewer(gyro.track);
  const std::vector<drivers::Beam> scan = scan_of(beams);
  const hal::Duration step = hal::Duration(100ms) / static_cast<std::int64_t>(beams);
  hal::Time first{1000s};
  collation::CloudPool::Lease last;
  const auto build = [&](auto&& emit) {
    builder.add({.first = first, .step = step, .beams = scan}, true, emit);
  };
  build([&](collation::CloudPool::Lease cloud) { last = std::move(cloud); });
  gyro.run_to(first);
  const std::vector<collation::TimedPoint> measured(last->points.begin(), last->points.end());
  std::uint64_t points = 0;
  const bench::Allocations allocations;
  for (auto _ : state) {
    first += 100ms;
    gyro.run_to(first + 100ms);
    if (convert) {
      build([&](collation::CloudPool::Lease cloud) { last = std::move(cloud); });
    } else {
      std::memcpy(static_cast<void*>(last->points.begin()), measured.data(),
                  measured.size() * sizeof measured[0]);
    }
    points += last->points.size();
    deskewer.deskew(std::span(last->points.begin(), last->points.end()), first + 100ms - step);
    benchmark::DoNotOptimize(last->points.begin());
  }
  if (deskewer.stats().without_gyro > 0) state.SkipWithError("a cloud was left as measured");
  bench::report_allocations(state, allocations);
  bench::report_items(state, points);
}

void deskew(benchmark::State& state) { run(state, false); }
void convert_deskew(benchmark::State& state) { run(state, true); }

}  // namespace

BENCHMARK(deskew)->ArgName("points")->Arg(360)->Arg(1440)->Arg(3600);
BENCHMARK(convert_deskew)->ArgName("points")->Arg(360)->Arg(1440)->Arg(3600);
