// Signals as events of the loop: no handler ever interrupts the program.
#pragma once

#include <csignal>

#include "hal/event_loop.h"
#include "hal/result.h"
#include "hal/unique_fd.h"

namespace hal {

// SIGTERM, SIGINT, SIGHUP and SIGUSR1 wait until open_signals() is read; called first thing in
// main(), so that none ends the program while it starts. SIGPIPE is ignored: a closed socket is a
// failed write.
Status block_signals();
// A descriptor that is readable when one came.
Result<UniqueFd> open_signals();
// The next one that came, or 0.
int take_signal(int fd);

// Calls `fn(signal)` for each until destroyed.
template <class Fn>
class SignalWatch {
 public:
  SignalWatch(EventLoop& loop, Fn fn) : stream_(loop.io()), fn_(std::move(fn)) {
    Result<UniqueFd> fd = open_signals();
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
          while (const int signal = take_signal(stream_.native_handle())) fn_(signal);
          wait();
        }));
  }
  Descriptor stream_;
  Fn fn_;
  Status status_ = ok;
  HandlerMemory memory_;
  Anchor anchor_;
};

}  // namespace hal
