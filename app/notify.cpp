#include "app/notify.h"

#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstddef>
#include <cstdlib>
#include <cstring>

namespace app {

Notifier::Notifier() {
  const char* const path = std::getenv("NOTIFY_SOCKET");
  if (!path || (path[0] != '/' && path[0] != '@')) return;
  address_ = path;
  if (address_[0] == '@') address_[0] = '\0';
  if (address_.size() >= sizeof(sockaddr_un::sun_path)) {
    address_.clear();
    return;
  }
  fd_ = hal::UniqueFd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const char* const watchdog = std::getenv("WATCHDOG_USEC");
  const char* const pid = std::getenv("WATCHDOG_PID");
  const bool ours = !pid || std::strtol(pid, nullptr, 10) == ::getpid();
  if (watchdog && ours) {
    period_ = std::chrono::microseconds(std::strtoll(watchdog, nullptr, 10)) / 2;
  }
}

void Notifier::send(const char* state) const {
  if (!fd_ || address_.empty()) return;
  sockaddr_un to{};
  to.sun_family = AF_UNIX;
  std::memcpy(to.sun_path, address_.data(), address_.size());
  const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address_.size());
  // Nobody to tell when systemd does not listen, and nothing depends on it.
  (void)::sendto(fd_.get(), state, std::strlen(state), MSG_NOSIGNAL,
                 reinterpret_cast<const sockaddr*>(&to), length);
}

void Notifier::feed(hal::Time now) {
  if (period_ <= hal::Duration::zero() || now < next_) return;
  next_ = now + period_;
  send("WATCHDOG=1");
}

}  // namespace app
