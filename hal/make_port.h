// From the configuration of a channel to its port.
#pragma once

#include <memory>
#include <string>

#include "hal/event_loop.h"
#include "hal/port.h"
#include "hal/port_spec.h"
#include "hal/serial_port.h"
#include "hal/udp_share.h"

namespace hal {

struct PortOptions {
  PortSpec spec{};
  int baud = 115200;            // serial
  Line line = Line::automatic;  // serial
  Latency latency = Latency::low;
  std::string from{};            // udp: accepted sender; see UdpOptions
  HostPort peer{};               // udp: where writes go
  int receive_buffer = 1 << 20;  // udp
};

// Opens nothing yet. The loop outlives the port, and so does `shares`: see UdpPort.
std::unique_ptr<Port> make_port(EventLoop& loop, const PortOptions& options,
                                UdpShares* shares = nullptr);

}  // namespace hal
