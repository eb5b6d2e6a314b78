#include "hal/tcp_port.h"

#include <netinet/tcp.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "hal/socket.h"

namespace hal {
namespace {

void set_option(int fd, int level, int option, int value) {
  ::setsockopt(fd, level, option, &value, sizeof value);
}

// A device that vanished without a word is noticed within about 5 s.
void set_up(int fd) {
  set_option(fd, IPPROTO_TCP, TCP_NODELAY, 1);
  set_option(fd, SOL_SOCKET, SO_KEEPALIVE, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPIDLE, 2);
  set_option(fd, IPPROTO_TCP, TCP_KEEPINTVL, 1);
  set_option(fd, IPPROTO_TCP, TCP_KEEPCNT, 3);
  set_option(fd, IPPROTO_TCP, TCP_USER_TIMEOUT, 5000);
  request_stamps(fd);
}

Errc code_of(int sys) {
  switch (sys) {
    case ETIMEDOUT:
      return Errc::timeout;
    case EHOSTUNREACH:
    case ENETUNREACH:
    case ECONNREFUSED:
      return Errc::not_found;
    case 0:
    case ECONNRESET:
    case EPIPE:
      return Errc::closed;
    default:
      return Errc::io;
  }
}

}  // namespace

TcpPort::TcpPort(EventLoop& event_loop, std::string name, TcpOptions options)
    : FdPort(event_loop, std::move(name), options.latency),
      options_(std::move(options)),
      port_(options_.port),
      connecting_(event_loop.io()),
      timeout_(event_loop.io()) {}

Error TcpPort::failed(const char* where, int sys) const {
  const char* const what = sys == 0              ? "closed by the device"
                           : sys == ECONNREFUSED ? "refused: nothing listens on this port there"
                           : sys == ETIMEDOUT    ? "no answer: is the device on, the address right?"
                           : sys == ENETUNREACH || sys == EHOSTUNREACH
                               ? "no way to it: cable, and has this host an address in its network?"
                               : std::strerror(sys);
  return {code_of(sys), sys, where, Text<192>::of("%s: %s", name().data(), what)};
}

Result<UniqueFd> TcpPort::open_fd() {
  const Result<sockaddr_in> peer = ipv4(options_.host, port_);
  if (!peer) return peer.error();
  UniqueFd fd(::socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!fd) return failed("tcp: socket", errno);
  set_up(fd.get());
  sockaddr address{};
  std::memcpy(&address, &*peer, sizeof *peer);
  if (::connect(fd.get(), &address, sizeof *peer) == 0 || errno == EINPROGRESS) return fd;
  return failed("tcp: connect", errno);
}

void TcpPort::open(PortListener& listener) {
  close();
  Result<UniqueFd> fd = open_fd();
  if (!fd) return listener.on_port_fault(fd.error(), clock().now());
  pending_ = std::move(*fd);
  connecting_for_ = &listener;
  boost::system::error_code ec;
  connecting_.assign(pending_.get(), ec);
  if (ec) return give_up(failed("tcp: add to event loop", ec.value()));
  wait_for_connection();
}

void TcpPort::wait_for_connection() {
  const auto current = [this, attempt = attempt_, alive = alive_.ref()] {
    return !alive.expired() && attempt == attempt_;
  };
  connecting_.async_wait(Descriptor::wait_write,
                         [this, current](const boost::system::error_code& ec) {
                           if (ec || !current()) return;
                           loop().enter_pass();
                           if (current()) on_connected();
                         });
  timeout_.expires_after(options_.connect_timeout);
  timeout_.async_wait([this, current](const boost::system::error_code& ec) {
    if (ec || !current()) return;
    loop().enter_pass();
    if (current()) give_up(failed("tcp: connect", ETIMEDOUT));
  });
}

void TcpPort::on_connected() {
  int sys = 0;
  socklen_t size = sizeof sys;
  if (::getsockopt(pending_.get(), SOL_SOCKET, SO_ERROR, &sys, &size) != 0) sys = errno;
  if (sys != 0) return give_up(failed("tcp: connect", sys));
  PortListener& listener = *connecting_for_;
  connecting_.release();
  UniqueFd fd = std::move(pending_);
  close();
  begin(listener, std::move(fd));
}

void TcpPort::give_up(const Error& error) {
  PortListener& listener = *connecting_for_;
  close();
  listener.on_port_fault(error, clock().now());
}

void TcpPort::close() {
  ++attempt_;
  connecting_for_ = nullptr;
  timeout_.cancel();
  if (connecting_.is_open()) connecting_.release();
  pending_.reset();
  FdPort::close();
}

Result<FdPort::Got> TcpPort::read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) {
  const Received received = receive(fd, buffer);
  if (received.size < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Got::nothing;
  if (received.size <= 0) return failed("tcp: receive", received.size < 0 ? errno : 0);
  const auto size = static_cast<std::size_t>(received.size);
  chunk.bytes = buffer.first(size);
  chunk.last_at = kernel_stamps_.arrival(received, clock(), newest(), stats_);
  return size < buffer.size() ? Got::all : Got::some;
}

ssize_t TcpPort::write_once(int fd, Bytes bytes) {
  return ::send(fd, bytes.data(), bytes.size(), MSG_DONTWAIT | MSG_NOSIGNAL);
}

}  // namespace hal
