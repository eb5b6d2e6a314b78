// Counts what the benchmark program allocates: operator new is replaced in allocations.cpp.
#pragma once

#include <benchmark/benchmark.h>

#include <cstdint>

namespace bench {

std::uint64_t allocation_count();  // since the program began

// Since its construction; taken before the measured loop.
class Allocations {
 public:
  std::uint64_t count() const { return allocation_count() - before_; }

 private:
  std::uint64_t before_ = allocation_count();
};

// A counter `allocations`: of the whole run, 0 where all memory was taken before.
inline void report_allocations(benchmark::State& state, const Allocations& allocations) {
  state.counters["allocations"] = static_cast<double>(allocations.count());
}

}  // namespace bench
