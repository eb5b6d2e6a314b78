// The simulated RPLIDAR on a real pty: one dialogue of a small client, bounded in time.
#include "test/support/harness.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <string>

#include "test/sim/runner.h"
#include "test/unit/sim_rplidar_bench.h"
#include "test/unit/sim_rplidar_decoders.h"

using rplidar_test::bytes;
using rplidar_test::check_bytes;
using sim::ByteVector;

TEST_GROUP(SimRplidarPty) {
  std::string link = "/tmp/lidard_sim_rplidar_" + std::to_string(::getpid());
  pid_t child = -1;
  int port = -1;

  void setup() override {
    std::array<int, 2> ready{};
    CHECK_EQUAL(0, ::pipe(ready.data()));
    child = ::fork();
    if (child == 0) play(ready);
    ::close(ready[1]);
    pollfd line{ready[0], POLLIN, 0};
    CHECK_EQUAL(1, ::poll(&line, 1, 10'000));
    ::close(ready[0]);
    port = ::open(link.c_str(), O_RDWR | O_NOCTTY | O_NONBLOCK);
    CHECK_TRUE(port >= 0);
    termios raw{};
    ::tcgetattr(port, &raw);
    ::cfmakeraw(&raw);
    ::tcsetattr(port, TCSANOW, &raw);
  }
  void teardown() override {
    if (port >= 0) ::close(port);
    if (child > 0) ::kill(child, SIGTERM), ::waitpid(child, nullptr, 0);
  }
  [[noreturn]] void play(const std::array<int, 2>& ready) const {
    ::dup2(ready[1], STDOUT_FILENO);
    sim::RunOptions options;
    options.driver = "rplidar";
    options.pty = link;
    options.for_s = 20.0;
    ::_exit(sim::run(options));
  }
  void send(const ByteVector& request) const {
    CHECK_EQUAL(static_cast<ssize_t>(request.size()),
                ::write(port, request.data(), request.size()));
  }
  // The next `count` bytes; fewer when they do not come.
  ByteVector receive(std::size_t count) const {
    ByteVector got(count);
    std::size_t have = 0;
    while (have < count) {
      pollfd readable{port, POLLIN, 0};
      if (::poll(&readable, 1, 10'000) != 1) break;
      const ssize_t n = ::read(port, got.data() + have, count - have);
      if (n <= 0) break;
      have += static_cast<std::size_t>(n);
    }
    got.resize(have);
    return got;
  }
};

TEST(SimRplidarPty, AClientAsksScansAndStops) {
  send(bytes({0xA5, 0x52}));
  check_bytes(bytes({0xA5, 0x5A, 3, 0, 0, 0, 0x06, 0, 0, 0}), receive(10));
  send(bytes({0xA5, 0x82, 0x05, 3, 0, 0, 0, 0, 0x21}));
  check_bytes(bytes({0xA5, 0x5A, 0x84, 0, 0, 0x40, 0x84}), receive(7));
  ByteVector before = receive(132);
  for (int i = 0; i < 8; ++i) {
    const ByteVector next = receive(132);
    LONGS_EQUAL(132, next.size());
    LONGS_EQUAL(96, rplidar_test::decode_rplidar(0x84, before, next).size());
    before = next;
  }
  send(bytes({0xA5, 0x25}));
  send(bytes({0xA5, 0x50}));
  ByteVector tail;  // what was on its way when STOP arrived, then the answer
  const ByteVector answer = bytes({0xA5, 0x5A, 0x14, 0, 0, 0, 0x04});
  const auto has_answer = [&] {
    return std::search(tail.begin(), tail.end(), answer.begin(), answer.end()) != tail.end();
  };
  while (!has_answer() && tail.size() < 1000) {
    const ByteVector one = receive(1);
    CHECK_EQUAL(1U, one.size());
    tail.push_back(one[0]);
  }
  CHECK_TRUE(has_answer());
}
