#include "hal/event_loop.h"

#include <algorithm>

namespace hal {
namespace {

// Nothing waits longer: what is released by time alone leaves even when nothing happens.
constexpr Duration kLongestWait = std::chrono::seconds(1);

// Ports wait again only after the pass, so this bounds what other handlers may add to it.
constexpr int kMaxHandlers = 256;

}  // namespace

EventLoop::EventLoop(const Clock& clock)
    : clock_(clock),
      work_(io_.get_executor()),
      read_buffer_(std::make_unique<std::byte[]>(kReadBuffer)),
      batch_timer_(io_) {}

void EventLoop::run(PassListener& listener) {
  while (!stopped_) pass(listener, kLongestWait);
  stopped_ = false;
}

void EventLoop::run_for(PassListener& listener, Duration d) {
  const auto end = std::chrono::steady_clock::now() + d;
  while (!stopped_) {
    const Duration left = end - std::chrono::steady_clock::now();
    if (left <= Duration::zero()) break;
    pass(listener, std::min(left, kLongestWait));
  }
  stopped_ = false;
}

void EventLoop::pass(PassListener& listener, Duration longest_wait) {
  listener_ = &listener;
  ++pass_number_;
  io_.run_one_for(longest_wait);
  enter_pass();
  // Only now is it certain that what became ready before began_ is found.
  for (int i = 0; i < kMaxHandlers && io_.poll_one() != 0; ++i) {
  }
  listener.on_pass_end(began_);
  pass_begun_ = false;
  listener_ = nullptr;
  while (!to_rearm_.empty()) {
    Rearmed& first = to_rearm_.front();
    to_rearm_.pop_front();
    first.rearm();
  }
}

void EventLoop::enter_pass() {
  if (listener_ == nullptr || pass_begun_) return;
  pass_begun_ = true;
  began_ = clock_.now();
  listener_->on_pass_begin(began_);
}

void EventLoop::rearm_after_pass(Rearmed& waiter) {
  if (listener_ == nullptr) return waiter.rearm();
  if (!waiter.is_linked()) to_rearm_.push_back(waiter);
}

bool EventLoop::add_polled(Polled& polled) {
  if (std::ranges::find(polled_, &polled) != polled_.end()) return true;
  const auto slot = std::ranges::find(polled_, nullptr);
  if (slot == polled_.end()) return false;
  *slot = &polled;
  if (!batch_waits_) {
    batch_timer_.expires_after(kBatchPeriod);
    wait_for_batch();
  }
  return true;
}

void EventLoop::remove_polled(Polled& polled) {
  std::ranges::replace(polled_, &polled, static_cast<Polled*>(nullptr));
}

void EventLoop::wait_for_batch() {
  batch_waits_ = true;
  batch_timer_.async_wait(batch_memory_.bind([this](const boost::system::error_code& ec) {
    batch_waits_ = false;
    if (!ec) poll_batch();
  }));
}

void EventLoop::poll_batch() {
  if (std::ranges::all_of(polled_, [](const Polled* p) { return p == nullptr; })) return;
  batch_timer_.expires_at(next_due(batch_timer_.expiry(), kBatchPeriod));
  wait_for_batch();
  enter_pass();
  for (Polled* const& polled : polled_) {
    if (polled != nullptr) polled->poll();
  }
}

}  // namespace hal
