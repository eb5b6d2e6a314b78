// What UDP and TCP ports share: IPv4 addresses as numbers, and receiving with the kernel's stamps.
#pragma once

#include <netinet/in.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "hal/port.h"

namespace hal {

// IPv4 numbers only: looking up a name may block. An empty host is any address.
Result<sockaddr_in> ipv4(std::string_view host, std::uint16_t port);
Text<48> to_text(const sockaddr_in& address);  // "192.168.1.10:2368"
bool is_multicast(const sockaddr_in& address);
Address to_address(const sockaddr_in& address);
Address local_address(int fd);  // of a socket that is bound or connected
// Our own address on the way to `host`, as the routes are now; port 0. Zeros: there is no way.
Address address_towards(const sockaddr_in& host);

// Asks for stamps (and drop counts, where the socket has them) with what is received.
void request_stamps(int fd);

struct Received {
  ssize_t size = -1;  // as recvmsg returns, with errno; EINTR is dealt with
  bool truncated = false;
  sockaddr_in from{};
  std::optional<std::int64_t> unix_ns;   // when the kernel received it
  std::optional<std::uint32_t> dropped;  // datagrams dropped so far for want of room
};
Received receive(int fd, std::span<std::byte> buffer);

// Kernel stamps are Unix time: converted to inner time by reading both clocks together, at the rate
// at which Unix time went since an earlier reading, as it may be slewed by up to a tenth.
class KernelStamps {
 public:
  // When it was received. A stamp outside [newest, now] (the wall clock was set meanwhile) gives
  // now, and is counted.
  Time arrival(const Received& received, const Clock& clock, Time newest, PortStats& stats);

 private:
  double rate(const ClockPair& now);

  ClockPair older_{}, newer_{};  // readings; `older_` was taken kApart before `newer_` or earlier
};

}  // namespace hal
