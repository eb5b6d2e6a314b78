// Who sends datagrams to this machine, and whose bytes are they?
#pragma once

#include <string>

#include "app/lidarctl/probe_plan.h"
#include "hal/time.h"

namespace lidarctl {

struct UdpSender {
  std::string host;         // "192.168.0.1"
  std::uint16_t port = 0;   // that it sends from
  std::uint16_t local = 0;  // that it sends to
  std::uint64_t datagrams = 0, bytes = 0;
  std::vector<std::byte> sample{};  // its first bytes
  std::vector<Trial> heard{};       // the most alike first; empty: nobody's
};

struct UdpSurvey {
  std::vector<UdpSender> senders{};  // at most kMostSenders
  std::vector<std::string> notes{};  // ports that could not be listened to, and why
  double seconds = 0;
};

inline constexpr std::size_t kMostSenders = 64;

// Listens at all of these ports at the same time, for so long.
UdpSurvey listen_to_udp(std::span<const std::uint16_t> ports, hal::Duration length);

}  // namespace lidarctl
