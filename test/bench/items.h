// How a benchmark tells what one of its items costs.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

namespace bench {

// Items of the whole run.
inline void report_items(benchmark::State& state, std::uint64_t items) {
  state.counters["ns_per_item"] = benchmark::Counter(
      static_cast<double>(items) * 1e-9, benchmark::Counter::kIsRate | benchmark::Counter::kInvert);
}

}  // namespace bench
