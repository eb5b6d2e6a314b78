// Notices at once that somebody set CLOCK_REALTIME.
#pragma once

#include "hal/event_loop.h"
#include "hal/result.h"
#include "hal/unique_fd.h"

namespace hal {

// A timer far in the future that the kernel cancels when the wall clock is set (or when the
// machine wakes from sleep).
Result<UniqueFd> open_wall_step_timer();
// To be called when it is readable: whether it was cancelled. Sets it anew.
bool take_wall_step(int timer_fd);

// Calls `fn(now)` after every such event until destroyed. Does nothing where the kernel has no
// such timer: see status().
template <class Fn>
class WallStepWatch {
 public:
  WallStepWatch(EventLoop& loop, Fn fn) : loop_(loop), stream_(loop.io()), fn_(std::move(fn)) {
    Result<UniqueFd> fd = open_wall_step_timer();
    if (!fd) {
      status_ = fd.error();
      return;
    }
    stream_.assign(fd->release());
    wait();
  }
  const Status& status() const { return status_; }

 private:
  void wait() {
    stream_.async_wait(
        Descriptor::wait_read,
        memory_.bind([this, alive = anchor_.ref()](const boost::system::error_code& ec) {
          if (ec || alive.expired()) return;
          const bool stepped = take_wall_step(stream_.native_handle());
          wait();
          if (!stepped) return;
          loop_.enter_pass();
          fn_(loop_.clock().now());
        }));
  }
  EventLoop& loop_;
  Descriptor stream_;
  Fn fn_;
  Status status_ = ok;
  HandlerMemory memory_;
  Anchor anchor_;
};

}  // namespace hal
