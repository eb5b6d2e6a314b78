// Whether a sensor's data are plausible: stamps, gaps, overlaps, gravity, repetition.
//
// The checks and most limits are those that Cartographer's users run over a recording before they
// map with it (cartographer_ros, rosbag_validate); here they run while the robot does. Constant
// memory, no allocation, a few operations per cloud or sample.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "app/messages.h"
#include "hal/text.h"
#include "hal/time.h"

namespace app {

enum class Check : std::uint8_t {
  accel,       // of one sample
  accel_mean,  // over kMeanSamples
  late,        // received long after (or before) its stamp, so that mapping suffers
  very_late,   // so that nothing can be done with it
  order,       // a stamp that is not later than the one before
  gap,         // nothing was measured for long
  overlap,     // a cloud that begins before the one before ended
  repeated,    // a cloud equal to the one before in every point
  empty,       // no cloud has had a point for long: the lidar sees nothing
  first_time,  // relative times of points that are not what they should be
  last_time,
  rate,  // of samples, against the one that was asked for
};
inline constexpr std::size_t kChecks = 12;

// One row per check, in the order of Check.
struct CheckRow {
  Check check;
  std::string_view name;  // in /diagnostics as check.NAME
  Level level;
  double low, high;  // what is accepted; of `gap` for clouds, samples have kImuGap
  const char* unit;
  const char* what;    // "|accel|"
  const char* source;  // of the limits
};
std::span<const CheckRow> check_rows();

inline constexpr double kImuGap = 0.05;  // s
inline constexpr std::uint32_t kMeanSamples = 1000;
inline constexpr hal::Duration kRateOver = std::chrono::seconds(5);

// Upper edges of the buckets of message gaps, s; the last bucket is open.
inline constexpr std::array<double, 9> kGapEdges = {0.001, 0.002, 0.005, 0.01, 0.02,
                                                    0.05,  0.1,   0.2,   0.5};
using GapHistogram = std::array<std::uint64_t, kGapEdges.size() + 1>;

struct Finding {
  std::uint64_t count = 0;
  double worst = 0;    // farthest outside the limits, in the row's unit
  double asked = 0;    // what it is held against, where that is the sensor's own
  hal::Time newest{};  // arrival of the newest datum that it was found in
};

// A cloud as far as the checks look at it. Times on any one time line.
struct CloudFacts {
  hal::Time first{}, at{};  // of its first and of its last beam
  hal::Time arrival{};
  float first_time = 0, last_time = 0;  // of its first and last point, s relative to `at`
  std::size_t points = 0;
  std::uint64_t checksum = 0;  // over all points, see Checksum
};

struct SampleFacts {
  hal::Time at{}, arrival{};
  std::optional<std::array<double, 3>> accel{};  // m/s^2
  bool is_motion = true;                         // false: other readings only
};

// Over the words of a cloud's points; equal clouds have equal sums.
class Checksum {
 public:
  void add(std::uint32_t word) { sum_ = (sum_ ^ word) * 0x9E3779B97F4A7C15U, sum_ ^= sum_ >> 29; }
  void add(float value) { add(std::bit_cast<std::uint32_t>(value)); }
  std::uint64_t value() const { return sum_; }

 private:
  std::uint64_t sum_ = 0;
};

class HealthCheck {
 public:
  // `asked_hz`: the rate of samples that was asked for; 0: nobody knows it.
  explicit HealthCheck(double asked_hz) : asked_hz_(asked_hz) {}
  HealthCheck() = default;

  void take(const CloudFacts&);
  void take(const SampleFacts&);
  // What comes next has nothing to do with what came: the sensor starts anew.
  void restart();

  const Finding& finding(Check check) const { return findings_[static_cast<std::size_t>(check)]; }
  const GapHistogram& gaps() const { return gaps_; }   // between the stamps of two messages
  double longest_gap() const { return longest_gap_; }  // s, the same
  double accel_mean() const { return accel_mean_; }    // m/s^2; 0: too few samples yet

 private:
  void take_stamp(hal::Time first, hal::Time at, hal::Time arrival, double longest);
  void count_sample(hal::Time arrival);
  void judge(Check check, double value, hal::Time arrival);
  void note(Check check, double value, double outside, hal::Time arrival);

  std::array<Finding, kChecks> findings_{};
  std::array<double, kChecks> outside_{};  // by how much the worst value was
  GapHistogram gaps_{};
  double longest_gap_ = 0;
  std::optional<hal::Time> before_{};  // stamp of the one before
  std::optional<std::uint64_t> checksum_{};
  double asked_hz_ = 0;
  std::optional<hal::Time> counted_since_{};  // arrival of the sample before the first counted
  std::uint32_t counted_ = 0;
  std::optional<hal::Time> seen_nothing_since_{};  // first beam of the first empty cloud
  double accel_sum_ = 0, accel_mean_ = 0;
  std::uint32_t accel_samples_ = 0;
};

// "|accel| 45.2 m/s^2, outside 3 to 30, 12 times".
hal::Text<128> in_words(Check, const Finding&);
// "<1ms 0, <2ms 3, ..."; empty buckets are left out.
hal::Text<192> in_words(const GapHistogram&);

}  // namespace app
