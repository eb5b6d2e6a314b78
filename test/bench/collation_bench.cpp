// Converting to Cartesian, as ns per beam.
//
// Reference on a 2.3 GHz x86-64 core: cartographer_ros's conversion takes 30-35 ns per point.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <numbers>
#include <vector>

#include "collation/cloud_builder.h"
#include "test/bench/items.h"

namespace {

using namespace std::chrono_literals;

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

BENCHMARK(convert)->ArgName("points")->Arg(360)->Arg(1440);
