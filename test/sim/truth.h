// The truth file: JSON lines that say what the simulated device really measured, and when.
#pragma once

#include <cstdint>
#include <cstdio>

#include "test/sim/device_model.h"

namespace sim {

// Lines as DESIGN.md section 6 has them; times are inner time, ns.
class TruthWriter {
 public:
  explicit TruthWriter(std::FILE* file) : file_(file) {}  // not owned; outlives the writer

  void write(const ScanTruth& scan);
  void write(const ImuTruth& imu);

 private:
  std::FILE* file_;
  std::uint64_t scans_ = 0, imus_ = 0;
};

}  // namespace sim
