// The latency budget: how long the order may have to wait, for whom and why.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "collation/ordered_multi_queue.h"
#include "hal/result.h"

namespace collation {

// Where the time between a stamp and its arrival goes, at worst.
struct Delays {
  hal::Duration delivery{};  // the device: 0 when it streams, a scan's duration for whole scans
  hal::Duration wire{};      // line time of one packet
  hal::Duration adapter{};   // latency timer of a USB adapter
  hal::Duration batch{};     // period of batched reading
};
inline constexpr hal::Duration kMargin = std::chrono::milliseconds(10);

// One ordered or passthrough channel of one order.
struct Channel {
  std::string_view name;
  Role role = Role::required;
  double rate_hz = 0;           // data, not packets, at most
  std::size_t datum_bytes = 1;  // what one queued datum takes
  Delays delays{};
  std::optional<hal::Duration> max_wait{};  // configured; empty: default_max_wait()
  std::optional<std::size_t> capacity{};    // configured; empty: default_capacity()
};

// All delays plus kMargin.
hal::Duration default_max_wait(const Delays& delays);
hal::Duration max_wait(const Channel& channel);

// Of the channels that the order may wait for; 0 without any.
hal::Duration largest_max_wait(std::span<const Channel> channels);

// How long the process may be held up (a busy machine, a debugger) without losing the order: what
// arrives meanwhile of one sensor has room until the ports of the others are read, too; as far as
// that room is no larger than kHoldUpBytes.
inline constexpr hal::Duration kLongestHoldUp = std::chrono::seconds(1);
inline constexpr std::size_t kHoldUpBytes = 256 << 10;

// 2 x rate x the largest max_wait, at least 8; more for a hold-up.
std::size_t default_capacity(const Channel& channel, hal::Duration largest_max_wait);
std::size_t capacity(const Channel& channel, hal::Duration largest_max_wait);
// Refuses a capacity below 1 x rate x the largest max_wait; `detail` names the least that works.
hal::Status check_capacity(const Channel& channel, hal::Duration largest_max_wait);

// The worst age at which data of channels[i] leave, and whom they wait for then.
struct WorstAge {
  hal::Duration age{};
  std::size_t because = 0;  // index of the channel with the largest max_wait
};
WorstAge worst_age(std::span<const Channel> channels, std::size_t i);

// "imu 26 ms: rear, adapter timer 16 + 10", as `check` prints it.
std::string describe(std::span<const Channel> channels, std::size_t i);

}  // namespace collation
