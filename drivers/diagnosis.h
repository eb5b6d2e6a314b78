// Why a device does not stream: the cause and its words, from what ports and framers saw.
#pragma once

#include "drivers/driver.h"
#include "drivers/watch.h"

namespace drivers {

struct Evidence {
  FramerStats since, now;  // since: when the port opened, or at the newest packet
  int baud;                // 0: not a serial line
  bool was_streaming;      // it had been streaming before this
  const char* step;        // what the dialogue complains of; null: nothing
  std::string_view alike;  // few frames: the driver whose bytes these are; empty: none known
  bool has_parts = false;  // of measurements, none of which was whole
};

Cause cause_of(const Evidence&);
Cause cause_of(const hal::Error&);
Cause cause_of(TurnWatch::Verdict);
hal::Text<192> in_words(const Evidence&);
// Of what a device shows that streams. `fault`: its own words; `hz`: its measured turns.
hal::Text<192> in_words(Cause, const char* fault, double hz);
hal::Text<192> in_words(const DamageWatch&);
const char* name(Cause);

}  // namespace drivers
