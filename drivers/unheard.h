// Why nothing is heard at a UDP port that is there: because of who sends to it, or where to.
#pragma once

#include "drivers/dialogue.h"
#include "hal/port.h"

namespace drivers {

class UnheardWatch {
 public:
  // The port of the data is being opened; null: there is none.
  void reopened(const hal::Port* data);
  void on_data(hal::Time arrival) { newest_ = arrival; }

  // In words; empty: data came after `since`, it is no UDP port, or there is nothing to add to
  // `step`, what the dialogue complains of (null: nothing). `own`: our end, as the device sees it.
  hal::Text<192> why(const hal::Port* data, hal::Time since, const OwnEnd& own,
                     const char* step) const;

 private:
  hal::Time newest_{};
  std::uint64_t rejected_ = 0;  // datagrams, when the port was opened
};

}  // namespace drivers
