#include "hal/udp_port.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "hal/open_error.h"

namespace hal {
namespace {

Error refused(const char* where, const char* name, int sys, const Text<64>& holder = {}) {
  const Errc code = sys == EADDRINUSE                       ? Errc::busy
                    : sys == EADDRNOTAVAIL || sys == ENODEV ? Errc::not_found
                    : sys == EACCES || sys == EPERM         ? Errc::permission
                                                            : Errc::io;
  if (!holder.empty()) {
    return {code, sys, where, Text<192>::of("%s: already used by %s", name, holder.c_str())};
  }
  const char* const remedy = sys == EADDRINUSE ? ": see who listens: ss -ulnp"
                             : sys == EADDRNOTAVAIL || sys == ENODEV
                                 ? ": no interface has this address, or is not up yet"
                             : sys == EACCES ? ": ports below 1024 want CAP_NET_BIND_SERVICE"
                                             : "";
  return {code, sys, where, Text<192>::of("%s: %s%s", name, std::strerror(sys), remedy)};
}

}  // namespace

UdpPort::UdpPort(EventLoop& loop, std::string name, UdpOptions options, UdpShares* shares)
    : FdPort(loop, std::move(name), options.latency), options_(std::move(options)) {
  if (!take_addresses() || !shares) return;  // a wrong address is told when it is opened
  share_ = &shares->at(bind_);
  share_->ports.push_back(this);
}

UdpPort::~UdpPort() {
  if (share_) std::erase(share_->ports, this);
}

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
  lost_ = 0;
  stats_.note.clear();
  stats_.from.clear();
  if (from_.sin_addr.s_addr != INADDR_ANY) {
    stats_.from.print("%s", to_address(from_).host().c_str());
  }
  UniqueFd fd = socket_of_another();
  if (!fd) {
    Result<UniqueFd> made = new_socket();
    if (!made) return made;
    fd = std::move(*made);
  }
  local_ = own_address(fd.get());
  return fd;
}

Result<UniqueFd> UdpPort::new_socket() {
  UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return refused("udp: socket", name().data(), errno);
  const Status bound = bind_socket(fd.get());
  if (!bound) return bound.error();
  dropped() = 0;
  size_buffer(fd.get());
  request_stamps(fd.get());
  return fd;
}

// That of a port at the same address which is open; none: it is the first.
UniqueFd UdpPort::socket_of_another() {
  if (!share_) return UniqueFd();
  for (const UdpPort* const other : share_->ports) {
    if (other == this || other->fd() < 0) continue;
    stats_.receive_buffer = other->stats_.receive_buffer;
    stats_.note = other->stats_.note;
    return UniqueFd(::fcntl(other->fd(), F_DUPFD_CLOEXEC, 0));
  }
  return UniqueFd();
}

// A group is nobody's own address.
Address UdpPort::own_address(int fd) const {
  Address own = local_address(fd);
  if (bind_.sin_addr.s_addr != INADDR_ANY && !is_multicast(bind_)) return own;
  const sockaddr_in& device = options_.peer.empty() ? from_ : peer_;
  own.ip = device.sin_addr.s_addr == INADDR_ANY ? Address{}.ip : address_towards(device).ip;
  return own;
}

Status UdpPort::bind_socket(int fd) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  // Several programs may listen to one group; a unicast port has one owner.
  if (is_multicast(bind_)) ::setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
  sockaddr address{};
  std::memcpy(&address, &bind_, sizeof bind_);
  if (::bind(fd, &address, sizeof bind_) != 0) {
    const int sys = errno;
    return refused("udp: bind", name().data(), sys,
                   sys == EADDRINUSE ? find_udp_holder(bind_) : Text<64>{});
  }
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
  const Bytes bytes = buffer.first(static_cast<std::size_t>(received.size));
  UdpPort* const owner = whose(received.from);
  if (!owner) reject(received.from);
  if (owner == this) return take(received, bytes, chunk) ? Got::some : Got::skipped;
  if (owner && owner->fd() >= 0 && owner->take(received, bytes, chunk)) owner->hand_in(chunk);
  return Got::skipped;
}

// Null: nobody's.
UdpPort* UdpPort::whose(const sockaddr_in& sender) {
  if (accepts(sender)) return this;
  if (!share_) return nullptr;
  const auto found = std::ranges::find_if(
      share_->ports, [&](const UdpPort* port) { return port->accepts(sender); });
  return found == share_->ports.end() ? nullptr : *found;
}

void UdpPort::reject(const sockaddr_in& sender) {
  UdpPort* const self = this;
  const std::span<UdpPort* const> all =
      share_ ? std::span<UdpPort* const>(share_->ports) : std::span<UdpPort* const>(&self, 1);
  for (UdpPort* const port : all) {
    ++port->stats_.rejected_datagrams;
    port->stats_.last_rejected = to_text(sender);
  }
}

// False: there is nothing in it.
bool UdpPort::take(const Received& received, Bytes bytes, Chunk& chunk) {
  count_losses(received);
  if (bytes.empty()) {
    ++stats_.empty_datagrams;
    return false;
  }
  chunk.bytes = bytes;
  chunk.last_at = kernel_stamps_.arrival(received, clock(), newest(), stats_);
  chunk.lost = std::exchange(lost_, 0);
  chunk.is_datagram = true;
  return true;
}

// Whose they were nobody knows: of a shared socket they count where the next datagram goes.
void UdpPort::count_losses(const Received& received) {
  const std::uint32_t lost = received.dropped ? *received.dropped - dropped() : 0;
  dropped() += lost;
  lost_ += lost;
  stats_.lost_datagrams += lost;
}

std::uint32_t& UdpPort::dropped() { return share_ ? share_->dropped : dropped_; }

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

}  // namespace hal
