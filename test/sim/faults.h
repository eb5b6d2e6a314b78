// Faults on demand: `KIND[=VALUE][@START[+DURATION]][%PERCENT]`, seconds from the ready line.
//
// A fault holds in [START, START + DURATION); START defaults to 0, DURATION to for ever unless the
// table says otherwise. PERCENT is the share of frames hit, drawn from the seed. "Measurement"
// frames are those the device sends of itself; answers to commands are spared where it says so.
//
//  kind         level     VALUE (default)        effect
//  off          power     -                      silent and deaf; then a cold start
//  stuck        frame     -                      measurements repeat the last one, stamp too
//  garbage      byte      longest run (64 bytes) random bytes before a frame (own datagram)
//  wrong        frame     -                      measurements are nonsense, checksum good
//  slow         frame     one in VALUE (4)       the other measurements are never sent
//  delayed      frame     delay (100 ms)         each frame leaves that much later, in order
//  intermittent frame     period (1000 ms)       mute in the second half of each period
//  drop         frame     -                      the frame is lost (10 %)
//  duplicate    frame     -                      the frame is sent twice (10 %)
//  reorder      frame     -                      the frame leaves behind the next one (10 %)
//  truncate     frame     bytes kept (0: random) the end of the frame is missing (10 %)
//  split        byte      piece (1 byte)         the frame goes in pieces, a write each
//  bitflip      byte      bits (1)               random bits of the frame are inverted (10 %)
//  reset        power     boot time (0.5 s)      at START: silence, banner text, cold start
//  wrap         clock     time before (5 s)      at START the clock is VALUE before its wrap
//  drift        clock     ppm (200)              the device's crystal is fast; negative: slow
//  jitter       clock     half width (1 ms)      each stamp is off by up to VALUE, uniform
//  jump         clock     step (100 s)           at START the device clock steps
//  stall        transport -                      output held for DURATION (1 s), then a burst
//  baud         transport bit/s (0: half)        garbled unless the host's tty is at VALUE
//  unplug       transport -                      port gone for DURATION (1 s); cold start
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

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
  jitter,
  jump,
  stall,
  baud,
  unplug,
};

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
