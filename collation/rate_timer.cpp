#include "collation/rate_timer.h"

#include <algorithm>
#include <cmath>

namespace collation {

RateTimer::RateTimer(hal::Duration window, std::size_t capacity)
    : window_(window), events_(std::max<std::size_t>(capacity, 2)) {}

void RateTimer::pulse(hal::Time at, hal::Time wall) {
  events_.push_back({at, wall});
  while (events_.size() > 2 && events_.back().wall - events_.front().wall > window_) {
    events_.pop_front();
  }
}

double RateTimer::rate_hz() const {
  if (events_.size() < 2) return 0;
  const double span = hal::to_seconds(events_.back().at - events_.front().at);
  return span > 0 ? static_cast<double>(events_.size() - 1) / span : 0;
}

double RateTimer::wall_time_ratio() const {
  if (events_.size() < 2) return 0;
  const double wall = hal::to_seconds(events_.back().wall - events_.front().wall);
  return wall > 0 ? hal::to_seconds(events_.back().at - events_.front().at) / wall : 0;
}

hal::Text<96> RateTimer::text() const {
  if (events_.size() < 2) return hal::Text<96>::of("unknown");
  const std::size_t intervals = events_.size() - 1;
  const auto interval = [&](std::size_t i) {
    return hal::to_seconds(events_[i + 1].at - events_[i].at);
  };
  // Summed up like the reference's, so that the last digits agree.
  double sum = 0, squares = 0;
  for (std::size_t i = 0; i < intervals; ++i) sum += interval(i);
  const double mean = sum / static_cast<double>(intervals);
  for (std::size_t i = 0; i < intervals; ++i) {
    squares += (interval(i) - mean) * (interval(i) - mean);
  }
  const double deviation =
      intervals < 2 ? 0 : std::sqrt(squares / static_cast<double>(intervals - 1));
  return hal::Text<96>::of("%.2f Hz %.2e s +/- %.2e s (pulsed at %.2f%% real time)", rate_hz(),
                           mean, deviation, 100 * wall_time_ratio());
}

}  // namespace collation
