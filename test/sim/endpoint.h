// HOST:PORT as a socket address.
#pragma once

#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "hal/result.h"

namespace sim {

struct Endpoint {
  sockaddr_storage storage{};
  socklen_t length = 0;

  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&storage); }
  sockaddr* get() { return reinterpret_cast<sockaddr*>(&storage); }
  int family() const { return storage.ss_family; }
};

// "127.0.0.1:8089", "[::1]:8089", "localhost:8089"; resolves names, which may block.
hal::Result<Endpoint> parse_endpoint(const std::string& text, int socket_type);
Endpoint to_endpoint(std::uint32_t ip, std::uint16_t port);
std::string to_text(const Endpoint& endpoint);
// The address that a bound socket really has: port 0 becomes the chosen one.
Endpoint bound_address(int fd);

hal::Error system_error(const char* where, const std::string& detail);

}  // namespace sim
