// What the whole daemon costs beyond reading: its CPU with four LD19 lidars on ptys, beside a raw
// epoll loop that only counts their frames. All run at the same time, each with four lidars of its
// own, so that the load of the machine hits them alike: windows one after the other differ by a
// factor of three on a busy one. Prints the medians; LIDARD_STRICT=1 makes a high ratio a failure.
#include <poll.h>
#include <signal.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "hal/clock.h"
#include "hal/mcap/reader.h"
#include "hal/unix_socket.h"
#include "test/bench/pty_lidars.h"
#include "test/support/temp_dir.h"

namespace {

using namespace std::chrono_literals;

constexpr int kWindows = 5;
constexpr hal::Duration kSettle = 1s, kWindow = 2s, kStartsWithin = 10s;
constexpr double kHighestRatio = 2.5;

[[noreturn]] void give_up(const char* what) {
  std::fprintf(stderr, "cpu_ratio: %s\n", what);
  std::exit(1);
}

// Runs `body` in a child that dies with this process.
class Child {
 public:
  explicit Child(const std::function<void()>& body) : pid_(::fork()) {
    if (pid_ < 0) give_up("cannot fork");
    if (pid_ > 0) return;
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    ::_exit(1);
  }
  ~Child() {
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  hal::Duration cpu() const {
    clockid_t id{};
    timespec t{};
    if (::clock_getcpuclockid(pid_, &id) != 0 || ::clock_gettime(id, &t) != 0) {
      give_up("the reader has ended");
    }
    return std::chrono::seconds(t.tv_sec) + hal::Duration(t.tv_nsec);
  }

 private:
  pid_t pid_;
};

// Ends when a read fails.
void read_raw(const bench::PtyLidars& lidars) {
  const int epoll = ::epoll_create1(EPOLL_CLOEXEC);
  for (const std::string& path : lidars.paths()) {
    epoll_event event{.events = EPOLLIN, .data = {.fd = ::open(path.c_str(), bench::kFarFlags)}};
    if (::epoll_ctl(epoll, EPOLL_CTL_ADD, event.data.fd, &event) != 0) return;
  }
  std::array<std::byte, 4096> buffer;
  std::array<epoll_event, 16> events;
  std::uint64_t frames = 0;
  for (ssize_t n = 1; n > 0;) {
    const int ready = ::epoll_wait(epoll, events.data(), static_cast<int>(events.size()), -1);
    for (std::size_t i = 0; i < static_cast<std::size_t>(std::max(ready, 0)) && n > 0; ++i) {
      n = ::read(events[i].data.fd, buffer.data(), buffer.size());
      const auto end = buffer.begin() + std::max<ssize_t>(n, 0);
      frames += static_cast<std::uint64_t>(std::count(buffer.begin(), end, bench::kFrameHeader));
    }
  }
  std::fprintf(stderr, "cpu_ratio: no more bytes after %llu frames\n",
               static_cast<unsigned long long>(frames));
}

// A reader in a child, and what it has cost.
class Reader {
 public:
  explicit Reader(const std::function<void(const bench::PtyLidars&)>& body)
      : child_([&] { body(lidars_); }) {}

  // CPU per frame that was written since the call before.
  double us_per_frame() {
    const hal::Duration cpu = child_.cpu();
    const std::uint64_t frames = lidars_.frames();
    if (frames == frames_) give_up("the lidars do not write");
    const double us = hal::to_seconds(cpu - std::exchange(cpu_, cpu)) * 1e6;
    return us / static_cast<double>(frames - std::exchange(frames_, frames));
  }

 private:
  const bench::PtyLidars lidars_;
  const Child child_;
  hal::Duration cpu_{};
  std::uint64_t frames_ = 0;
};

// lidard in a directory of its own.
class Lidard {
 public:
  Lidard(const char* program, const char* latency)
      : reader_([&](const bench::PtyLidars& lidars) { run(program, latency, lidars); }) {}

  Reader& reader() { return reader_; }
  std::string socket() const { return directory_.file("stream.sock"); }

 private:
  void run(const char* program, const char* latency, const bench::PtyLidars& lidars) const {
    const std::string config = directory_.file("lidard.yaml"), log = directory_.file("log");
    std::ofstream file(config);
    file << "stream: {unix: " << socket() << "}\nsensors:\n";
    for (std::size_t i = 0; i < lidars.paths().size(); ++i) {
      file << "  lidar" << i << ": {driver: ldrobot, port: 'serial:" << lidars.paths()[i]
           << "', latency: " << latency << "}\n";
    }
    file.close();
    if (!std::freopen(log.c_str(), "w", stderr)) return;
    ::execl(program, "lidard", "--config", config.c_str(), nullptr);
  }

