// Merging the clouds of several lidars into one by time, as ns per point.
//
// Beside it the shape of the usual way: vectors of clouds by name in a map, all points copied into
// one vector and sorted. Reference on a 2.3 GHz x86-64 core: Cartographer's RangeDataCollator
// takes 18-39 ns per point with two lidars.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "collation/range_data_collator.h"
#include "test/bench/allocations.h"
#include "test/bench/items.h"

namespace {

using namespace std::chrono_literals;
using collation::TimedPointCloud;

constexpr std::size_t kPoints = 1440, kTurns = 4;

// Turns of 100 ms whose phase differs by lidar; a tenth of the beams has no return, at random, so
// that which lidar is next cannot be learnt.
std::vector<TimedPointCloud> turns_of(std::size_t lidar) {
  std::mt19937 random(static_cast<unsigned>(lidar + 1));
  std::vector<TimedPointCloud> turns;
  for (std::size_t turn = 0; turn < kTurns; ++turn) {
    TimedPointCloud& cloud = turns.emplace_back(kPoints, false);
    cloud.has_intensity = true;
    for (std::size_t i = 0; i < kPoints; ++i) {
      if (random() % 10 == 0) continue;
      const float left = static_cast<float>(kPoints - 1 - i) / kPoints;
      cloud.points.push_back({{1, left, 0}, -0.1F * left, 10});
    }
  }
  return turns;
}

hal::Time stamp_of(std::size_t turn, std::size_t lidar) {
  return hal::Time(1000s) + 100ms * static_cast<std::int64_t>(turn) +
         37ms * static_cast<std::int64_t>(lidar);
}

void merge(benchmark::State& state) {
  const auto lidars = static_cast<std::size_t>(state.range(0));
  const std::vector<collation::MergedLidar> list(lidars, {.clouds = 3, .points = kPoints});
  collation::RangeDataCollator merge(list, 2 * lidars * kPoints);
  std::vector<std::vector<TimedPointCloud>> turns;
  for (std::size_t i = 0; i < lidars; ++i) turns.push_back(turns_of(i));
  std::size_t turn = 0;
  const bench::Allocations allocations;
  for (auto _ : state) {
    for (std::size_t i = 0; i < lidars; ++i) {
      TimedPointCloud& cloud = turns[i][turn % kTurns];
      cloud.at = stamp_of(turn, i);
      merge.add(i, cloud, [](const collation::MergedCloud& out) {
        benchmark::DoNotOptimize(out.points.begin());
      });
    }
    ++turn;
  }
  bench::report_allocations(state, allocations);
  bench::report_items(state, merge.stats().out);
}

// The same windows from growing vectors.
struct ShapeOfReference {
  struct Point {
    Eigen::Vector3f position;
    float time;
    float intensity;
    std::size_t origin;
  };
  struct Held {
    hal::Time at;
    std::vector<collation::TimedPoint> points;
  };

  std::vector<Point> add(const std::string& name, Held cloud) {
    held[name] = std::move(cloud);
    if (held.size() < lidars) return {};
    hal::Time end = hal::Time::max();
    for (const auto& [key, value] : held) end = std::min(end, value.at);
    std::vector<Point> merged;
    std::size_t origin = 0;
    for (auto it = held.begin(); it != held.end(); ++origin) {
      Held& from = it->second;
      std::size_t n = 0;
      const float shift = static_cast<float>(hal::to_seconds(from.at - end));
      for (; n < from.points.size(); ++n) {
        const collation::TimedPoint& p = from.points[n];
        if (from.at + hal::from_seconds(static_cast<double>(p.time)) > end) break;
        merged.push_back({p.position, p.time + shift, p.intensity, origin});
      }
      from.points.erase(from.points.begin(), from.points.begin() + static_cast<std::ptrdiff_t>(n));
      it = from.points.empty() ? held.erase(it) : std::next(it);
    }
    std::sort(merged.begin(), merged.end(),
              [](const Point& a, const Point& b) { return a.time < b.time; });
    return merged;
  }

  std::size_t lidars;
  std::map<std::string, Held> held;
};

void merge_shape_of_reference(benchmark::State& state) {
  const auto lidars = static_cast<std::size_t>(state.range(0));
  ShapeOfReference merge{lidars, {}};
  std::vector<std::vector<TimedPointCloud>> turns;
  for (std::size_t i = 0; i < lidars; ++i) turns.push_back(turns_of(i));
  std::size_t turn = 0;
  std::uint64_t points = 0;
  for (auto _ : state) {
    for (std::size_t i = 0; i < lidars; ++i) {
      const TimedPointCloud& cloud = turns[i][turn % kTurns];
      const auto merged =
          merge.add("scan_" + std::to_string(i),
                    {stamp_of(turn, i), {cloud.points.begin(), cloud.points.end()}});
      points += merged.size();
      benchmark::DoNotOptimize(merged.data());
    }
    ++turn;
  }
  bench::report_items(state, points);
}

}  // namespace

BENCHMARK(merge)->ArgName("lidars")->Arg(1)->Arg(2)->Arg(3)->Arg(4)->Arg(8);
BENCHMARK(merge_shape_of_reference)->ArgName("lidars")->Arg(2)->Arg(4);
