// The single thread everything runs on. The only header that shows Boost.Asio outside hal/*.cpp.
#pragma once

#include <utility>  // Boost 1.74's asio/awaitable.hpp uses std::exchange without including it

#include <boost/asio/io_context.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <boost/asio/steady_timer.hpp>

#include <memory>

#include "hal/time.h"

namespace hal {

// Member of an object that waits on the loop. A handler may already be queued as successful when
// its object dies; it checks its ref() first and then does nothing.
class Anchor {
 public:
  std::weak_ptr<const bool> ref() const { return alive_; }

 private:
  std::shared_ptr<const bool> alive_ = std::make_shared<bool>(true);
};

// One pass: wait until something is ready, begin (the time is read), handle everything that was
// ready then, end. Every port that had bytes when the pass began has been read when it ends, up to
// its budget (Port::drained()).
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

class EventLoop {
 public:
  explicit EventLoop(const Clock& clock) : clock_(clock) {}
  EventLoop(const EventLoop&) = delete;
  EventLoop& operator=(const EventLoop&) = delete;

  boost::asio::io_context& io() { return io_; }
  const Clock& clock() const { return clock_; }

  void run(PassListener&);                  // until stop()
  void run_for(PassListener&, Duration d);  // or until `d` has passed
  void stop() { stopped_ = true; }

  // Ports of `latency: batched`; read together every kBatchPeriod. Idempotent.
  void add_polled(Polled&);
  void remove_polled(Polled&);

  static constexpr Duration kBatchPeriod = std::chrono::milliseconds(5);
  static constexpr std::size_t kMaxPolled = 64;

 private:
  void pass(PassListener&, Duration longest_wait);

  const Clock& clock_;
  boost::asio::io_context io_{1};  // one thread: Asio leaves its locks away
  bool stopped_ = false;
};

// Calls `fn(now)` every `period` until destroyed. After a stall it does not catch up.
template <class Fn>
class Ticker {
 public:
  Ticker(EventLoop& loop, Duration period, Fn fn)
      : timer_(loop.io()), clock_(loop.clock()), period_(period), fn_(std::move(fn)) {
    timer_.expires_after(period_);
    arm();
  }

 private:
  void arm() {
    timer_.async_wait([this, alive = anchor_.ref()](const boost::system::error_code& ec) {
      if (ec || alive.expired()) return;
      const auto due = timer_.expiry() + period_;
      const auto now = boost::asio::steady_timer::clock_type::now();
      timer_.expires_at(due > now ? due : now + period_);
      arm();
      fn_(clock_.now());
    });
  }
  boost::asio::steady_timer timer_;
  const Clock& clock_;
  Duration period_;
  Fn fn_;
  Anchor anchor_;
};

}  // namespace hal
