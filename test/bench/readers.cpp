#include "test/bench/readers.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <fstream>

#include "hal/unix_socket.h"

namespace bench {
namespace {

constexpr hal::Duration kStartsWithin = std::chrono::seconds(10);

}  // namespace

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "cpu_ratio: %s\n", what);
  std::exit(1);
}

Child::Child(const std::function<void()>& body) : pid_(::fork()) {
  if (pid_ < 0) give_up("cannot fork");
  if (pid_ > 0) return;
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  body();
  ::_exit(1);
}

Child::~Child() {
  ::kill(pid_, SIGKILL);
  ::waitpid(pid_, nullptr, 0);
}

hal::Duration Child::cpu() const {
  clockid_t id{};
  timespec t{};
  if (::clock_getcpuclockid(pid_, &id) != 0 || ::clock_gettime(id, &t) != 0) {
    give_up("the reader has ended");
  }
  return std::chrono::seconds(t.tv_sec) + hal::Duration(t.tv_nsec);
}

void read_raw(const Fleet& fleet, hal::Duration period) {
  const std::vector<int> fds = fleet.open_raw();
  std::array<std::byte, 65'536> buffer;
  const auto read = [&](int fd) {
    iovec into{buffer.data(), buffer.size()};
    msghdr message{};
    message.msg_iov = &into;
    message.msg_iovlen = 1;
    const bool is_udp = fleet.ports().front().starts_with("udp");
    const ssize_t n = is_udp ? ::recvmsg(fd, &message, 0) : ::read(fd, into.iov_base, into.iov_len);
    return n > 0 || (n < 0 && errno == EAGAIN);
  };
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  const int timer = ::timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC);
  const auto watch = [epoll](int fd) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event) != 0) give_up("cannot wait");
  };
  const bool batched = period > hal::Duration{};
  if (batched) {
    const timespec each{0, static_cast<long>(period.count())};
    const itimerspec times{each, each};
    ::timerfd_settime(timer, 0, &times, nullptr);
    watch(timer);
  } else {
    for (const int fd : fds) watch(fd);
  }
  std::array<epoll_event, 16> events;
  for (bool goes_on = true; goes_on;) {
    const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    if (!batched) {
      for (int i = 0; i < ready; ++i) goes_on &= read(events[static_cast<std::size_t>(i)].data.fd);
      continue;
    }
    std::uint64_t expired = 0;
    goes_on = ::read(timer, &expired, sizeof expired) > 0;
    for (const int fd : fds) goes_on &= read(fd);
  }
  std::fprintf(stderr, "cpu_ratio: no more bytes\n");
}

Cost Reader::cost() {
  const hal::Duration cpu = child_.cpu();
  const hal::Time now = hal::InnerClock().now();
  const std::uint64_t frames = fleet_.frames();
  if (frames == frames_) give_up("the devices send nothing");
  const double us = hal::to_seconds(cpu - std::exchange(cpu_, cpu)) * 1e6;
  return {us / static_cast<double>(frames - std::exchange(frames_, frames)),
          us * 1e-4 / hal::to_seconds(now - std::exchange(read_at_, now))};
}

void Lidard::run(const char* program, const char* driver, const std::string& keys,
                 const Fleet& fleet) const {
  const std::string config = directory_.file("lidard.yaml"), log = directory_.file("log");
  std::ofstream file(config);
  file << "stream: {unix: " << socket() << "}\nsensors:\n";
  for (std::size_t i = 0; i < fleet.ports().size(); ++i) {
    file << "  s" << i << ": {driver: " << driver << ", port: '" << fleet.ports()[i] << "', "
         << keys << "}\n";
  }
  file.close();
  if (!std::freopen(log.c_str(), "w", stderr)) return;
  ::execl(program, "lidard", "--config", config.c_str(), nullptr);
}

Client::Client(const std::string& socket) {
  const hal::InnerClock clock;
  const hal::Time end = clock.now() + kStartsWithin;
  auto fd = hal::connect_unix(socket);
  for (; !fd && clock.now() < end; fd = hal::connect_unix(socket)) ::poll(nullptr, 0, 10);
  if (!fd) give_up("lidard does not listen");
  fd_ = std::move(*fd);
}

void Client::read() {
  const ssize_t n = ::read(fd_.get(), buffer_.data(), buffer_.size());
  if (n < 0) return;
  const auto got = std::span(buffer_).first(static_cast<std::size_t>(n));
  if (n == 0 || !reader_.feed(got, *this)) give_up("the stream has ended");
}

}  // namespace bench
