// Why a device does not stream: the cause and its words, from what ports and framers saw.
#pragma once

#include "drivers/driver.h"

namespace drivers {

struct Evidence {
  FramerStats since, now;  // since: when the port opened, or at the newest packet
  int baud;                // 0: not a serial line
  bool was_streaming;      // it had been streaming before this
  const char* step;        // what the dialogue complains of; null: nothing
};

Cause cause_of(const Evidence&);
Cause cause_of(const hal::Error&);
hal::Text<192> in_words(const Evidence&);
const char* name(Cause);

}  // namespace drivers
