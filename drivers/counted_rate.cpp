#include "drivers/counted_rate.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace drivers {
namespace {

constexpr double kWindow = 600e6;  // ns
constexpr double kAlike = 0.01;    // between two measurements of one rate
constexpr double kStrange = 0.02;  // more than the clock's mapping should be left with
constexpr int kMostRounds = 8;

}  // namespace

double CountedRate::see(double counted_ns, std::int64_t at_ns) {
  const auto elapsed = static_cast<double>(at_ns - began_at_);
  double ratio = 0;
  if (began_ && elapsed >= kWindow && best_[0].is_there && best_[2].is_there) {
    ratio = (best_[2].at - best_[0].at) / (best_[2].counted - best_[0].counted);
  }
  if (!began_ || elapsed < 0 || elapsed >= kWindow) {
    began_ = true;
    began_at_ = at_ns;
    began_counted_ = counted_ns;
    best_ = {};
    best_[0].is_there = true;
    return ratio > 0.2 && ratio < 5 ? judge(ratio) : 1;
  }
  const double counted = counted_ns - began_counted_;
  Pair& best = best_[static_cast<std::size_t>(3 * elapsed / kWindow)];
  if (!best.is_there || elapsed - counted < best.at - best.counted) best = {counted, elapsed, true};
  return 1;
}

// A stalled host or a loss is no rate: what was known is given up only if it comes out twice.
double CountedRate::judge(double ratio) {
  const double off = std::abs(ratio - 1);
  if (!is_known_) {
    is_known_ = off < kAlike || ++rounds_ == kMostRounds;
    return ratio;
  }
  const double before = std::exchange(strange_, off > kStrange ? ratio : 0);
  if (strange_ == 0 || std::abs(ratio - before) > kAlike) return 1;
  restart(false);
  return ratio;
}

}  // namespace drivers
