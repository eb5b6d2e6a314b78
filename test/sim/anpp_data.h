// What a simulated Advanced Navigation device measures, and the packets that carry it.
#pragma once

#include "test/sim/anpp_wire.h"
#include "test/sim/motion.h"

namespace sim::anpp {

inline constexpr unsigned kState = 20, kUnixTime = 21, kStatus = 23, kRaw = 28, kQuaternion = 40,
                          kRunningTime = 49;

struct Sample {
  Motion motion;
  std::int64_t running_ns = 0;  // since power-up
  std::int64_t unix_ns = 0;
  unsigned system_status = 0;  // bits of faults
  unsigned filter_status = 0;
};

bool is_data(unsigned id);
Packet data_packet(unsigned id, const Sample& sample);  // is_data(id)

}  // namespace sim::anpp
