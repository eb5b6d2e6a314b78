// What a configuration costs: queue lengths, memory, line load and latency. `check` prints it and
// the daemon builds from it, so the two cannot disagree.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "config/stack.h"
#include "hal/time.h"

namespace config {

inline constexpr hal::Duration kMargin = std::chrono::milliseconds(10);

// The parts of the greatest delay from a datum's stamp to its arrival.
struct Delay {
  hal::Duration delivery{};  // until the device has sent it, from its stamp
  hal::Duration wire{};      // line time of a packet
  hal::Duration adapter{};   // timer of a USB adapter
  hal::Duration batch{};     // reading in batches
  hal::Duration total() const { return delivery + wire + adapter + batch + kMargin; }
};

struct SensorPlan {
  Delay delay;
  hal::Duration max_wait{};        // the configured one, or delay.total()
  double rate_hz = 0;              // data that enter the collator at most
  std::size_t capacity = 0;        // queue, in data
  std::size_t needed = 0;          // the least capacity that `check` accepts
  std::size_t clouds = 0;          // pool; 0 for an IMU
  std::size_t points = 0;          // of one cloud at most
  std::size_t bytes = 0;           // of its clouds, queue and driver
  double line_load = 0;            // part of the serial line's bytes per second; 0: no serial line
  hal::Duration worst_age{};       // from stamp to leaving the collator
  std::size_t waits_for = 0;       // index of the sensor that makes it so
};

struct Plan {
  std::vector<SensorPlan> sensors;  // in the order of Stack::sensors
  std::size_t client_bytes = 0;     // of all stream clients
  std::size_t bytes = 0;            // in all
};

// `stack` is a loaded one: every sensor has a driver and a port.
Plan plan(const Stack& stack);

// The budgets as `lidarctl check` prints them, one line each.
std::string report(const Stack& stack, const Plan& plan);

}  // namespace config
