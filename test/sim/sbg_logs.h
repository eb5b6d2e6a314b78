// What a simulated SBG device measures, and the logs that carry it.
#pragma once

#include "test/sim/motion.h"
#include "test/sim/sbg_wire.h"

namespace sim::sbg {

// One sample with its stamp, from which every log is made.
struct Sample {
  Motion motion;
  std::int64_t device_ns = 0;
  double period_s = 0.005;      // of the main loop
  std::int64_t unix_ns = 0;     // 0: its clock does not know
  bool has_settled = true;      // the filter
  bool has_new_fields = false;  // of newer firmware, behind the others
};

bool is_inertial(unsigned id, unsigned cls);  // a log with acceleration and rate
bool is_log(unsigned id, unsigned cls);       // of those that can be sent
// is_log(id, cls).
Message log(unsigned id, unsigned cls, const Sample& sample);

}  // namespace sim::sbg
