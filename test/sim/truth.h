// What the simulated device really measured, and when; as JSON lines in the truth file.
#pragma once

#include <cstdint>
#include <cstdio>

#include "test/sim/device_model.h"

namespace sim {

// Gets everything in the order in which it was measured.
class TruthSink {
 public:
  virtual void write(const ScanTruth& scan) = 0;
  virtual void write(const ImuTruth& imu) = 0;

 protected:
  ~TruthSink() = default;
};

// Lines as DESIGN.md section 6 has them; times are inner time, ns.
class TruthWriter final : public TruthSink {
 public:
  explicit TruthWriter(std::FILE* file) : file_(file) {}  // not owned; outlives the writer

  void write(const ScanTruth& scan) override;
  void write(const ImuTruth& imu) override;

 private:
  std::FILE* file_;
  std::uint64_t scans_ = 0, imus_ = 0;
};

}  // namespace sim
