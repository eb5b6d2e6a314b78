#include "hal/tcp_port.h"

#include <arpa/inet.h>
#include <sys/socket.h>

#include <cstring>
#include <optional>

#include "hal/socket.h"
#include "test/support/harness.h"
#include "test/support/loop.h"

using namespace std::chrono_literals;
using hal::Errc;

namespace {

struct Server {
  Server() : fd(::socket(AF_INET, SOCK_STREAM, 0)) {
    const sockaddr_in any = *hal::ipv4("127.0.0.1", 0);
    sockaddr address{};
    std::memcpy(&address, &any, sizeof any);
    (void)!::bind(fd.get(), &address, sizeof any);
    ::listen(fd.get(), 4);
    socklen_t size = sizeof address;
    ::getsockname(fd.get(), &address, &size);
    sockaddr_in own{};
    std::memcpy(&own, &address, sizeof own);
    port = ntohs(own.sin_port);
  }
  void accept() { client.reset(::accept(fd.get(), nullptr, nullptr)); }
  void send(std::string_view text) const {
    ::send(client.get(), text.data(), text.size(), MSG_NOSIGNAL);
  }
  hal::UniqueFd fd, client;
  std::uint16_t port = 0;
};

}  // namespace

TEST_GROUP(TcpPort) {
  test::RealLoop real;
  test::PortLog log{&real.passes};
  Server server;
  std::optional<hal::TcpPort> port;

  hal::TcpPort& open(hal::TcpOptions options = {}) {
    if (options.host.empty()) options.host = "127.0.0.1";
    if (options.port == 0) options.port = server.port;
    port.emplace(real.loop, "tcp:test", options);
    port->open(log);
    return *port;
  }
  hal::TcpPort& connected(hal::TcpOptions options = {}) {
    open(std::move(options));
    CHECK_TRUE(real.run_until([&] { return log.opened + log.faults > 0; }));
    LONGS_EQUAL(1, log.opened);
    server.accept();
    return *port;
  }
  bool fails(Errc code) {
    return real.run_until([&] { return log.faults > 0; }) && log.last_fault.code == code;
  }
};

TEST(TcpPort, KnowsItsOwnEndWhileItIsConnected) {
  const hal::Address own = connected().local();
  CHECK_TRUE((own.ip == std::array<std::uint8_t, 4>{127, 0, 0, 1}));
  CHECK_TRUE(own.port != 0 && own.port != server.port);
  port->close();
  CHECK_TRUE(port->local() == hal::Address{});
}

TEST(TcpPort, ConnectsToAnotherPortWhenToldTo) {
  hal::TcpPort& opened = open({.host = "127.0.0.1", .port = 1});
  opened.connect_to(server.port);
  opened.open(log);
  CHECK_TRUE(real.run_until([&] { return log.opened + log.faults > 0; }));
  LONGS_EQUAL(1, log.opened);
  opened.connect_to(0);
  opened.open(log);
  CHECK_TRUE(fails(Errc::not_found));
}

TEST(TcpPort, ConnectsReadsAndWrites) {
  hal::TcpPort& opened = connected();
  server.send("hello");
  CHECK_TRUE(real.run_until([&] { return log.text == "hello"; }));
  LONGS_EQUAL(0, log.outside_pass);
  CHECK_TRUE(static_cast<bool>(opened.write(test::view_of("answer"))));
  std::string answer(16, '\0');
  LONGS_EQUAL(6, ::recv(server.client.get(), answer.data(), answer.size(), 0));
}

TEST(TcpPort, StampsWithTheTimeOfArrivalNotOfReading) {
  hal::TcpPort& opened = connected();
  server.send("warm");  // the kernel starts stamping with the first who asks
  CHECK_TRUE(real.run_until([&] { return log.text == "warm"; }));
  const hal::Time before = real.clock.now();
  server.send("x");
  const hal::Time after = real.clock.now();
  while (real.clock.now() < after + 20ms) {
  }
  CHECK_TRUE(real.run_until([&] { return log.text == "warmx"; }));
  CHECK_TRUE(log.stamps.back() >= before - 1ms);
  CHECK_TRUE(log.stamps.back() < after + 10ms);
  LONGS_EQUAL(0, opened.stats().replaced_stamps);
}

