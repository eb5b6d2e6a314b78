#include "app/health_checks.h"

#include <algorithm>
#include <bit>
#include <cinttypes>
#include <cmath>
#include <limits>

namespace app {
namespace {

constexpr double kAny = std::numeric_limits<double>::infinity();
constexpr const char* kValidate = "rosbag_validate";
// Two clouds may touch: their times are rounded apart.
constexpr double kTouch = 1e-6;  // s

constexpr CheckRow kRows[] = {
    {Check::accel, "accel", Level::warn, 3, 30, "m/s^2", "|accel|", kValidate},
    {Check::accel_mean, "accel_mean", Level::warn, 9.5, 10.5, "m/s^2", "mean of |accel|",
     kValidate},
    {Check::late, "late", Level::warn, -0.1, 0.1, "s", "receive time minus stamp", kValidate},
    {Check::very_late, "very_late", Level::error, -0.5, 0.5, "s", "receive time minus stamp",
     kValidate},
    {Check::order, "order", Level::error, 0, kAny, "s", "stamp minus the one before", kValidate},
    {Check::gap, "gap", Level::warn, -kAny, 0.1, "s", "time without data", kValidate},
    {Check::overlap, "overlap", Level::warn, -kAny, kTouch, "s", "overlap with the cloud before",
     kValidate},
    {Check::repeated, "repeated", Level::warn, 0, 0, "", "clouds equal to the one before",
     kValidate},
    {Check::empty, "empty", Level::warn, 0, 1, "s", "time without any point",
     "what a covered window looks like"},
    {Check::first_time, "first_time", Level::error, -kAny, kTouch, "s",
     "relative time of the first point", kValidate},
    // The last point may lie before the stamp: beams without a return count there, but are none.
    {Check::last_time, "last_time", Level::error, -kAny, kTouch, "s",
     "relative time of the last point", "the convention of the stream"},
    {Check::rate, "rate", Level::warn, 0.9, 1.1, "Hz", "rate, as a part of the configured one",
     "the configuration"},
};
static_assert(std::size(kRows) == kChecks);

double distance_outside(const CheckRow& row, double value) {
  return std::max(row.low - value, value - row.high);
}

}  // namespace

std::span<const CheckRow> check_rows() { return kRows; }

void HealthCheck::restart() {
  before_.reset();
  checksum_.reset();
  counted_since_.reset();
  seen_nothing_since_.reset();
}

void HealthCheck::note(Check check, double value, double outside, hal::Time arrival) {
  const auto i = static_cast<std::size_t>(check);
  Finding& finding = findings_[i];
  if (finding.count == 0 || outside > outside_[i]) finding.worst = value, outside_[i] = outside;
  ++finding.count;
  finding.newest = arrival;
}

void HealthCheck::judge(Check check, double value, hal::Time arrival) {
  const double outside = distance_outside(kRows[static_cast<std::size_t>(check)], value);
  if (outside > 0 || std::isnan(value)) note(check, value, outside, arrival);
}

void HealthCheck::take_stamp(hal::Time first, hal::Time at, hal::Time arrival, double longest) {
  const double age = hal::to_seconds(arrival - at);
  judge(Check::late, age, arrival);
  judge(Check::very_late, age, arrival);
  if (before_) {
    const double step = hal::to_seconds(at - *before_);
    if (step <= 0) note(Check::order, step, -step, arrival);
    const double gap = hal::to_seconds(first - *before_);
    if (gap > longest) note(Check::gap, gap, gap, arrival);
    longest_gap_ = std::max(longest_gap_, step);
    ++gaps_[static_cast<std::size_t>(std::ranges::upper_bound(kGapEdges, step) -
                                     kGapEdges.begin())];
  }
  before_ = before_ ? std::max(*before_, at) : at;
}

void HealthCheck::take(const CloudFacts& cloud) {
  if (before_) judge(Check::overlap, hal::to_seconds(*before_ - cloud.first), cloud.arrival);
  take_stamp(cloud.first, cloud.at, cloud.arrival,
             kRows[static_cast<std::size_t>(Check::gap)].high);
  if (cloud.points == 0) {
    checksum_.reset();
    if (!seen_nothing_since_) seen_nothing_since_ = cloud.first;
    return judge(Check::empty, hal::to_seconds(cloud.at - *seen_nothing_since_), cloud.arrival);
  }
  seen_nothing_since_.reset();
  if (checksum_ == cloud.checksum) note(Check::repeated, 1, 0, cloud.arrival);
  checksum_ = cloud.checksum;
  judge(Check::first_time, double{cloud.first_time}, cloud.arrival);
  judge(Check::last_time, double{cloud.last_time}, cloud.arrival);
}

void HealthCheck::count_sample(hal::Time arrival) {
  if (!counted_since_) {
    counted_since_ = arrival;
    counted_ = 0;
    return;
  }
  ++counted_;
  const hal::Duration since = arrival - *counted_since_;
  if (since < kRateOver) return;
  const CheckRow& row = kRows[static_cast<std::size_t>(Check::rate)];
  const double hz = counted_ / hal::to_seconds(since);
  const double outside = distance_outside(row, hz / asked_hz_);
  if (outside > 0) note(Check::rate, hz, outside, arrival);
  findings_[static_cast<std::size_t>(Check::rate)].asked = asked_hz_;
  counted_since_ = arrival;
  counted_ = 0;
}

void HealthCheck::take(const SampleFacts& sample) {
  take_stamp(sample.at, sample.at, sample.arrival, kImuGap);
  if (sample.is_motion && asked_hz_ > 0) count_sample(sample.arrival);
  if (!sample.accel) return;
  const auto [x, y, z] = *sample.accel;
  const double length = std::sqrt(x * x + y * y + z * z);
  judge(Check::accel, length, sample.arrival);
  accel_sum_ += length;
  if (++accel_samples_ < kMeanSamples) return;
  accel_mean_ = accel_sum_ / kMeanSamples;
  judge(Check::accel_mean, accel_mean_, sample.arrival);
  accel_sum_ = 0;
  accel_samples_ = 0;
}

hal::Text<128> in_words(Check check, const Finding& finding) {
  const CheckRow& row = kRows[static_cast<std::size_t>(check)];
  hal::Text<128> text;
  const auto times = hal::Text<32>::of("%" PRIu64 " times", finding.count);
  switch (check) {
    case Check::accel:
    case Check::accel_mean:
    case Check::late:
    case Check::very_late:
      text.print("%s %.4g %s, outside %g to %g, %s", row.what, finding.worst, row.unit, row.low,
                 row.high, times.c_str());
      break;
    case Check::order:
      text.print("stamps do not increase: by %.6f s, %s", finding.worst, times.c_str());
      break;
    case Check::gap:
      text.print("%s: up to %.3f s, %s", row.what, finding.worst, times.c_str());
      break;
    case Check::overlap:
      text.print("%s: up to %.6f s, %s", row.what, finding.worst, times.c_str());
      break;
    case Check::repeated:
      text.print("%s in every point, %s", row.what, times.c_str());
      break;
    case Check::empty:
      text.print("%s: up to %.1f s: window covered, laser off, nothing in range?", row.what,
                 finding.worst);
      break;
    case Check::first_time:
    case Check::last_time:
      text.print("%s is %.6f s, later than the stamp, %s", row.what, finding.worst, times.c_str());
      break;
    case Check::rate:
      text.print("sends %.4g Hz, %.4g Hz were asked for: it took another rate, or data are lost",
                 finding.worst, finding.asked);
      break;
  }
  return text;
}

hal::Text<192> in_words(const GapHistogram& gaps) {
  std::array<char, 192> line{};
  std::size_t used = 0;
  for (std::size_t i = 0; i < gaps.size() && used < line.size(); ++i) {
    if (gaps[i] == 0) continue;
    const bool open = i == kGapEdges.size();
    const int n = std::snprintf(line.data() + used, line.size() - used, "%s%s%gms %" PRIu64,
                                used == 0 ? "" : ", ", open ? ">=" : "<",
                                1e3 * kGapEdges[open ? i - 1 : i], gaps[i]);
    used += static_cast<std::size_t>(std::max(n, 0));
  }
  return hal::Text<192>::of("%s", line.data());
}

}  // namespace app
