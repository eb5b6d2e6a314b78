// How fast and how evenly one sensor's data come, over a window of the last seconds.
#pragma once

#include <boost/circular_buffer.hpp>

#include "hal/text.h"
#include "hal/time.h"

namespace collation {

// Cartographer's RateTimer with a bounded number of events and without its NaNs.
class RateTimer {
 public:
  // Allocates room for `capacity` >= 2 events; with more in the window, the oldest are forgotten.
  RateTimer(hal::Duration window, std::size_t capacity);

  // `at`: stamp of the datum; `wall`: now.
  void pulse(hal::Time at, hal::Time wall);

  double rate_hz() const;          // by stamps; 0 when not known yet
  double wall_time_ratio() const;  // stamp time per wall time; 0 when not known yet

  // "10.00 Hz 1.00e-01 s +/- 5.14e-16 s (pulsed at 200.00% real time)": rate, mean and sample
  // deviation of the intervals, wall ratio. "unknown" with fewer than two events.
  hal::Text<96> text() const;

 private:
  struct Event {
    hal::Time at, wall;
  };
  const hal::Duration window_;
  boost::circular_buffer<Event> events_;
};

}  // namespace collation
