#include "hal/socket.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <ctime>
#include <utility>

#include "hal/unique_fd.h"

namespace hal {
namespace {

// Two clocks are read together only so well; stamps of one burst are closer than that.
constexpr Duration kReadingError = std::chrono::microseconds(10);
constexpr Duration kApart = std::chrono::milliseconds(10);  // so that this error is no rate
constexpr double kMostSlewed = 0.125;                       // adjtimex allows a tenth

void take_control(const cmsghdr& item, Received& received) {
  if (item.cmsg_level != SOL_SOCKET) return;
  if (item.cmsg_type == SCM_TIMESTAMPNS) {
    timespec t{};
    std::memcpy(&t, CMSG_DATA(&item), sizeof t);
    received.unix_ns = std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  } else if (item.cmsg_type == SO_RXQ_OVFL) {
    std::uint32_t dropped = 0;
    std::memcpy(&dropped, CMSG_DATA(&item), sizeof dropped);
    received.dropped = dropped;
  }
}

}  // namespace

Result<sockaddr_in> ipv4(std::string_view host, std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  if (host.empty()) return address;
  const auto text = Text<48>::of("%.*s", static_cast<int>(host.size()), host.data());
  if (::inet_pton(AF_INET, text.c_str(), &address.sin_addr) == 1) return address;
  return Error{
      Errc::bad_config, 0, "network: address",
      Text<192>::of("\"%s\" is not an IPv4 address as 192.168.1.10; names are not looked up",
                    text.c_str())};
}

Text<48> to_text(const sockaddr_in& address) {
  std::array<char, INET_ADDRSTRLEN> host{};
  ::inet_ntop(AF_INET, &address.sin_addr, host.data(), host.size());
  return Text<48>::of("%s:%u", host.data(), static_cast<unsigned>(ntohs(address.sin_port)));
}

Address to_address(const sockaddr_in& address) {
  const std::uint32_t ip = ntohl(address.sin_addr.s_addr);
  const auto part = [&](int shift) { return static_cast<std::uint8_t>(ip >> shift); };
  return {{part(24), part(16), part(8), part(0)}, ntohs(address.sin_port)};
}

Address local_address(int fd) {
  sockaddr address{};
  socklen_t size = sizeof address;
  sockaddr_in in{};
  if (::getsockname(fd, &address, &size) == 0) std::memcpy(&in, &address, sizeof in);
  return to_address(in);
}

// To connect a UDP socket sends nothing: it asks the routes.
Address address_towards(const sockaddr_in& host) {
  const UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  sockaddr_in to = host;
  if (to.sin_port == 0) to.sin_port = htons(9);
  sockaddr address{};
  std::memcpy(&address, &to, sizeof to);
  if (!fd || ::connect(fd.get(), &address, sizeof to) != 0) return {};
  Address local = local_address(fd.get());
  local.port = 0;
  return local;
}

bool is_multicast(const sockaddr_in& address) {
  return IN_MULTICAST(ntohl(address.sin_addr.s_addr));
}

void request_stamps(int fd) {
  const int on = 1;
  ::setsockopt(fd, SOL_SOCKET, SO_TIMESTAMPNS, &on, sizeof on);
  ::setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
}

Received receive(int fd, std::span<std::byte> buffer) {
  Received received;
  iovec part{buffer.data(), buffer.size()};
  alignas(cmsghdr) std::array<char, 128> control;
  msghdr message{};
  message.msg_name = &received.from;
  message.msg_namelen = sizeof received.from;
  message.msg_iov = &part;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  do {
    received.size = ::recvmsg(fd, &message, MSG_DONTWAIT);
  } while (received.size < 0 && errno == EINTR);
  if (received.size < 0) return received;
  received.truncated = (message.msg_flags & MSG_TRUNC) != 0;
  for (const cmsghdr* c = CMSG_FIRSTHDR(&message); c != nullptr;
       c = CMSG_NXTHDR(&message, const_cast<cmsghdr*>(c))) {
    take_control(*c, received);
  }
  return received;
}

Time KernelStamps::arrival(const Received& received, const Clock& clock, Time newest,
                           PortStats& stats) {
  if (!received.unix_ns) return clock.now();
  const ClockPair now = clock.both();
  const double age = static_cast<double>(now.unix_ns - *received.unix_ns) * rate(now);
  const Time stamp = now.inner - Duration(std::llround(age));
  if (stamp >= newest - kReadingError && stamp <= now.inner + kReadingError) {
    return std::clamp(stamp, std::min(newest, now.inner), now.inner);
  }
  ++stats.replaced_stamps;
  return now.inner;
}

// Inner time per Unix time; 1 while nothing is known, and when the wall clock was set.
double KernelStamps::rate(const ClockPair& now) {
  if (newer_.inner == Time{} || now.inner - newer_.inner >= kApart) {
    older_ = std::exchange(newer_, now);
  }
  if (older_.inner == Time{}) return 1;
  const auto inner = static_cast<double>((now.inner - older_.inner).count());
  const auto unix = static_cast<double>(now.unix_ns - older_.unix_ns);
  const double rate = unix > 0 ? inner / unix : 1;
  return std::abs(rate - 1) <= kMostSlewed ? rate : 1;
}

}  // namespace hal
