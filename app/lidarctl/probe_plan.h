// Which drivers are tried on a port that nobody knows, in which order and at which rates. Pure.
#pragma once

#include <span>
#include <vector>

#include "drivers/registry.h"

namespace lidarctl {

inline constexpr double kAsAlike = 0.05;  // likenesses that differ by less do not tell two apart

// One driver, tried with one setting.
struct Trial {
  const drivers::Row* row = nullptr;
  int baud = 0;  // 0: the way to the device has none
  const drivers::Variant* variant = nullptr;
  double likeness = 0;      // of bytes that were heard; 0: none were
  std::uint16_t port = 0;   // on a network: where it is asked
  bool is_control = false;  // and that is where it takes commands: data come by UDP

  bool is_heard() const { return likeness > 0; }
};

// Rates to listen at, those that most drivers know first.
std::vector<int> listening_rates(std::span<const drivers::Row> rows);

// The drivers whose frames these bytes are, the most alike first; of equals the one whose script
// asks who is there.
std::vector<Trial> heard(std::span<const drivers::Row> rows, hal::Bytes sample, int baud);

// For a device that says nothing by itself: all that speak. Usual rates first, and at each rate
// those that ask before those that start it at once. Inertial sensors send by themselves unless
// they were stopped, and are asked at their most usual rate only. Without a line, each once.
std::vector<Trial> silent_trials(std::span<const drivers::Row> rows, bool has_line);

// Those that may listen at an address, TCP or UDP, each at the port that it names, or all at
// `port`.
std::vector<Trial> network_trials(std::span<const drivers::Row> rows, bool is_tcp,
                                  std::uint16_t port);

// Where datagrams of any of them may come to.
std::vector<std::uint16_t> udp_ports(std::span<const drivers::Row> rows);

}  // namespace lidarctl
