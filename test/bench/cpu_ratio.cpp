// What the whole daemon costs beyond reading: its CPU with four LD19 lidars on ptys, beside a raw
// epoll loop that only counts their frames. All take turns in short windows, so that the load of
// the machine hits them alike. Prints the medians; LIDARD_STRICT=1 makes a high ratio a failure.
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
#include <vector>

#include "hal/clock.h"
#include "hal/mcap/reader.h"
#include "hal/unix_socket.h"
#include "test/bench/pty_lidars.h"
#include "test/support/temp_dir.h"

namespace {

using namespace std::chrono_literals;

constexpr int kRounds = 5;
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

// Reads the stream as any client would.
class Client final : private hal::mcap::RecordSink {
 public:
  explicit Client(const std::string& socket) {
    const hal::Time end = clock_.now() + kStartsWithin;
    auto fd = hal::connect_unix(socket);
    for (; !fd && clock_.now() < end; fd = hal::connect_unix(socket)) ::poll(nullptr, 0, 10);
    if (!fd) give_up("lidard does not listen");
    fd_ = std::move(*fd);
  }
  void read_for(hal::Duration d) {
    const hal::Time end = clock_.now() + d;
    for (hal::Time now = clock_.now(); now < end; now = clock_.now()) {
      pollfd waiting{fd_.get(), POLLIN, 0};
      const auto left = std::chrono::ceil<std::chrono::milliseconds>(end - now);
      if (::poll(&waiting, 1, static_cast<int>(left.count())) <= 0) continue;
      const ssize_t n = ::read(fd_.get(), buffer_.data(), buffer_.size());
      if (n < 0) continue;
      const auto got = std::span(buffer_).first(static_cast<std::size_t>(n));
      if (n == 0 || !reader_.feed(got, *this)) give_up("the stream has ended");
    }
  }
  std::uint64_t messages() const { return messages_; }

 private:
  void on_record(const hal::mcap::Record& record) override {
    messages_ += record.opcode == hal::mcap::Opcode::message;
  }
  hal::InnerClock clock_;
  hal::UniqueFd fd_;
  hal::mcap::Reader reader_{std::size_t{4} << 20};
  std::vector<std::byte> buffer_ = std::vector<std::byte>(65'536);
  std::uint64_t messages_ = 0;
};

struct Cost {
  double percent, us_per_frame;
};

// `wait(d)` passes the time while the child works.
Cost measure(const bench::PtyLidars& lidars, const Child& child,
             const std::function<void(hal::Duration)>& wait) {
  const hal::InnerClock clock;
  wait(kSettle);
  const hal::Time begin = clock.now();
  const hal::Duration cpu_before = child.cpu();
  const std::uint64_t frames_before = lidars.frames();
  wait(kWindow);
  const double cpu = hal::to_seconds(child.cpu() - cpu_before);
  const double frames = static_cast<double>(lidars.frames() - frames_before);
  if (frames == 0) give_up("the lidars do not write");
  return {100 * cpu / hal::to_seconds(clock.now() - begin), 1e6 * cpu / frames};
}

Cost measure_raw() {
  const bench::PtyLidars lidars;
  const Child reader([&] { read_raw(lidars); });
  return measure(lidars, reader,
                 [](hal::Duration d) { ::poll(nullptr, 0, static_cast<int>(d / 1ms)); });
}

Cost measure_lidard(const std::string& program, const char* latency) {
  const bench::PtyLidars lidars;
  const test::TempDir directory;
  const std::string config = directory.path() + "/lidard.yaml";
  const std::string socket = directory.path() + "/stream.sock";
  std::ofstream file(config);
  file << "stream: {unix: " << socket << "}\nsensors:\n";
  for (std::size_t i = 0; i < lidars.paths().size(); ++i) {
    file << "  lidar" << i << ": {driver: ldrobot, port: 'serial:" << lidars.paths()[i]
         << "', latency: " << latency << "}\n";
  }
  file.close();
  const std::string log = directory.path() + "/log";
  const Child daemon([&] {
    if (!std::freopen(log.c_str(), "w", stderr)) return;
    ::execl(program.c_str(), "lidard", "--config", config.c_str(), nullptr);
  });
  Client client(socket);
  const Cost cost = measure(lidars, daemon, [&](hal::Duration d) { client.read_for(d); });
  // Each lidar sends ten turns a second, as points and as scan; a busy machine loses some.
  const double wanted = 4 * 10 * 2 * hal::to_seconds(kSettle + kWindow) / 4;
  if (static_cast<double>(client.messages()) < wanted) {
    std::fprintf(stderr, "%s: %llu messages, %.0f frames\n", latency,
                 static_cast<unsigned long long>(client.messages()),
                 static_cast<double>(lidars.frames()));
    std::ifstream said(log);
    std::string line;
    while (std::getline(said, line)) std::fprintf(stderr, "%s\n", line.c_str());
    give_up("lidard did not stream");
  }
  return cost;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::ranges::nth_element(values, middle);
  return *middle;
}

class Column {
 public:
  void add(const Cost& cost, const Cost& raw) {
    percent_.push_back(cost.percent);
    us_.push_back(cost.us_per_frame);
    ratio_.push_back(cost.us_per_frame / raw.us_per_frame);
  }
  void print(const char* name) const {
    std::printf("%-18s %8.2f %% %10.2f us/frame %8.2f\n", name, median(percent_), median(us_),
                ratio());
  }
  double ratio() const { return median(ratio_); }

 private:
  std::vector<double> percent_, us_, ratio_;
};

}  // namespace

int main(int argc, char** argv) {
  const std::string program = argc > 1 ? argv[1] : LIDARD_PROGRAM;
  ::signal(SIGPIPE, SIG_IGN);
  Column raw, low, batched;
  for (int round = 0; round < kRounds; ++round) {
    const Cost reference = measure_raw();
    raw.add(reference, reference);
    low.add(measure_lidard(program, "low"), reference);
    batched.add(measure_lidard(program, "batched"), reference);
  }
  std::printf("4 x LD19 on ptys, %d windows of 2 s: CPU of one core, cost, ratio to raw epoll\n",
              kRounds);
  raw.print("raw epoll");
  low.print("lidard, low");
  batched.print("lidard, batched");
  const char* const strict = std::getenv("LIDARD_STRICT");
  if (strict == nullptr || std::string_view(strict) != "1" || low.ratio() <= kHighestRatio)
    return 0;
  std::printf("the ratio is above %.1f\n", kHighestRatio);
  return 1;
}
