#include "test/sim/endpoint.h"

#include <arpa/inet.h>
#include <netdb.h>
#include <netinet/in.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

namespace sim {

hal::Error system_error(const char* where, const std::string& detail) {
  const int code = errno;
  hal::Error error{hal::Errc::io, code, where, {}};
  error.detail.print("%s: %s", detail.c_str(), std::strerror(code));
  return error;
}

hal::Result<Endpoint> parse_endpoint(const std::string& text, int socket_type) {
  hal::Error error{hal::Errc::bad_config, 0, "simulate: address", {}};
  const std::size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon + 1 == text.size()) {
    error.detail.print("\"%s\" is not HOST:PORT", text.c_str());
    return error;
  }
  const std::string port = text.substr(colon + 1);
  if (port.size() > 5 || std::atoi(port.c_str()) > 65'535) {  // the library would wrap it
    error.detail.print("\"%s\": a port is at most 65535", text.c_str());
    return error;
  }
  std::string host = text.substr(0, colon);
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  addrinfo hints{};
  hints.ai_socktype = socket_type;
  hints.ai_family = host.empty() ? AF_INET : AF_UNSPEC;
  hints.ai_flags = AI_PASSIVE | AI_NUMERICSERV;
  addrinfo* found = nullptr;
  const int failed =
      ::getaddrinfo(host.empty() ? nullptr : host.c_str(), port.c_str(), &hints, &found);
  if (failed != 0) {
    error.detail.print("\"%s\": %s", text.c_str(), ::gai_strerror(failed));
    return error;
  }
  Endpoint endpoint;
  endpoint.length = found->ai_addrlen;
  std::memcpy(&endpoint.storage, found->ai_addr, found->ai_addrlen);
  ::freeaddrinfo(found);
  return endpoint;
}

Endpoint to_endpoint(std::uint32_t ip, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(ip);
  Endpoint endpoint;
  endpoint.length = sizeof address;
  std::memcpy(&endpoint.storage, &address, sizeof address);
  return endpoint;
}

std::string to_text(const Endpoint& endpoint) {
  char host[NI_MAXHOST] = "", port[NI_MAXSERV] = "";
  if (::getnameinfo(endpoint.get(), endpoint.length, host, sizeof host, port, sizeof port,
                    NI_NUMERICHOST | NI_NUMERICSERV) != 0)
    return "?";
  const bool is_v6 = endpoint.family() == AF_INET6;
  return (is_v6 ? "[" : "") + std::string(host) + (is_v6 ? "]:" : ":") + port;
}

Endpoint bound_address(int fd) {
  Endpoint endpoint;
  endpoint.length = sizeof endpoint.storage;
  ::getsockname(fd, endpoint.get(), &endpoint.length);
  return endpoint;
}

}  // namespace sim
