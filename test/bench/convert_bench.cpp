// Polar to Cartesian, as ns per beam: window, pose, intensity and relative times included. Beside
// it the shape of cartographer_ros's conversion: the angle accumulated in float, a rotation built
// and applied per beam, vectors that grow by push_back, then all points moved by the pose.
//
// Reference on a 2.3 GHz x86-64 core: the original takes 20-26 ns per point to convert, 27-32 with
// pose and subdivisions, and 26 to 56 allocations per scan of 1440 points.
#include <benchmark/benchmark.h>

#include "collation/cloud_builder.h"
#include "test/bench/allocations.h"
#include "test/bench/items.h"
#include "test/bench/scans.h"

namespace {

using namespace std::chrono_literals;

constexpr hal::Duration kStep = 10us;

// Whole turns of one slice each.
void run(benchmark::State& state, bool jitter) {
  const auto beams = static_cast<std::size_t>(state.range(0));
  auto pool = collation::make_cloud_pool(2, beams, false);
  collation::CloudBuilder builder(bench::usual_options(), pool);
  const std::vector<bench::Scan> scans = bench::scans(beams, jitter);
  hal::Time first{1000s};
  std::size_t scan = 0;
  const bench::Allocations allocations;
  for (auto _ : state) {
    first += 100ms;
    builder.add({.first = first,
                 .step = kStep,
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

void convert(benchmark::State& state) { run(state, false); }
void convert_free(benchmark::State& state) { run(state, true); }

struct GrowingCloud {
  std::vector<collation::TimedPoint> points;
};

GrowingCloud usual_way(const bench::Scan& scan, float increment, float time_increment,
                       const collation::CloudOptions& options) {
  GrowingCloud cloud;
  float angle = scan[0].angle;
  for (std::size_t i = 0; i < scan.size(); ++i) {
    const float range = scan[i].range;
    if (options.min_range <= range && range <= options.max_range) {
      const Eigen::AngleAxisf rotation(angle, Eigen::Vector3f::UnitZ());
      cloud.points.push_back({rotation * (range * Eigen::Vector3f::UnitX()),
                              static_cast<float>(i) * time_increment, scan[i].intensity});
    }
    angle += increment;
  }
  if (cloud.points.empty()) return cloud;
  const float duration = cloud.points.back().time;
  for (collation::TimedPoint& point : cloud.points) point.time -= duration;
  GrowingCloud moved;
  moved.points.reserve(cloud.points.size());
  for (const collation::TimedPoint& point : cloud.points) {
    moved.points.push_back(
        {options.tracking_from_sensor * point.position, point.time, point.intensity});
  }
  return moved;
}

void convert_reference(benchmark::State& state) {
  const auto beams = static_cast<std::size_t>(state.range(0));
  const collation::CloudOptions options = bench::usual_options();
  const std::vector<bench::Scan> scans = bench::scans(beams, false);
  const float increment = scans[0][1].angle - scans[0][0].angle;
  std::uint64_t converted = 0;
  std::size_t scan = 0;
  const bench::Allocations allocations;
  for (auto _ : state) {
    const GrowingCloud cloud = usual_way(scans[++scan % bench::kScans], increment, 1e-5F, options);
    benchmark::DoNotOptimize(cloud.points.data());
    converted += beams;
  }
  bench::report_allocations(state, allocations);
  bench::report_items(state, converted);
}

void sizes(benchmark::internal::Benchmark* benchmark) {
  benchmark->ArgName("points")->Arg(360)->Arg(1440)->Arg(3600);
}

}  // namespace

BENCHMARK(convert)->Apply(sizes);
BENCHMARK(convert_free)->Apply(sizes);
BENCHMARK(convert_reference)->Apply(sizes);
