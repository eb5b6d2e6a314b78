#include "test/sim/runner.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "hal/clock.h"
#include "test/support/harness.h"
#include "test/unit/sim_fixture.h"

using std::chrono::milliseconds;
using std::chrono::seconds;

namespace {

constexpr auto kPatience = seconds(10);

// `lidarctl simulate` as a child process.
class Child {
 public:
  explicit Child(const sim::RunOptions& options) {
    int pipe[2];
    CHECK_EQUAL(0, ::pipe(pipe));
    std::fflush(stdout);
    pid_ = ::fork();
    if (pid_ == 0) {
      ::dup2(pipe[1], STDOUT_FILENO);
      ::close(pipe[0]);
      ::_exit(sim::run(options));
    }
    ::close(pipe[1]);
    out_ = pipe[0];
    for (char c = 0; ready.find('\n') == std::string::npos && ::read(out_, &c, 1) == 1;) ready += c;
  }
  ~Child() {
    if (pid_ > 0) ::kill(pid_, SIGKILL), wait();
    ::close(out_);
  }
  void signal(int number) const { ::kill(pid_, number); }
  int end(int number) {
    signal(number);
    return wait();
  }
  int wait() {
    int status = 0;
    ::waitpid(pid_, &status, 0);
    pid_ = -1;
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
  unsigned short tcp_port() const { return port_behind("\"tcp\":\"127.0.0.1:"); }
  unsigned short port() const {  // the number behind the last colon
    return static_cast<unsigned short>(std::atoi(ready.c_str() + ready.find("127.0.0.1:") + 10));
  }

  std::string ready;

 private:
  unsigned short port_behind(const std::string& name) const {
    return static_cast<unsigned short>(std::atoi(ready.c_str() + ready.find(name) + name.size()));
  }

  pid_t pid_ = -1;
  int out_ = -1;
};

// Reads until `count` bytes, an end, or patience is over.
sim::ByteVector read_some(int fd, std::size_t count) {
  const hal::InnerClock clock;
  const hal::Time end = clock.now() + kPatience;
  sim::ByteVector bytes;
  std::byte buffer[4096];
  while (bytes.size() < count && clock.now() < end) {
    pollfd poll{fd, POLLIN, 0};
    if (::poll(&poll, 1, 100) <= 0) continue;
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    if (n <= 0) break;
    bytes.insert(bytes.end(), buffer, buffer + n);
  }
  return bytes;
}

template <class Truth>
bool comes_true(Truth truth) {
  const hal::InnerClock clock;
  const hal::Time end = clock.now() + kPatience;
  while (!truth() && clock.now() < end) ::poll(nullptr, 0, 2);
  return truth();
}

int open_pty(const std::string& link) {
  return ::open(link.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK);
}

sockaddr_in loopback(unsigned short port) {
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(port);
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  return address;
}

int connect_to(int type, unsigned short port) {
  const int fd = ::socket(AF_INET, type, 0);
  const sockaddr_in address = loopback(port);
  CHECK_EQUAL(0, ::connect(fd, reinterpret_cast<const sockaddr*>(&address), sizeof address));
  return fd;
}

// One request of HTTP on a connection of its own; all that comes until the device hangs up.
std::string command(unsigned short port, const std::string& what) {
  const int fd = connect_to(SOCK_STREAM, port);
  const std::string request = "GET /cmd/" + what + " HTTP/1.1\r\n\r\n";
  CHECK_EQUAL(request.size(), ::send(fd, request.data(), request.size(), 0));
  std::string answer;
  for (const std::byte b : read_some(fd, 100'000)) answer += static_cast<char>(b);
  ::close(fd);
  return answer;
}

std::string handle_in(const std::string& answer) {
  const std::size_t at = answer.find("\"handle\":\"") + 10;
  return answer.substr(at, answer.find('"', at) - at);
}

}  // namespace

TEST_GROUP(SimRunner) {
  void setup() override {
    char name[] = "/tmp/sim_runner_XXXXXX";
    CHECK_TRUE(::mkdtemp(name) != nullptr);
    folder = name;
    options.driver = "ldrobot";
  }
  void teardown() override {
    ::unlink((folder + "/truth").c_str());
    ::rmdir(folder.c_str());
  }
  bool is_there(const std::string& path) const {  // the link itself, wherever it leads
    struct stat found {};
    return ::lstat(path.c_str(), &found) == 0;
  }

  std::string folder;
  sim::RunOptions options;
};

TEST(SimRunner, APtyStreamsToWhoeverOpensItAgainAndAgain) {
  options.pty = folder + "/lidar";
  Child child(options);
  STRCMP_EQUAL(
      ("{\"type\":\"ready\",\"pty\":\"" + options.pty + "\",\"udp\":null,\"tcp\":null}\n").c_str(),
      child.ready.c_str());
  for (int turn = 0; turn < 3; ++turn) {
    const int fd = open_pty(options.pty);
    CHECK_TRUE(fd >= 0);
    const auto bytes = read_some(fd, 470);
    CHECK_TRUE(bytes.size() >= 470);
    ::close(fd);
  }
  CHECK_EQUAL(0, child.end(SIGTERM));
  CHECK_FALSE(is_there(options.pty));
}

TEST(SimRunner, TheHostSeesAHangUpWhenTheDeviceGoes) {
  options.pty = folder + "/lidar";
  Child child(options);
  const int fd = open_pty(options.pty);
  CHECK_TRUE(read_some(fd, 47).size() >= 47);
  CHECK_EQUAL(0, child.end(SIGINT));
  CHECK_TRUE(comes_true([&] {
    char buffer[4096];
    const ssize_t n = ::read(fd, buffer, sizeof buffer);
    return n == 0 || (n < 0 && errno == EIO);
  }));
  ::close(fd);
}

TEST(SimRunner, UnplugTakesTheLinkAwayAndBringsItBack) {
  options.pty = folder + "/lidar";
  options.faults = {"unplug@0.2+0.3"};
  Child child(options);
  CHECK_TRUE(comes_true([&] { return !is_there(options.pty); }));
  CHECK_TRUE(comes_true([&] { return is_there(options.pty); }));
  const int fd = open_pty(options.pty);
  CHECK_TRUE(read_some(fd, 47).size() >= 47);
  ::close(fd);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, ADialogueWorksThroughThePty) {
  options.driver = "microstrain_mip";
  options.pty = folder + "/imu";
  Child child(options);
  const int fd = open_pty(options.pty);
  const auto ping = sim_test::bytes_of("75 65 01 02 02 01 E0 C6");
  CHECK_EQUAL(8, ::write(fd, ping.data(), ping.size()));
  STRCMP_EQUAL("75 65 01 04 04 F1 01 00 D5 6A", sim_test::hex_of(read_some(fd, 10)).c_str());
  ::close(fd);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, ACommandWrittenJustBeforeTheHostHangsUpIsHeard) {
  options.pty = folder + "/lidar";
  options.truth = folder + "/truth";
  options.set = {{"model", "LD14P"}};
  Child child(options);
  int fd = open_pty(options.pty);
  CHECK_TRUE(read_some(fd, 47).size() >= 47);
  ::poll(nullptr, 0, 50);
  const auto stop = sim_test::bytes_of("54 A1 04 00 00 00 00 4A");
  CHECK_EQUAL(8, ::write(fd, stop.data(), stop.size()));
  ::close(fd);
  const auto size = [&] {
    struct stat found {};
    ::stat(options.truth.c_str(), &found);
    return found.st_size;
  };
  CHECK_TRUE(comes_true([&] {
    const auto before = size();
    ::poll(nullptr, 0, 60);
    return size() == before;
  }));
  // Nor does the next host meet what the last one left unread.
  fd = open_pty(options.pty);
  char byte = 0;
  CHECK_TRUE(::read(fd, &byte, 1) < 0 && errno == EAGAIN);
  ::close(fd);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, AWrongBaudIsGarbledUntilTheHostFollows) {
  options.driver = "microstrain_mip";
  options.pty = folder + "/imu";
  options.faults = {"baud=57600"};
  Child child(options);
  const int fd = open_pty(options.pty);
  const auto ping = sim_test::bytes_of("75 65 01 02 02 01 E0 C6");
  const auto set_baud = [fd](speed_t baud) {
    termios t{};
    ::tcgetattr(fd, &t);
    ::cfsetspeed(&t, baud);
    ::tcsetattr(fd, TCSANOW, &t);
  };
  set_baud(B115200);
  CHECK_EQUAL(8, ::write(fd, ping.data(), ping.size()));
  pollfd quiet{fd, POLLIN, 0};
  CHECK_EQUAL(0, ::poll(&quiet, 1, 100));
  set_baud(B57600);
  CHECK_EQUAL(8, ::write(fd, ping.data(), ping.size()));
  STRCMP_EQUAL("75 65 01 04 04 F1 01 00 D5 6A", sim_test::hex_of(read_some(fd, 10)).c_str());
  ::close(fd);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, UdpAnswersWhoAsked) {
  options.udp = "127.0.0.1:0";
  Child child(options);
  CHECK_TRUE(child.ready.find("\"pty\":null,\"udp\":\"127.0.0.1:") != std::string::npos);
  const int fd = connect_to(SOCK_DGRAM, child.port());
  CHECK_EQUAL(1, ::send(fd, "?", 1, 0));
  CHECK_EQUAL(47, read_some(fd, 1).size());
  ::close(fd);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, UdpStreamsUnaskedToAnAddress) {
  const int fd = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  CHECK_EQUAL(0, ::bind(fd, reinterpret_cast<const sockaddr*>(&address), length));
  ::getsockname(fd, reinterpret_cast<sockaddr*>(&address), &length);
  options.to = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
  Child child(options);
  CHECK_EQUAL(47, read_some(fd, 1).size());
  ::close(fd);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, TcpServesClientsThatComeAndGo) {
  options.tcp = "127.0.0.1:0";
  Child child(options);
  for (int turn = 0; turn < 2; ++turn) {
    const int one = connect_to(SOCK_STREAM, child.port());
    const int two = connect_to(SOCK_STREAM, child.port());
    CHECK_TRUE(read_some(one, 470).size() >= 470);
    CHECK_TRUE(read_some(two, 470).size() >= 470);
    ::close(one);
    ::close(two);
  }
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, ATcpReplyGoesToTheClientThatAsked) {
  options.driver = "microstrain_mip";
  options.tcp = "127.0.0.1:0";
  Child child(options);
  const int asks = connect_to(SOCK_STREAM, child.port());
  const int listens = connect_to(SOCK_STREAM, child.port());
  const auto ping = sim_test::bytes_of("75 65 01 02 02 01 E0 C6");
  CHECK_EQUAL(8, ::send(asks, ping.data(), ping.size(), 0));
  CHECK_EQUAL(10, read_some(asks, 10).size());
  pollfd quiet{listens, POLLIN, 0};
  CHECK_EQUAL(0, ::poll(&quiet, 1, 50));
  ::close(asks);
  ::close(listens);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, AUdpReplyGoesToTheAskerWhileDataGoElsewhere) {
  options.driver = "microstrain_mip";
  options.udp = "127.0.0.1:0";
  options.to = "127.0.0.1:9";
  Child child(options);
  const int fd = connect_to(SOCK_DGRAM, child.port());
  const auto ping = sim_test::bytes_of("75 65 01 02 02 01 E0 C6");
  CHECK_EQUAL(8, ::send(fd, ping.data(), ping.size(), 0));
  CHECK_EQUAL(10, read_some(fd, 10).size());
  ::close(fd);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, ADeviceIsToldWhereItsDatagramsGoAndHangsUpBehindEachAnswer) {
  const int data = ::socket(AF_INET, SOCK_DGRAM, 0);
  sockaddr_in address = loopback(0);
  socklen_t length = sizeof address;
  CHECK_EQUAL(0, ::bind(data, reinterpret_cast<const sockaddr*>(&address), length));
  ::getsockname(data, reinterpret_cast<sockaddr*>(&address), &length);
  options.driver = "pepperl_fuchs";
  options.tcp = "127.0.0.1:0";
  Child child(options);
  const std::string handle = handle_in(
      command(child.tcp_port(), "request_handle_udp?address=127.0.0.1&packet_type=C&port=" +
                                    std::to_string(ntohs(address.sin_port))));
  command(child.tcp_port(), "start_scanoutput?handle=" + handle);
  CHECK_EQUAL(1404, read_some(data, 1).size());
  ::close(data);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, ADeviceOpensATcpPortForItsData) {
  options.driver = "pepperl_fuchs";
  options.tcp = "127.0.0.1:0";
  Child child(options);
  const std::string answer = command(child.tcp_port(), "request_handle_tcp?packet_type=C");
  const auto port = std::atoi(answer.c_str() + answer.find("\"port\":") + 7);
  const int data = connect_to(SOCK_STREAM, static_cast<unsigned short>(port));
  command(child.tcp_port(), "start_scanoutput?handle=" + handle_in(answer));
  CHECK_TRUE(read_some(data, 20'000).size() >= 20'000);
  command(child.tcp_port(), "release_handle?handle=" + handle_in(answer));
  read_some(data, 1'000'000);  // to the end
  char byte = 0;
  CHECK_EQUAL(0, ::read(data, &byte, 1));
  ::close(data);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, EndsByItselfAndLeavesTheTruth) {
  options.pty = folder + "/lidar";
  options.truth = folder + "/truth";
  options.for_s = 0.2;
  Child child(options);
  CHECK_EQUAL(0, child.wait());
  CHECK_FALSE(is_there(options.pty));
  std::FILE* const file = std::fopen(options.truth.c_str(), "r");
  char line[4096];
  int lines = 0;
  while (std::fgets(line, sizeof line, file) != nullptr) {
    CHECK_EQUAL(0, std::strncmp(line, "{\"type\":\"scan\"", 14));
    ++lines;
  }
  std::fclose(file);
  CHECK_TRUE(lines >= 60 && lines <= 75);
}

TEST(SimRunner, WhatWasMissedWhileStoppedIsNotSentLater) {
  options.pty = folder + "/lidar";
  Child child(options);
  const int fd = open_pty(options.pty);
  CHECK_TRUE(read_some(fd, 47).size() >= 47);
  child.signal(SIGSTOP);
  ::poll(nullptr, 0, 900);
  char buffer[65536];
  const auto drain = [&] {
    std::size_t bytes = 0;
    for (ssize_t n = 1; n > 0;) {
      n = ::read(fd, buffer, sizeof buffer);
      if (n > 0) bytes += static_cast<std::size_t>(n);
    }
    return bytes;
  };
  drain();
  const hal::InnerClock clock;
  const hal::Time woken = clock.now();
  child.signal(SIGCONT);
  ::poll(nullptr, 0, 50);
  const std::size_t bytes = drain();
  // 375 frames of 47 bytes a second since it woke, and the last 100 ms of the sleep.
  const double fair_s = hal::to_seconds(clock.now() - woken) + 0.1 + 0.02;
  CHECK_TRUE(static_cast<double>(bytes) < fair_s * 375.0 * 47.0);
  ::close(fd);
  CHECK_EQUAL(0, child.end(SIGTERM));
}

TEST(SimRunner, RefusesWhatCannotWorkWithCode2) {
  options.pty = folder + "/lidar";
  const auto code = [&] { return Child(options).wait(); };
  options.faults = {"nonsense"};
  CHECK_EQUAL(2, code());
  options.faults.clear();
  options.set = {{"model", "LD07"}};
  CHECK_EQUAL(2, code());
  options.set.clear();
  options.udp = "127.0.0.1:0";
  CHECK_EQUAL(2, code());
  options.udp.clear();
  options.driver = "toaster";
  CHECK_EQUAL(2, code());
  options.driver = "ldrobot";
  options.pty = folder + "/no/such/folder";
  CHECK_EQUAL(2, code());
}
