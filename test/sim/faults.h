// Faults on demand: `KIND[=VALUE][@START[+DURATION]][%PERCENT]`, seconds from the ready line.
//
// A fault holds in [START, START + DURATION); START defaults to 0, DURATION to for ever unless the
// table says otherwise. PERCENT is the share of frames hit, drawn from the seed. Measurements
// are the frames that the device sends of itself: stuck, wrong and slow leave its answers alone.
// What each kind does, and its VALUE, stands in the table that fault_kinds() gives.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "hal/result.h"
#include "hal/time.h"

namespace sim {

enum class FaultKind : std::uint8_t {
  off,
  stuck,
  garbage,
  wrong,
  slow,
  delayed,
  intermittent,
  drop,
  duplicate,
  reorder,
  truncate,
  split,
  bitflip,
  reset,
  wrap,
  drift,
  wander,
  jitter,
  jump,
  stall,
  baud,
  unplug,
};

struct FaultRow {
  FaultKind kind;
  std::string_view name;
  std::string_view level;        // what it works on: power, frame, byte, clock, transport
  std::string_view value_means;  // with its unit; empty = the kind takes no VALUE
  double value, min, max;        // default and range
  double duration_s;             // default
  double percent;                // default; of power, clock and transport faults without meaning
  std::string_view effect;
};

// In the order of FaultKind.
std::span<const FaultRow> fault_kinds();

struct Fault {
  FaultKind kind = FaultKind::off;
  double value = 0.0;  // in the unit of the table, the default filled in
  hal::Duration start{};
  hal::Duration duration = hal::Duration::max();
  double share = 1.0;  // PERCENT / 100

  bool holds(hal::Duration since_ready) const {
    return since_ready >= start && since_ready - start < duration;
  }
};

hal::Result<Fault> parse_fault(std::string_view text);
std::string_view name_of(FaultKind kind);

}  // namespace sim
