// Tells systemd what the service is doing (see sd_notify(3)); silent without NOTIFY_SOCKET.
#pragma once

#include <string>

#include "hal/time.h"
#include "hal/unique_fd.h"

namespace app {

class Notifier {
 public:
  Notifier();  // reads the environment

  void send(const char* state) const;  // "READY=1", "STATUS=...", "STOPPING=1"

  // Feeds the watchdog at half its time. Called at the end of every pass, so a handler that hangs
  // stops it.
  void feed(hal::Time now);

 private:
  std::string address_;  // as the kernel wants it: abstract names begin with a zero byte
  hal::UniqueFd fd_;
  hal::Duration period_{};  // 0: no watchdog
  hal::Time next_{};
};

}  // namespace app
