// What a configuration costs: queue lengths, memory, line load and latency. `check` prints it and
// the daemon builds from it, so the two cannot disagree.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "collation/budget.h"
#include "collation/range_data_collator.h"
#include "config/stack.h"

namespace config {

inline constexpr std::size_t kCaptureBuffer = std::size_t{4} << 20;  // bytes
inline constexpr std::size_t kSchemaText = std::size_t{16} << 10;    // longest that is kept, bytes

struct SensorPlan {
  collation::Delays delays{};    // of one datum, from its stamp to its arrival, at worst
  hal::Duration max_wait{};      // the configured one, or all delays and the margin
  double rate_hz = 0;            // data that enter the collator at most
  double asked_hz = 0;           // an IMU's rate as configured; 0: not an IMU
  std::size_t capacity = 0;      // of its queue, in data
  std::size_t needed = 0;        // the least capacity that is accepted
  std::size_t clouds = 0;        // of its pool; an IMU has none
  std::size_t points = 0;        // of one cloud at most
  std::uint64_t bytes = 0;       // its queue, its clouds and what builds them
  double line_load = 0;          // part of what its serial line carries; 0: no serial line
  hal::Duration worst_age{};     // from stamp to leaving the collator
  std::string latency;           // the same in words, as `check` prints it
  bool whole_turns = false;      // the device sends turns or scans, not parts of them
  std::size_t gyro_samples = 0;  // kept for de-skewing with this IMU; 0: nothing is
};

struct InputPlan {
  hal::Duration max_wait{};
  std::size_t capacity = 0;   // of its queue, in data
  std::size_t needed = 0;     // the least capacity that is accepted
  std::size_t messages = 0;   // of its pool
  std::uint64_t bytes = 0;    // its queue and its pool
  hal::Duration worst_age{};  // from stamp to leaving the collator
  std::string latency;        // the same in words, as `check` prints it
};

// What merging some lidars takes.
struct MergedPlan {
  std::vector<collation::MergedLidar> lidars;  // in the order of Merged::sensors
  std::size_t points = 0;                      // of one merged cloud at most
  std::uint64_t bytes = 0;
  hal::Duration worst_age{};  // from stamp to leaving, while all lidars keep their rates
  std::string latency;        // the same in words, as `check` prints it
};

struct Plan {
  std::vector<SensorPlan> sensors;  // in the order of Stack::sensors
  std::vector<InputPlan> inputs;    // in the order of Stack::inputs
  std::vector<MergedPlan> merged;   // in the order of Stack::merged
  std::size_t input_record = 0;     // longest record that a sender may send, without its head
  std::uint64_t input_bytes = 0;    // of the input socket: records and schemas of all senders
  std::size_t max_message = 0;      // longest message of the stream, bytes
  std::uint64_t client_bytes = 0;   // of all stream clients
  std::uint64_t other_bytes = 0;    // reading, encoding and the raw capture
  std::uint64_t bytes = 0;          // in all
};

// Whether the bits of its serial line have a rate: not on USB (CDC, /dev/ttyACM*), where `baud` is
// only a word.
bool has_line_rate(const Sensor&);

// `stack` is a loaded one: every sensor has a driver and a port. The plan does not refer to it.
Plan plan(const Stack& stack);

// How the clouds of this lidar are built; `plan` is its own.
collation::CloudOptions cloud_options(const Sensor& sensor, const SensorPlan& plan);

// The budgets of memory, lines and latency, one per line.
std::string report(const Stack& stack, const Plan& plan);

}  // namespace config
