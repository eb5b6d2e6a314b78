// The single thread everything runs on. The only header that shows Boost.Asio outside hal/*.cpp.
#pragma once

#include <utility>  // Boost 1.74's asio/awaitable.hpp uses std::exchange without including it

#include <boost/asio/basic_waitable_timer.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/basic_stream_descriptor.hpp>
#include <boost/intrusive/list.hpp>

#include <array>
#include <chrono>
#include <cstddef>
#include <memory>
#include <span>

#include "hal/handler_memory.h"
#include "hal/time.h"

namespace hal {

// With the plain executor: the type-erased one of Asio's own aliases costs a call per handler.
using Descriptor =
    boost::asio::posix::basic_stream_descriptor<boost::asio::io_context::executor_type>;
using Timer = boost::asio::basic_waitable_timer<std::chrono::steady_clock,
                                                boost::asio::wait_traits<std::chrono::steady_clock>,
                                                boost::asio::io_context::executor_type>;

// Member of an object that waits on the loop. A handler may already be queued as successful when
// its object dies; it checks its ref() first and then does nothing.
class Anchor {
 public:
  std::weak_ptr<const bool> ref() const { return alive_; }

 private:
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

// One pass: wait until something is ready, begin (the time is read), handle everything that was
// ready then, end. Every waiting port that had bytes when the pass began has been read when it
// ends, up to its budget (Port::drained()).
class PassListener {
 public:
  virtual void on_pass_begin(Time now) = 0;
  virtual void on_pass_end(Time began) = 0;

 protected:
  ~PassListener() = default;
};

// Something that is read at every batch tick instead of being waited for (`latency: batched`).
class Polled {
 public:
  virtual void poll() = 0;

 protected:
  ~Polled() = default;
};

// Something that waits again only when the pass is over: no flood can make a pass endless.
// Leaves the loop by itself when it dies.
class Rearmed : public boost::intrusive::list_base_hook<
                    boost::intrusive::link_mode<boost::intrusive::auto_unlink>> {
 public:
  virtual void rearm() = 0;

 protected:
  ~Rearmed() = default;
};

class EventLoop {
 public:
  explicit EventLoop(const Clock& clock);
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  boost::asio::io_context& io() { return io_; }
  const Clock& clock() const { return clock_; }

  void run(PassListener&);                  // until stop()
  void run_for(PassListener&, Duration d);  // or until `d` has passed
  void stop() { stopped_ = true; }          // before run(): it returns at once

  // Data and ticks enter the program only inside a pass. Whoever brings them (ports, tickers, an
  // input socket) calls this first in its handler: the first of them begins the pass.
  void enter_pass();
  std::uint64_t pass_number() const { return pass_number_; }

  void rearm_after_pass(Rearmed&);  // at once when no pass is under way

  // Ports of `latency: batched`; read together every kBatchPeriod. Idempotent. False: full.
  bool add_polled(Polled&);
  void remove_polled(Polled&);

  // One buffer for all reads. Valid until the next read, as chunks are.
  std::span<std::byte> read_buffer() { return {read_buffer_.get(), kReadBuffer}; }

  static constexpr Duration kBatchPeriod = std::chrono::milliseconds(5);
  static constexpr std::size_t kMaxPolled = 64;
  static constexpr std::size_t kReadBuffer = 65'536;  // the longest datagram has 65 507 bytes

 private:
  void pass(PassListener&, Duration longest_wait);
  void wait_for_batch();
  void poll_batch();

  const Clock& clock_;
  boost::asio::io_context io_{1};  // one thread: Asio leaves its locks away
  boost::asio::executor_work_guard<boost::asio::io_context::executor_type> work_;
  std::unique_ptr<std::byte[]> read_buffer_;
  PassListener* listener_ = nullptr;  // of the pass under way
  bool pass_begun_ = false, stopped_ = false, batch_waits_ = false;
  Time began_{};
  std::uint64_t pass_number_ = 0;
  boost::intrusive::list<Rearmed, boost::intrusive::constant_time_size<false>> to_rearm_;
  std::array<Polled*, kMaxPolled> polled_{};  // null: free
  Timer batch_timer_;
  HandlerMemory batch_memory_;
};

// When a periodic timer is due next: on its grid, but never in the past.
inline Timer::time_point next_due(Timer::time_point due, Timer::duration period) {
  const auto now = Timer::clock_type::now();
  return due + period > now ? due + period : now + period;
}

// Calls `fn(now)` every `period` until destroyed. After a stall it does not catch up.
template <class Fn>
class Ticker {
 public:
  Ticker(EventLoop& loop, Duration period, Fn fn)
      : loop_(loop), timer_(loop.io()), period_(period), fn_(std::move(fn)) {
    timer_.expires_after(period_);
    arm();
  }

 private:
  void arm() {
    timer_.async_wait(
        memory_.bind([this, alive = anchor_.ref()](const boost::system::error_code& ec) {
          if (ec || alive.expired()) return;
          timer_.expires_at(next_due(timer_.expiry(), period_));
          arm();
          loop_.enter_pass();
          fn_(loop_.clock().now());
        }));
  }
  EventLoop& loop_;
  Timer timer_;
  Duration period_;
  Fn fn_;
  HandlerMemory memory_;
  Anchor anchor_;
};

}  // namespace hal