// The kernel tells when the newest byte of a read came, and older ones keep no stamp of their own.
TEST(TcpPort, StampsWhatIsReadTogetherWithItsNewestByte) {
  connected();
  server.send("warm");
  CHECK_TRUE(real.run_until([&] { return log.text == "warm"; }));
  server.send("first");
  const hal::Time first = real.clock.now();
  while (real.clock.now() < first + 20ms) {
  }
  const hal::Time before = real.clock.now();
  server.send("second");
  CHECK_TRUE(real.run_until([&] { return log.text == "warmfirstsecond"; }));
  CHECK_TRUE(log.stamps.back() >= before - 1ms);
}

TEST(TcpPort, ReadsBatched) {
  connected({.latency = hal::Latency::batched});
  server.send("batched");
  CHECK_TRUE(real.run_until([&] { return log.text == "batched"; }));
}

TEST(TcpPort, ReportsACloseOfTheDeviceAfterItsLastBytes) {
  connected();
  server.send("bye");
  server.client.reset();
  CHECK_TRUE(fails(Errc::closed));
  STRCMP_EQUAL("bye", log.text.c_str());
  STRCMP_CONTAINS("closed by the device", log.last_fault.detail.c_str());
}

TEST(TcpPort, ReportsAReset) {
  connected();
  const linger now{1, 0};
  ::setsockopt(server.client.get(), SOL_SOCKET, SO_LINGER, &now, sizeof now);
  server.client.reset();
  CHECK_TRUE(fails(Errc::closed));
}

TEST(TcpPort, ReportsThatNothingListens) {
  server.fd.reset();
  open();
  CHECK_TRUE(fails(Errc::not_found));
  STRCMP_CONTAINS("nothing listens", log.last_fault.detail.c_str());
}

TEST(TcpPort, GivesUpConnectingAfterAWhile) {
  // A listener whose queue is full does not answer.
  ::listen(server.fd.get(), 0);
  test::PortLog first_log, second_log;
  hal::TcpPort first(real.loop, "tcp:1", {.host = "127.0.0.1", .port = server.port});
  hal::TcpPort second(real.loop, "tcp:2", {.host = "127.0.0.1", .port = server.port});
  first.open(first_log);
  second.open(second_log);
  real.loop.run_for(real.passes, 5ms);
  open({.connect_timeout = 20ms});
  CHECK_TRUE(fails(Errc::timeout));
  LONGS_EQUAL(0, log.opened);
}

TEST(TcpPort, LooksUpNoNames) {
  open({.host = "localhost"});
  LONGS_EQUAL(1, log.faults);
  CHECK_TRUE(log.last_fault.code == Errc::bad_config);
  STRCMP_CONTAINS("names are not looked up", log.last_fault.detail.c_str());
}

TEST(TcpPort, CallsNobodyWhenClosedWhileConnecting) {
  open().close();
  real.loop.run_for(real.passes, 10ms);
  LONGS_EQUAL(0, log.opened + log.faults);
}

TEST(TcpPort, MayDieWhileConnecting) {
  open();
  port.reset();
  real.loop.run_for(real.passes, 10ms);
  LONGS_EQUAL(0, log.opened + log.faults);
}

TEST(TcpPort, OpensAgainAfterAFault) {
  connected();
  server.client.reset();
  CHECK_TRUE(fails(Errc::closed));
  port->open(log);
  CHECK_TRUE(real.run_until([&] { return log.opened == 2; }));
  server.accept();
  server.send("again");
  CHECK_TRUE(real.run_until([&] { return log.text == "again"; }));
}

TEST(TcpPort, WritesNothingBeforeItIsConnected) {
  const hal::Status written = open().write(test::view_of("x"));
  CHECK_TRUE(!written && written.error().code == Errc::closed);
}
