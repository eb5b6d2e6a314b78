#include "hal/unix_ports.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

namespace hal {

UnixPort::~UnixPort() {
  UnixPort::close();
  ports_.remove(*this);
}

void UnixPort::open(PortListener& listener) {
  close();
  waiting_for_ = &listener;
  ports_.begin();
}

void UnixPort::close() {
  waiting_for_ = nullptr;
  FdPort::close();
}

void UnixPort::connected(UniqueFd fd) {
  PortListener& listener = *waiting_for_;
  begin(listener, std::move(fd));
}

// Never called: open() only waits.
Result<UniqueFd> UnixPort::open_fd() { return Error{Errc::unsupported, 0, "socket: open", {}}; }

Result<FdPort::Got> UnixPort::read_once(int fd, std::span<std::byte> buffer, Chunk& chunk) {
  buffer = buffer.first(std::min(buffer.size(), kRead));
  ssize_t n = 0;
  do {
    n = ::read(fd, buffer.data(), buffer.size());
  } while (n < 0 && errno == EINTR);
  if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) return Got::nothing;
  if (n <= 0) {
    const int sys = n < 0 ? errno : 0;
    return Error{Errc::closed, sys, "socket: read",
                 Text<192>::of("%s", sys != 0 ? std::strerror(sys) : "closed by the sender")};
  }
  const auto size = static_cast<std::size_t>(n);
  chunk.bytes = buffer.first(size);
  chunk.last_at = clock().now();
  return Got::some;  // a short read says nothing: the kernel gives it piece by piece
}

UnixPorts::~UnixPorts() {
  if (watch_.is_open()) watch_.release();
}

Status UnixPorts::listen(std::string_view path) {
  Result<UnixListener> listener = UnixListener::listen(path);
  if (!listener) return listener.error();
  boost::system::error_code ec;
  watch_.assign(listener->fd(), ec);
  if (ec) return Error{Errc::io, ec.value(), "socket: add to event loop", {}};
  listener_.emplace(std::move(*listener));
  return ok;
}

void UnixPorts::begin() {
  if (!listener_ || std::exchange(begun_, true)) return;
  rearm();
}

std::unique_ptr<Port> UnixPorts::make_port(std::string name) {
  auto port = std::make_unique<UnixPort>(loop_, std::move(name), *this);
  ports_.push_back(port.get());
  return port;
}

void UnixPorts::remove(UnixPort& port) { std::erase(ports_, &port); }

void UnixPorts::rearm() {
  watch_.async_wait(
      Descriptor::wait_read,
      memory_.bind([this, alive = anchor_.ref()](const boost::system::error_code& ec) {
        if (ec || alive.expired()) return;
        loop_.enter_pass();
        accept_all();
        loop_.rearm_after_pass(*this);
      }));
}

void UnixPorts::accept_all() {
  for (int i = 0; i < kAcceptsPerPass; ++i) {
    Result<UniqueFd> fd = listener_->accept();
    if (fd && !*fd) return;
    const auto place = std::ranges::find_if(ports_, [](const UnixPort* p) { return p->waits(); });
    if (!fd || place == ports_.end()) {
      ++refused_;
      continue;
    }
    (*place)->connected(std::move(*fd));
  }
}

}  // namespace hal
