// Runs the benchmarks. Figures to stand beside are in the files' comments.
#include <benchmark/benchmark.h>

BENCHMARK_MAIN();
