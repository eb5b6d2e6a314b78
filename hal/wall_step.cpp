#include "hal/wall_step.h"

#include <sys/timerfd.h>

#include <cerrno>
#include <cstdint>
#include <ctime>

namespace hal {
namespace {

constexpr std::int64_t kFarAway = 1'000'000'000;  // s, about 31 years

bool set(int fd) {
  itimerspec far{};
  far.it_value.tv_sec = static_cast<time_t>(std::int64_t{::time(nullptr)} + kFarAway);
  if (far.it_value.tv_sec <= 0) far.it_value.tv_sec = INT32_MAX;  // a 32-bit time_t
  return ::timerfd_settime(fd, TFD_TIMER_ABSTIME | TFD_TIMER_CANCEL_ON_SET, &far, nullptr) == 0;
}

}  // namespace

Result<UniqueFd> open_wall_step_timer() {
  UniqueFd fd(::timerfd_create(CLOCK_REALTIME, TFD_NONBLOCK | TFD_CLOEXEC));
  if (!fd || !set(fd.get())) return Error{Errc::io, errno, "wall clock: watch for steps", {}};
  return fd;
}

bool take_wall_step(int timer_fd) {
  std::uint64_t expirations = 0;
  const bool cancelled =
      ::read(timer_fd, &expirations, sizeof expirations) < 0 && errno == ECANCELED;
  set(timer_fd);
  return cancelled;
}

}  // namespace hal
