// What one device sent, out of a network capture.
#pragma once

#include <functional>
#include <string>

#include "hal/pcap/flows.h"
#include "hal/port.h"

namespace lidarctl {

// 0: any.
struct NetChoice {
  std::uint16_t port = 0;  // at either end
  std::uint32_t from = 0;  // IPv4 of the sender
  std::uint16_t from_port = 0;
};

// HOST or HOST:PORT. A Failure when it is neither.
void choose_sender(NetChoice&, const std::string& text);

struct NetReport {
  std::vector<std::string> notes;  // what was left out or is missing, for people
};

// Calls `take` with each datagram and each part of a stream that was sent by the chosen one. It
// arrived when it was captured, which never goes back. Where more than one sender fits the choice
// it is the one that sent most. A Failure where the file is no capture, or nobody fits.
NetReport read_capture(const std::string& path, hal::Bytes file, const NetChoice&,
                       const std::function<void(const hal::Chunk&)>& take);

}  // namespace lidarctl
