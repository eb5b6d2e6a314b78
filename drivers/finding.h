// How a device is found by who does not know it, and what its options should then be: what
// `lidarctl probe` wants to know beyond what the driver says to its device.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace drivers {

// What was measured of a device that streamed to its driver, with all options at their defaults.
struct Seen {
  double beams_hz = 0;  // of a lidar, by arrival; 0: not measured
  double turns_hz = 0;  // of a lidar; 0: not measured
  bool has_intensity = false;
  std::string_view about{};  // Health::about
};

// What a user should write for an option, or should know of it.
struct Advice {
  std::string key, value;  // empty value: as it is by default
  std::string comment;     // may be empty
};

// An option with which a driver talks to models that it takes for silent ones without it.
struct Variant {
  std::string_view key, value;
  int baud;
};

struct Finding {
  std::span<const int> bauds{};  // rates of its models, most usual first; empty: the default alone
  bool asks_first = false;       // its start script asks who is there before it starts anything
  bool sets_baud = false;        // its start script finds the rate, and sets the configured one
  std::span<const Variant> variants{};
  // Networks: where its models send datagrams, and listen for connections, unless told otherwise.
  std::span<const std::uint16_t> udp{}, tcp{};
  std::uint16_t control = 0;  // TCP, of the commands, where they have a channel of their own
  std::vector<Advice> (*advise)(const Seen&) = nullptr;  // null: nothing to say
};

}  // namespace drivers
