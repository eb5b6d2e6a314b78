// Unix time of the outputs: inner time plus an offset, and the log times of the stream.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hal/time.h"

namespace app {

// Within a segment log times never decrease in each order: one for all sensors, one per trajectory
// when these are collated apart, one for each passthrough sensor. What is not measured (events,
// states) keeps the one order when there is only one.
class OutputTime {
 public:
  // `slack`: no datum that still comes is stamped longer ago than that. Takes the memory.
  void begin(std::size_t orders, hal::Duration slack) {
    newest_.assign(orders, 0);
    slack_ = slack;
  }
  void set_pass(hal::Time began) { pass_began_ = began; }
  void set_offset(std::int64_t unix_minus_inner_ns) { offset_ns_ = unix_minus_inner_ns; }
  void begin_segment() {
    std::ranges::fill(newest_, 0);
    newest_event_ = 0;
  }

  hal::Time pass() const { return pass_began_; }
  std::int64_t offset_ns() const { return offset_ns_; }
  std::int64_t of(hal::Time at) const { return hal::to_ns(at) + offset_ns_; }
  std::int64_t now() const { return of(pass_began_); }

  // Log time of a datum that leaves. A slewed offset must not turn two equal stamps around.
  std::int64_t datum(std::size_t order, hal::Time at) {
    const std::int64_t floor = newest_.size() == 1 ? newest_event_ : 0;
    return newest_[order] = std::max({newest_[order], floor, of(at)});
  }
  // Log time of anything else: not before what left, and not after what may still come.
  std::int64_t event() {
    const std::int64_t left = newest_.size() == 1 ? newest_[0] : 0;
    return newest_event_ = std::max({newest_event_, left, now() - slack_.count()});
  }

 private:
  hal::Time pass_began_{};
  std::int64_t offset_ns_ = 0, newest_event_ = 0;
  hal::Duration slack_{};
  std::vector<std::int64_t> newest_{0};  // by order
};

}  // namespace app
