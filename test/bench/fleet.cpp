#include "test/bench/fleet.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "hal/clock.h"
#include "test/sim/player.h"

namespace bench {
namespace {

constexpr int kFarFlags = O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC;

[[noreturn]] void give_up(const char* what) {
  std::perror(what);
  std::exit(1);
}

sockaddr_in loopback(std::uint16_t port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(port);
  return address;
}

hal::UniqueFd udp_socket(std::uint16_t& port) {  // 0: a free one
  hal::UniqueFd fd(::socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  sockaddr_in address = loopback(port);
  socklen_t size = sizeof address;
  auto* const raw = reinterpret_cast<sockaddr*>(&address);
  if (::bind(fd.get(), raw, size) != 0 || ::getsockname(fd.get(), raw, &size) != 0) give_up("udp");
  port = ntohs(address.sin_port);
  return fd;
}

std::string open_pty(hal::UniqueFd& near, hal::UniqueFd& far) {
  near = hal::UniqueFd(::posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC));
  std::array<char, 64> name{};
  if (!near || ::grantpt(near.get()) != 0 || ::unlockpt(near.get()) != 0 ||
      ::ptsname_r(near.get(), name.data(), name.size()) != 0) {
    give_up("pty");
  }
  far = hal::UniqueFd(::open(name.data(), kFarFlags));
  termios t{};
  if (::tcgetattr(far.get(), &t) != 0) give_up("pty");
  ::cfmakeraw(&t);
  if (::tcsetattr(far.get(), TCSANOW, &t) != 0) give_up("pty");
  return name.data();
}

}  // namespace

Fleet::Fleet(const FleetOf& of) : near_(of.count), far_(of.count) {
  for (std::size_t i = 0; i < of.count; ++i) {
    if (of.is_udp) {
      udp_.push_back(0);
      udp_socket(udp_[i]);
      ports_.push_back("udp:127.0.0.1:" + std::to_string(udp_[i]));
      std::uint16_t any = 0;
      near_[i] = udp_socket(any);
    } else {
      ports_.push_back("serial:" + open_pty(near_[i], far_[i]));
    }
  }
  void* const shared =
      ::mmap(nullptr, sizeof *sent_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) give_up("mmap");
  sent_ = new (shared) std::atomic<std::uint64_t>(0);
  child_ = ::fork();
  if (child_ < 0) give_up("fork");
  if (child_ == 0) play(of);
}

Fleet::~Fleet() {
  ::kill(child_, SIGKILL);
  ::waitpid(child_, nullptr, 0);
  ::munmap(sent_, sizeof *sent_);
}

std::vector<int> Fleet::open_raw() const {
  std::vector<int> fds;
  for (std::size_t i = 0; i < ports_.size(); ++i) {
    std::uint16_t port = udp_.empty() ? 0 : udp_[i];
    fds.push_back(udp_.empty() ? ::open(ports_[i].c_str() + 7, kFarFlags)
                               : udp_socket(port).release());
  }
  return fds;
}

// One wake for each instant at which something is due; the devices are out of step.
void Fleet::play(const FleetOf& of) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  ::prctl(PR_SET_TIMERSLACK, 1'000UL);
  const hal::InnerClock clock;
  std::vector<std::unique_ptr<sim::Player>> players;
  for (std::size_t i = 0; i < of.count; ++i) {
    const auto phase =
        hal::from_seconds(static_cast<double>(i) / (of.frames_hz * static_cast<double>(of.count)));
    auto player = sim::Player::make({.row = *sim::find_model(of.driver),
                                     .set = of.set,
                                     .faults = {},
                                     .rate_hz = of.rate_hz,
                                     .seed = i + 1,
                                     .streams_unasked = true},
                                    clock.now() + phase);
    if (!player) give_up(of.driver);
    players.push_back(std::move(*player));
  }
  std::vector<pollfd> polls;
  for (const hal::UniqueFd& fd : near_) polls.push_back({fd.get(), POLLIN, 0});
  std::array<std::byte, 4096> heard;
  for (;;) {
    hal::Time next = hal::Time::max();
    for (std::size_t i = 0; i < of.count; ++i) {
      const hal::Time now = clock.now();
      if ((polls[i].revents & POLLIN) != 0) {
        const ssize_t n = ::read(near_[i].get(), heard.data(), heard.size());
        if (n > 0) {
          players[i]->receive(sim::Channel::data,
                              hal::Bytes(heard).first(static_cast<std::size_t>(n)), now);
        }
      }
      next = std::min(next, players[i]->advance(now));
      for (sim::Write write; players[i]->take(now, write);) {
        const sockaddr_in to = loopback(udp_.empty() ? 0 : udp_[i]);
        const ssize_t n = udp_.empty()
                              ? ::write(near_[i].get(), write.bytes.data(), write.bytes.size())
                              : ::sendto(near_[i].get(), write.bytes.data(), write.bytes.size(), 0,
                                         reinterpret_cast<const sockaddr*>(&to), sizeof to);
        if (n > 0) ++*sent_;
      }
    }
    const std::int64_t wait = std::max<std::int64_t>((next - clock.now()).count(), 0);
    const timespec timeout{static_cast<time_t>(wait / 1'000'000'000),
                           static_cast<long>(wait % 1'000'000'000)};
    ::ppoll(polls.data(), polls.size(), &timeout, nullptr);
  }
}

}  // namespace bench
