// What has piled up while the process was held up is read at once, by every kind of port, and from
// then on each pass ends with nothing left: no data are older than one read.
#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstring>

#include "hal/serial_port.h"
#include "hal/socket.h"
#include "hal/tcp_port.h"
#include "hal/udp_port.h"
#include "test/support/harness.h"
#include "test/support/loop.h"

using namespace std::chrono_literals;

namespace {

constexpr int kBudget = hal::FdPort::kReadsPerPass;

struct Watch final : hal::PassListener {
  explicit Watch(const hal::Port& watched) : port(watched) {}
  void on_pass_begin(hal::Time) override { ++passes; }
  void on_pass_end(hal::Time) override { drained = port.drained(); }
  const hal::Port& port;
  int passes = 0;
  bool drained = true;
};

sockaddr address_of(const char* host, std::uint16_t port) {
  const sockaddr_in to = *hal::ipv4(host, port);
  sockaddr address{};
  std::memcpy(&address, &to, sizeof to);
  return address;
}

std::string message(int i) { return hal::Text<16>::of("%07d;", i).c_str(); }

}  // namespace

TEST_GROUP(Backlog) {
  test::RealLoop real;
  test::PortLog log;
  std::string sent;
  int count = 0;

  template <class Send>
  void send_one(Send send) {
    const std::string text = message(count++);
    sent += text;
    send(text);
  }
  // Returns the passes that it took until all that was sent was read.
  int read_all(Watch & watch) {
    const int before = watch.passes;
    const hal::Time end = real.clock.now() + 10s;
    while (log.text != sent && real.clock.now() < end) real.loop.run_for(watch, 2ms);
    STRCMP_EQUAL(sent.c_str(), log.text.c_str());
    return watch.passes - before;
  }
  // `held_up`: messages that wait; `passes`: in which they are read at the latest.
  template <class Send>
  void check(const hal::Port& port, int held_up, int passes, Send send) {
    Watch watch(port);
    for (int i = 0; i < held_up; ++i) send_one(send);
    CHECK_TRUE(read_all(watch) <= passes);
    for (int i = 0; i < 50; ++i) {
      send_one(send);
      read_all(watch);
      CHECK_TRUE(watch.drained);
    }
  }
};

TEST(Backlog, OfASerialPortIsReadAtOnce) {
  test::Pty pty;
  hal::SerialPort port(real.loop, {.path = pty.path});
  port.open(log);
  // The kernel hands over what it holds in pieces of its own.
  check(port, 400, kBudget, [&](const std::string& text) { pty.write(text); });
}

TEST(Backlog, OfAUdpPortIsReadByTheBudgetPassAfterPass) {
  hal::UdpPort port(real.loop, "udp:test", {.bind = "127.0.0.1"});
  port.open(log);
  const hal::UniqueFd device(::socket(AF_INET, SOCK_DGRAM, 0));
  const sockaddr to = address_of("127.0.0.1", port.local().port);
  check(port, 10 * kBudget, 11, [&](const std::string& text) {
    ::sendto(device.get(), text.data(), text.size(), 0, &to, sizeof to);
  });
}

TEST(Backlog, OfATcpPortIsReadAtOnce) {
  const hal::UniqueFd server(::socket(AF_INET, SOCK_STREAM, 0));
  sockaddr own = address_of("127.0.0.1", 0);
  CHECK_EQUAL(0, ::bind(server.get(), &own, sizeof own));
  CHECK_EQUAL(0, ::listen(server.get(), 1));
  socklen_t size = sizeof own;
  ::getsockname(server.get(), &own, &size);
  sockaddr_in in{};
  std::memcpy(&in, &own, sizeof in);
  hal::TcpPort port(real.loop, "tcp:test", {.host = "127.0.0.1", .port = ntohs(in.sin_port)});
  port.open(log);
  CHECK_TRUE(real.run_until([&] { return log.opened > 0; }));
  const hal::UniqueFd device(::accept(server.get(), nullptr, nullptr));
  // More than one read takes.
  check(port, 20'000, 10, [&](const std::string& text) {
    CHECK_EQUAL(static_cast<ssize_t>(text.size()),
                ::send(device.get(), text.data(), text.size(), MSG_NOSIGNAL));
  });
}
