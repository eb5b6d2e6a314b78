// The text form of a port: serial:PATH | udp:[BIND:]PORT | tcp:HOST:PORT.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hal/port.h"

namespace hal {

struct PortSpec {
  enum class Kind : std::uint8_t { serial, udp, tcp };
  Kind kind = Kind::serial;
  std::string path{};      // serial
  std::string host{};      // udp: where to listen, may be empty; tcp: the device. IPv4 numbers.
  std::uint16_t port = 0;  // udp, tcp; 0 only for udp: any free one
};

Result<PortSpec> parse_port_spec(std::string_view text);

// HOST:PORT or HOST alone (then the port is 0), as in `from` and `peer`.
struct HostPort {
  std::string host{};
  std::uint16_t port = 0;
};
Result<HostPort> parse_host_port(std::string_view text);
Address to_address(const HostPort&);

std::string to_string(const PortSpec& spec);  // parses to the same again

}  // namespace hal
