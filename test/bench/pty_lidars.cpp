#include "test/bench/pty_lidars.h"

#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <termios.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <new>

#include "test/sim/player.h"

namespace bench {
namespace {

using namespace std::chrono_literals;

constexpr std::int64_t kPeriodNs = 1'000'000'000 / 375;
constexpr auto kLoop = 30s;  // after this the device's stamps begin again

// What the simulated device sends in one turn of its stamps.
std::vector<sim::ByteVector> make_frames() {
  const hal::Time begin = hal::from_ns(0);
  auto player =
      sim::Player::make({.row = *sim::find_model("ldrobot"), .set = {}, .faults = {}}, begin);
  std::vector<sim::ByteVector> frames;
  for (hal::Time now = begin; now < begin + kLoop; now = (*player)->advance(now)) {
    for (sim::Write write; (*player)->take(now, write);) frames.push_back(std::move(write.bytes));
  }
  return frames;
}

// As soon as a frame's last byte would have passed the line, the whole frame is there. Never
// catches up.
[[noreturn]] void write_for_ever(int near, std::int64_t phase_ns,
                                 const std::vector<sim::ByteVector>& frames,
                                 std::atomic<std::uint64_t>& written) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_TIMERSLACK, 1'000UL);
  const auto now_ns = [] {
    timespec t{};
    ::clock_gettime(CLOCK_MONOTONIC, &t);
    return std::int64_t{t.tv_sec} * 1'000'000'000 + t.tv_nsec;
  };
  std::int64_t due = now_ns() + phase_ns;
  for (std::size_t i = 0;; i = (i + 1) % frames.size()) {
    due = std::max(due + kPeriodNs, now_ns());
    const timespec until{static_cast<time_t>(due / 1'000'000'000),
                         static_cast<long>(due % 1'000'000'000)};
    ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, nullptr);
    if (::write(near, frames[i].data(), frames[i].size()) > 0) ++written;
  }
}

[[noreturn]] void give_up() {
  std::perror("pty");
  std::exit(1);
}

hal::UniqueFd open_pty(std::string& path) {
  hal::UniqueFd near(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  std::array<char, 64> name{};
  if (!near || ::grantpt(near.get()) != 0 || ::unlockpt(near.get()) != 0 ||
      ::ptsname_r(near.get(), name.data(), name.size()) != 0) {
    give_up();
  }
  path = name.data();
  const hal::UniqueFd far(::open(name.data(), kFarFlags));
  termios t{};
  if (::tcgetattr(far.get(), &t) != 0) give_up();
  ::cfmakeraw(&t);
  if (::tcsetattr(far.get(), TCSANOW, &t) != 0) give_up();
  return near;
}

}  // namespace

PtyLidars::PtyLidars() {
  static const std::vector<sim::ByteVector> frames = make_frames();
  void* const shared =
      ::mmap(nullptr, sizeof *written_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) give_up();
  written_ = new (shared) std::atomic<std::uint64_t>(0);
  for (std::size_t i = 0; i < near_.size(); ++i) near_[i] = open_pty(paths_[i]);
  for (std::size_t i = 0; i < near_.size(); ++i) {
    children_[i] = ::fork();
    if (children_[i] < 0) give_up();
    const auto phase = static_cast<std::int64_t>(i) * kPeriodNs / 4;
    if (children_[i] == 0) write_for_ever(near_[i].get(), phase, frames, *written_);
  }
}

PtyLidars::~PtyLidars() {
  for (const pid_t child : children_) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  ::munmap(written_, sizeof *written_);
}

}  // namespace bench