  const test::TempDir directory_;
  Reader reader_;
};

// Reads the stream as any client would.
class Client final : private hal::mcap::RecordSink {
 public:
  explicit Client(const std::string& socket) {
    const hal::InnerClock clock;
    const hal::Time end = clock.now() + kStartsWithin;
    auto fd = hal::connect_unix(socket);
    for (; !fd && clock.now() < end; fd = hal::connect_unix(socket)) ::poll(nullptr, 0, 10);
    if (!fd) give_up("lidard does not listen");
    fd_ = std::move(*fd);
  }
  int fd() const { return fd_.get(); }
  void read() {
    const ssize_t n = ::read(fd_.get(), buffer_.data(), buffer_.size());
    if (n < 0) return;
    const auto got = std::span(buffer_).first(static_cast<std::size_t>(n));
    if (n == 0 || !reader_.feed(got, *this)) give_up("the stream has ended");
  }
  std::uint64_t messages() const { return messages_; }

 private:
  void on_record(const hal::mcap::Record& record) override {
    messages_ += record.opcode == hal::mcap::Opcode::message;
  }
  hal::UniqueFd fd_;
  hal::mcap::Reader reader_{std::size_t{4} << 20};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(65'536);
  std::uint64_t messages_ = 0;
};

void read_for(hal::Duration d, std::array<Client, 2>& clients) {
  const hal::InnerClock clock;
  const hal::Time end = clock.now() + d;
  for (hal::Time now = clock.now(); now < end; now = clock.now()) {
    std::array polls{pollfd{clients[0].fd(), POLLIN, 0}, pollfd{clients[1].fd(), POLLIN, 0}};
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
    ::poll(polls.data(), polls.size(), static_cast<int>(left.count()));
    for (std::size_t i = 0; i < polls.size(); ++i) {
      if (polls[i].revents != 0) clients[i].read();
    }
  }
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Column {
 public:
  void add(double us, double raw_us) {
    us_.push_back(us);
    ratio_.push_back(us / raw_us);
  }
  void print(const char* name) const {
    constexpr double kFramesPerSecond = 4 * 375;
    std::printf("%-16s %6.2f %% %8.2f us/frame %6.2f\n", name,
                median(us_) * kFramesPerSecond * 1e-4, median(us_), ratio());
  }
  double ratio() const { return median(ratio_); }

 private:
  std::vector<double> us_, ratio_;
};

}  // namespace

int main(int argc, char** argv) {
  const char* const program = argc > 1 ? argv[1] : LIDARD_PROGRAM;
  ::signal(SIGPIPE, SIG_IGN);
  Reader reference(read_raw);
  Lidard low(program, "low"), batched(program, "batched");
  std::array<Client, 2> clients{Client(low.socket()), Client(batched.socket())};
  Column raw_column, low_column, batched_column;
  read_for(kSettle, clients);
  for (int window = -1; window < kWindows; ++window) {
    const double raw_us = reference.us_per_frame();
    const double low_us = low.reader().us_per_frame();
    const double batched_us = batched.reader().us_per_frame();
    if (window >= 0) {  // before, they started
      raw_column.add(raw_us, raw_us);
      low_column.add(low_us, raw_us);
      batched_column.add(batched_us, raw_us);
    }
    if (window + 1 < kWindows) read_for(kWindow, clients);
  }
  // Each lidar sends ten turns a second, as points and as scan; a busy machine loses some.
  const double wanted = 4 * 10 * 2 * kWindows * hal::to_seconds(kWindow) / 4;
  for (const Client& client : clients) {
    if (static_cast<double>(client.messages()) < wanted) give_up("lidard did not stream");
  }
  std::printf("4 x LD19 on ptys, %d windows of 2 s: CPU of one core, cost, ratio to raw epoll\n",
              kWindows);
  raw_column.print("raw epoll");
  low_column.print("lidard, low");
  batched_column.print("lidard, batched");
  const char* const strict = std::getenv("LIDARD_STRICT");
  const bool judged = strict != nullptr && std::string_view(strict) == "1";
  if (!judged || low_column.ratio() <= kHighestRatio) return 0;
  std::printf("the ratio is above %.1f\n", kHighestRatio);
  return 1;
}
