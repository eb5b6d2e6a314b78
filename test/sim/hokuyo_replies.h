// What a Hokuyo says of itself: the lines of VV, PP and II, without echo and status.
#pragma once

#include <cstdint>
#include <string>

#include "test/sim/hokuyo_catalogue.h"

namespace sim::hokuyo_scip {

// `defect`: good, bad_check or empty_line, as some devices spoil the line of the serial number.
std::string version_lines(const Model& model, const std::string& defect);

std::string parameter_lines(const Model& model, int rpm);

struct State {
  bool laser = false, measures = false, works = true;
  int rpm = 0;
  unsigned baud = 0;          // 0 = USB
  std::uint32_t time_ms = 0;  // 24 bits
};
std::string state_lines(const Model& model, const State& state);

}  // namespace sim::hokuyo_scip
