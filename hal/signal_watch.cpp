#include "hal/signal_watch.h"

#include <sys/signalfd.h>
#include <unistd.h>

#include <cerrno>

namespace hal {

namespace {

sigset_t wanted_signals() {
  sigset_t wanted;
  ::sigemptyset(&wanted);
  for (const int signal : {SIGTERM, SIGINT, SIGHUP, SIGUSR1}) ::sigaddset(&wanted, signal);
  return wanted;
}

}  // namespace

Status block_signals() {
  const sigset_t wanted = wanted_signals();
  ::signal(SIGPIPE, SIG_IGN);
  if (::sigprocmask(SIG_BLOCK, &wanted, nullptr) != 0) {
    return Error{Errc::io, errno, "signals: block", {}};
  }
  return ok;
}

Result<UniqueFd> open_signals() {
  const sigset_t wanted = wanted_signals();
  UniqueFd fd(::signalfd(-1, &wanted, SFD_NONBLOCK | SFD_CLOEXEC));
  if (!fd) return Error{Errc::io, errno, "signals: open", {}};
  return fd;
}

int take_signal(int fd) {
  signalfd_siginfo info;
  const ssize_t n = ::read(fd, &info, sizeof info);
  return n == static_cast<ssize_t>(sizeof info) ? static_cast<int>(info.ssi_signo) : 0;
}

}  // namespace hal
