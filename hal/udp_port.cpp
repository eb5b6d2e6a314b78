#include "hal/udp_port.h"

#include <sys/socket.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "hal/socket.h"

namespace hal {
namespace {

Error refused(const char* where, const char* name, int sys) {
  const Errc code = sys == EADDRINUSE                       ? Errc::busy
                    : sys == EADDRNOTAVAIL || sys == ENODEV ? Errc::not_found
                    : sys == EACCES || sys == EPERM         ? Errc::permission
                                                            : Errc::io;
  const char* const remedy = sys == EADDRINUSE ? ": see who listens: ss -ulnp"
                             : sys == EADDRNOTAVAIL || sys == ENODEV
                                 ? ": no interface has this address, or is not up yet"
                             : sys == EACCES ? ": ports below 1024 want CAP_NET_BIND_SERVICE"
                                             : "";
  return {code, sys, where, Text<192>::of("%s: %s%s", name, std::strerror(sys), remedy)};
}

}  // namespace

UdpPort::UdpPort(EventLoop& loop, std::string name, UdpOptions options)
    : FdPort(loop, std::move(name), options.latency), options_(std::move(options)) {}

Status UdpPort::take_addresses() {
  const Result<sockaddr_in> bind = ipv4(options_.bind, options_.port);
  if (!bind) return bind.error();
  const Result<sockaddr_in> peer = ipv4(options_.peer, options_.peer_port);
  if (!peer) return peer.error();
  const Result<sockaddr_in> from = ipv4(options_.from, 0);
  if (!from) return from.error();
  bind_ = *bind;
  peer_ = *peer;
  from_ = options_.from.empty() ? peer_ : *from;
  return ok;
}

Result<UniqueFd> UdpPort::open_fd() {
  const Status addresses = take_addresses();
  if (!addresses) return addresses.error();
  UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return refused("udp: socket", name().data(), errno);
  const Status bound = bind_socket(fd.get());
  if (!bound) return bound.error();
  stats_.note.clear();
  size_buffer(fd.get());
  request_stamps(fd.get());
  dropped_ = lost_ = 0;
  return fd;
}

Status UdpPort::bind_socket(int fd) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  // Several programs may listen to one group; a unicast port has one owner.
  if (is_multicast(bind_)) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr address{};
  std::memcpy(&address, &bind_, sizeof bind_);
  if (::bind(fd, &address, sizeof bind_) != 0) return refused("udp: bind", name().data(), errno);
  if (!is_multicast(bind_)) return ok;
  ip_mreqn group{};
  group.imr_multiaddr = bind_.sin_addr;
  if (::setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &group, sizeof group) == 0) return ok;
  return refused("udp: join group", name().data(), errno);
}

void UdpPort::size_buffer(int fd) {
  const int asked = options_.receive_buffer;
  ::setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &asked, sizeof asked);
  int granted = 0;
  socklen_t size = sizeof granted;
  ::getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &granted, &size);
  granted /= 2;  // the kernel doubles it for its own books
  stats_.receive_buffer = static_cast<std::uint32_t>(granted);
  if (granted >= asked) return;
  stats_.note.print("receive buffer %d of %d bytes: sysctl -w net.core.rmem_max=%d", granted, asked,
                    asked);
}

Result<FdPort::Got> UdpPort::read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) {
  const Received received = receive(fd, buffer);
  if (received.size < 0) {
    if (errno == EAGAIN || errno == EWOULDBLOCK) return Got::nothing;
    return refused("udp: receive", name().data(), errno);
  }
  count_losses(received);
  if (!accepts(received.from)) {
    ++stats_.rejected_datagrams;
    stats_.last_rejected = to_text(received.from);
    return Got::skipped;
  }
  if (received.size == 0) {
    ++stats_.empty_datagrams;
    return Got::skipped;
  }
  chunk.bytes = buffer.first(static_cast<std::size_t>(received.size));
  chunk.last_at = kernel_stamps_.arrival(received, clock(), newest(), stats_);
  chunk.lost = std::exchange(lost_, 0);
  chunk.is_datagram = true;
  return Got::some;
}

void UdpPort::count_losses(const Received& received) {
  const std::uint32_t lost = received.dropped ? *received.dropped - dropped_ : 0;
  dropped_ += lost;
  lost_ += lost;
  stats_.lost_datagrams += lost;
}

bool UdpPort::accepts(const sockaddr_in& sender) const {
  return from_.sin_addr.s_addr == INADDR_ANY || sender.sin_addr.s_addr == from_.sin_addr.s_addr;
}

ssize_t UdpPort::write_once(int fd, Bytes bytes) {
  if (options_.peer.empty()) {
    errno = EDESTADDRREQ;
    return -1;
  }
  sockaddr address{};
  std::memcpy(&address, &peer_, sizeof peer_);
  return ::sendto(fd, bytes.data(), bytes.size(), MSG_DONTWAIT, &address, sizeof peer_);
}

sockaddr_in UdpPort::local() const {
  sockaddr address{};
  socklen_t size = sizeof address;
  sockaddr_in in{};
  if (fd() >= 0 && ::getsockname(fd(), &address, &size) == 0) std::memcpy(&in, &address, sizeof in);
  return in;
}

}  // namespace hal
