// What each filter adds to a cloud, as ns per beam of a turn of 1440: the filter's own work and the
// taking out. `filter/range`, `filter/angles` and `filter/intensity` are parts of the conversion
// itself: their figure is that of a conversion with nothing but this filter, to be held against
// `filter/none`.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <ctime>

#include "collation/cloud_builder.h"
#include "test/bench/allocations.h"
#include "test/bench/items.h"
#include "test/bench/scans.h"

namespace {

using namespace std::chrono_literals;
using collation::CloudOptions;
using collation::FilterOptions;
using collation::Return;
using collation::TimedPoint;

constexpr std::size_t kBeams = 1440;

CloudOptions bare() {
  CloudOptions options;
  options.emit = collation::Emit::chunk;
  return options;
}

void convert_with(benchmark::State& state, CloudOptions options) {
  auto pool = collation::make_cloud_pool(2, kBeams, false);
  collation::CloudBuilder builder(options, pool);
  const std::vector<bench::Scan> scans = bench::scans(kBeams, false);
  hal::Time first{1000s};
  std::size_t scan = 0;
  const bench::Allocations allocations;
  for (auto _ : state) {
    first += 100ms;
    builder.add({.first = first,
                 .step = 10us,
                 .starts_turn = true,
                 .has_intensity = true,
                 .beams = scans[++scan % bench::kScans]},
                true, [](collation::CloudPool::Lease cloud) {
                  benchmark::DoNotOptimize(cloud->points.begin());
                });
  }
  bench::report_allocations(state, allocations);
  bench::report_items(state, builder.stats().beams);
}

double cpu_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// A cloud with what the converter knows of it.
struct Cloud {
  explicit Cloud(const bench::Scan& scan) {
    for (std::uint32_t i = 0; i < scan.size(); ++i) {
      const auto [angle, range, intensity] = scan[i];
      points.push_back({{range * std::cos(angle), range * std::sin(angle), 0}, 0, intensity});
      returns.push_back({10us * i, i, range});
    }
  }
  void refill() {
    cloud.points.resize(points.size());
    filtered.resize(returns.size());
    std::ranges::copy(points, cloud.points.begin());
    std::ranges::copy(returns, filtered.begin());
  }
  std::vector<TimedPoint> points;
  std::vector<Return> returns;
  collation::TimedPointCloud cloud{kBeams, false};
  hal::BoundedVector<Return> filtered{kBeams};
};

// The filters alone, in CPU time; what fills the clouds again is not measured.
void filter_with(benchmark::State& state, const FilterOptions& options) {
  std::vector<Cloud> clouds;
  for (const bench::Scan& scan : bench::scans(kBeams, false)) clouds.emplace_back(scan);
  collation::FilterChain chain(options, kBeams);
  collation::CloudStats stats;
  const bench::Allocations allocations;
  std::uint64_t beams = 0;
  for (auto _ : state) {
    for (Cloud& cloud : clouds) cloud.refill();
    const double begin = cpu_seconds();
    for (Cloud& cloud : clouds) chain.apply(cloud.cloud, cloud.filtered, stats);
    state.SetIterationTime(cpu_seconds() - begin);
    beams += kBeams * clouds.size();
  }
  bench::report_allocations(state, allocations);
  bench::report_items(state, beams);
}

void none(benchmark::State& state) { convert_with(state, bare()); }
void range(benchmark::State& state) {
  CloudOptions options = bare();
  options.min_range = 2;
  options.max_range = 3.5F;
  convert_with(state, options);
}
void angles(benchmark::State& state) {
  CloudOptions options = bare();
  options.windows = {{-2, 1}, {0, 1.5F}, {2, 1}};
  convert_with(state, options);
}
void intensity(benchmark::State& state) {
  CloudOptions options = bare();
  options.min_intensity = 50;
  convert_with(state, options);
}
void box(benchmark::State& state) {
  filter_with(state, {.box = {.min = {-3, -2, -1}, .max = {1, 1, 1}}});
}
void shadow(benchmark::State& state) { filter_with(state, {.shadow = {.min_angle = 0.15F}}); }
void speckle(benchmark::State& state) { filter_with(state, {.speckle = {.distance = 0.1F}}); }
void median(benchmark::State& state) { filter_with(state, {.median = {.window = 5}}); }
void decimation(benchmark::State& state) { filter_with(state, {.decimation = {.every = 4}}); }
void voxel(benchmark::State& state) { filter_with(state, {.voxel = 0.05F}); }

}  // namespace

BENCHMARK(none)->Name("filter/none");
BENCHMARK(range)->Name("filter/range");
BENCHMARK(angles)->Name("filter/angles");
BENCHMARK(intensity)->Name("filter/intensity");
BENCHMARK(box)->Name("filter/box")->UseManualTime();
BENCHMARK(shadow)->Name("filter/shadow")->UseManualTime();
BENCHMARK(speckle)->Name("filter/speckle")->UseManualTime();
BENCHMARK(median)->Name("filter/median")->UseManualTime();
BENCHMARK(decimation)->Name("filter/decimate")->UseManualTime();
BENCHMARK(voxel)->Name("filter/voxel")->UseManualTime();
