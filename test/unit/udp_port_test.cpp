#include "hal/udp_port.h"

#include <arpa/inet.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "test/support/allocation_counter.h"
#include "test/support/harness.h"
#include "test/support/loop.h"
#include "test/support/manual_clock.h"

using namespace std::chrono_literals;
using hal::Errc;

namespace {

// The other end: a plain socket bound to an address of the loopback network.
struct Peer {
  explicit Peer(const char* host = "127.0.0.1") : fd(::socket(AF_INET, SOCK_DGRAM, 0)) {
    const timeval patience{10, 0};
    ::setsockopt(fd.get(), SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    const sockaddr_in any = *hal::ipv4(host, 0);
    sockaddr address{};
    std::memcpy(&address, &any, sizeof any);
    (void)!::bind(fd.get(), &address, sizeof any);
    socklen_t size = sizeof address;
    ::getsockname(fd.get(), &address, &size);
    std::memcpy(&own, &address, sizeof own);
  }
  void send(const hal::UdpPort& port, std::string_view text, const char* host = "127.0.0.1") {
    const sockaddr_in to = *hal::ipv4(host, port.local().port);
    sockaddr address{};
    std::memcpy(&address, &to, sizeof to);
    ::sendto(fd.get(), text.data(), text.size(), 0, &address, sizeof to);
  }
  std::uint16_t port() const { return ntohs(own.sin_port); }
  hal::UniqueFd fd;
  sockaddr_in own{};
};

}  // namespace

TEST_GROUP(UdpPort) {
  test::RealLoop real;
  test::PortLog log{&real.passes};
  Peer peer;
  std::optional<hal::UdpPort> port;

  hal::UdpPort& open(const hal::UdpOptions& options = {.bind = "127.0.0.1"}) {
    port.emplace(real.loop, "udp:test", options);
    port->open(log);
    return *port;
  }
  bool received(std::string_view text) {
    return real.run_until([&] { return log.text == text; });
  }
};

TEST(UdpPort, DeliversOneChunkPerDatagramInsideAPass) {
  hal::UdpPort& opened = open();
  LONGS_EQUAL(1, log.opened);
  peer.send(opened, "one");
  peer.send(opened, "two");
  CHECK_TRUE(received("onetwo"));
  LONGS_EQUAL(2, log.chunks);
  LONGS_EQUAL(0, log.outside_pass);
  CHECK_TRUE(opened.drained());
}

TEST(UdpPort, StampsWithTheTimeOfArrivalNotOfReading) {
  hal::UdpPort& opened = open();
  peer.send(opened, "warm");  // the kernel starts stamping with the first who asks
  CHECK_TRUE(received("warm"));
  const hal::Time before = real.clock.now();
  peer.send(opened, "x");
  const hal::Time after = real.clock.now();
  while (real.clock.now() < after + 20ms) {
  }
  CHECK_TRUE(received("warmx"));
  CHECK_TRUE(log.stamps.back() >= before - 1ms);
  CHECK_TRUE(log.stamps.back() < after + 10ms);
  LONGS_EQUAL(0, opened.stats().replaced_stamps);
}

TEST(UdpPort, CountsEmptyDatagramsAndGoesOn) {
  hal::UdpPort& opened = open();
  peer.send(opened, "");
  peer.send(opened, "x");
  CHECK_TRUE(received("x"));
  LONGS_EQUAL(1, log.chunks);
  LONGS_EQUAL(1, opened.stats().empty_datagrams);
}

TEST(UdpPort, TakesTheLongestDatagramWhole) {
  hal::UdpPort& opened = open();
  const std::string longest(65'507, 'l');
  peer.send(opened, longest);
  CHECK_TRUE(received(longest));
}

TEST(UdpPort, RefusesOtherSendersAndNamesTheLast) {
  hal::UdpPort& opened = open({.bind = "127.0.0.1", .from = "127.0.0.1"});
  Peer stranger("127.0.0.2");
  stranger.send(opened, "evil");
  peer.send(opened, "good");
  CHECK_TRUE(received("good"));
  LONGS_EQUAL(1, opened.stats().rejected_datagrams);
  STRCMP_CONTAINS("127.0.0.2:", opened.stats().last_rejected.c_str());
}

TEST(UdpPort, TakesAnswersOfItsPeerOnlyFromAnyPort) {
  hal::UdpPort& opened = open({.peer = "127.0.0.1", .peer_port = peer.port()});
  Peer stranger("127.0.0.2"), second;
  CHECK_TRUE(static_cast<bool>(opened.write(test::view_of("ask"))));
  std::string asked(16, '\0');
  LONGS_EQUAL(3, ::recv(peer.fd.get(), asked.data(), asked.size(), 0));
  stranger.send(opened, "evil");
  peer.send(opened, "a");
  second.send(opened, "b");
  CHECK_TRUE(received("ab"));
  LONGS_EQUAL(1, opened.stats().rejected_datagrams);
}

TEST(UdpPort, TakesThePeerThatIsNotThereForSilent) {
  hal::UdpPort& opened = open({.peer = "127.0.0.1", .peer_port = 9});
  for (int i = 0; i < 3; ++i) {
    CHECK_TRUE(static_cast<bool>(opened.write(test::view_of("ask"))));
    real.loop.run_for(real.passes, 2ms);
  }
  LONGS_EQUAL(0, log.faults);
}

TEST(UdpPort, CannotWriteWithoutAPeer) {
  const hal::Status written = open().write(test::view_of("x"));
  CHECK_TRUE(!written);
  LONGS_EQUAL(1, port->stats().dropped_writes);
}

TEST(UdpPort, CountsWhatTheKernelDropped) {
  hal::UdpPort& opened = open({.bind = "127.0.0.1", .receive_buffer = 4096});
  const std::string big(1000, 'x');
  for (int i = 0; i < 100; ++i) peer.send(opened, big);
  CHECK_TRUE(real.run_until([&] { return log.chunks > 0 && opened.drained(); }));
  peer.send(opened, "end");
  const std::size_t kept = log.text.size();
  CHECK_TRUE(real.run_until([&] { return log.text.size() == kept + 3; }));
  LONGS_EQUAL(101 - log.chunks, log.lost);
  LONGS_EQUAL(log.lost, opened.stats().lost_datagrams);
  CHECK_TRUE(log.lost > 0);
  const std::uint32_t told = log.lost;
  peer.send(opened, "!");
  CHECK_TRUE(real.run_until([&] { return log.text.size() == kept + 4; }));
  LONGS_EQUAL(told, log.lost);
}

TEST(UdpPort, TellsTheBufferItWasGrantedAndHowToGetMore) {
  hal::UdpPort& small = open({.bind = "127.0.0.1", .receive_buffer = 16'384});
  LONGS_EQUAL(16'384, small.stats().receive_buffer);
  STRCMP_EQUAL("", small.stats().note.c_str());
  hal::UdpPort& huge = open({.bind = "127.0.0.1", .receive_buffer = 1 << 29});
  CHECK_TRUE(huge.stats().receive_buffer < (1u << 29));
  STRCMP_CONTAINS("net.core.rmem_max", huge.stats().note.c_str());
}

TEST(UdpPort, NamesAPortThatIsTaken) {
  open({.bind = "127.0.0.1", .port = peer.port()});
  LONGS_EQUAL(1, log.faults);
  CHECK_TRUE(log.last_fault.code == Errc::busy);
  STRCMP_CONTAINS("udp:test", log.last_fault.detail.c_str());
}

TEST(UdpPort, NamesWhoHasThePort) {
  open({.bind = "127.0.0.1", .port = peer.port()});
  const auto pid = hal::Text<32>::of("(pid %d)", static_cast<int>(::getpid()));
  STRCMP_CONTAINS("udp:test: already used by ", log.last_fault.detail.c_str());
  STRCMP_CONTAINS(pid.c_str(), log.last_fault.detail.c_str());
  open({.port = peer.port()});  // any address
  STRCMP_CONTAINS(pid.c_str(), log.last_fault.detail.c_str());
}

TEST(UdpPort, NamesAnAddressThatIsNotOurs) {
  open({.bind = "192.0.2.1"});
  CHECK_TRUE(log.last_fault.code == Errc::not_found);
}

TEST(UdpPort, KnowsTheAddressThatTheDeviceSeesItAt) {
  CHECK_TRUE((open().local().ip == std::array<std::uint8_t, 4>{127, 0, 0, 1}));
  CHECK_TRUE(port->local().port > 0);
  CHECK_FALSE(open({}).local().has_ip());
  CHECK_TRUE((open({.from = "127.0.0.5"}).local().ip == std::array<std::uint8_t, 4>{127, 0, 0, 1}));
  CHECK_TRUE((open({.peer = "127.0.0.5", .peer_port = 9}).local().ip ==
              std::array<std::uint8_t, 4>{127, 0, 0, 1}));
}

TEST(UdpPort, JoinsAMulticastGroup) {
  hal::UdpPort& opened = open({.bind = "239.77.1.2"});
  if (log.faults > 0) return;  // no route for multicast on this machine
  Peer sender("0.0.0.0");
  sender.send(opened, "all", "239.77.1.2");
  CHECK_TRUE(received("all"));
}

TEST(UdpPort, HearsBroadcastsWhenBoundToAny) {
  hal::UdpPort& opened = open({});
  const int on = 1;
  ::setsockopt(peer.fd.get(), SOL_SOCKET, SO_BROADCAST, &on, sizeof on);
  peer.send(opened, "all", "127.255.255.255");
  CHECK_TRUE(received("all"));
}

TEST(UdpPort, ReadsItsBudgetInAPassAndSaysThatMoreMayBeThere) {
  struct PassEnds final : hal::PassListener {
    void on_pass_begin(hal::Time) override {}
    void on_pass_end(hal::Time) override { drained_at_end.push_back(port->drained()); }
    hal::UdpPort* port = nullptr;
    std::vector<bool> drained_at_end;
  } ends;
  ends.port = &open();
  for (int i = 0; i < hal::FdPort::kReadsPerPass + 1; ++i) peer.send(*port, "x");
  for (int i = 0; i < 100 && log.chunks <= hal::FdPort::kReadsPerPass; ++i) {
    real.loop.run_for(ends, 2ms);
  }
  LONGS_EQUAL(hal::FdPort::kReadsPerPass + 1, log.chunks);
  CHECK_FALSE(ends.drained_at_end[0]);
  CHECK_TRUE(ends.drained_at_end[1]);
}

TEST(UdpPort, ReadsBatched) {
  hal::UdpPort& opened = open({.bind = "127.0.0.1", .latency = hal::Latency::batched});
  peer.send(opened, "one");
  peer.send(opened, "two");
  CHECK_TRUE(received("onetwo"));
}

TEST(UdpPort, AllocatesNothingWhileItReads) {
  hal::UdpPort& opened = open();
  log.text.reserve(4096), log.stamps.reserve(4096);
  peer.send(opened, "-");
  CHECK_TRUE(received("-"));
  test::AllocationCounter counter;
  for (std::size_t i = 2; i < 200; ++i) {
    peer.send(opened, "x");
    if (!real.run_until([&] { return log.text.size() == i; })) break;
  }
  LONGS_EQUAL(0, counter.count());
  LONGS_EQUAL(199, log.text.size());
}

// Two ports at one address, as two sensors that send to the same port.
TEST_GROUP(UdpShare) {
  test::RealLoop real;
  hal::UdpShares shares;
  Peer one{"127.0.0.2"}, two{"127.0.0.3"}, stranger{"127.0.0.4"};
  std::uint16_t number = 0;
  test::PortLog first_log{&real.passes}, second_log{&real.passes};
  std::optional<hal::UdpPort> first, second;

  void setup() override {
    {
      Peer free;
      number = free.port();
    }
    const hal::UdpOptions options{.bind = "127.0.0.1", .port = number, .from = "127.0.0.2"};
    first.emplace(real.loop, "udp:first", options, &shares);
    hal::UdpOptions other = options;
    other.from = "127.0.0.3";
    second.emplace(real.loop, "udp:second", other, &shares);
  }
  void open_both() {
    first->open(first_log);
    second->open(second_log);
    LONGS_EQUAL(1, first_log.opened);
    LONGS_EQUAL(1, second_log.opened);
  }
  bool comes(const test::PortLog& log, std::string_view text) {
    return real.run_until([&] { return log.text == text; });
  }
};

TEST(UdpShare, EachDeviceIsHeardAtItsOwnPort) {
  open_both();
  LONGS_EQUAL(number, first->local().port);
  LONGS_EQUAL(number, second->local().port);
  for (int i = 0; i < 10; ++i) one.send(*first, "a"), two.send(*first, "b");
  CHECK_TRUE(comes(first_log, "aaaaaaaaaa"));
  CHECK_TRUE(comes(second_log, "bbbbbbbbbb"));
  LONGS_EQUAL(10, first_log.chunks);
  LONGS_EQUAL(0, first_log.outside_pass + second_log.outside_pass);
  LONGS_EQUAL(0, first->stats().rejected_datagrams + second->stats().rejected_datagrams);
}

TEST(UdpShare, WhoIsNobodysCountsAtEach) {
  open_both();
  stranger.send(*first, "evil");
  one.send(*first, "a");
  two.send(*first, "");
  two.send(*first, "b");
  CHECK_TRUE(comes(first_log, "a"));
  CHECK_TRUE(comes(second_log, "b"));
  for (hal::UdpPort* const port : {&*first, &*second}) {
    LONGS_EQUAL(1, port->stats().rejected_datagrams);
    STRCMP_CONTAINS("127.0.0.4:", port->stats().last_rejected.c_str());
  }
  LONGS_EQUAL(0, first->stats().empty_datagrams);
  LONGS_EQUAL(1, second->stats().empty_datagrams);
}

TEST(UdpShare, OneGoesOnWhileTheOtherIsClosedAndComesBack) {
  open_both();
  first->close();
  one.send(*second, "lost");
  two.send(*second, "b");
  CHECK_TRUE(comes(second_log, "b"));
  LONGS_EQUAL(0, second->stats().rejected_datagrams);
  first->open(first_log);
  second->close();
  one.send(*first, "a");
  two.send(*first, "lost");
  CHECK_TRUE(comes(first_log, "a"));
  STRCMP_EQUAL("b", second_log.text.c_str());
}

TEST(UdpShare, BothClosedTheAddressIsFree) {
  open_both();
  first->close();
  second->close();
  hal::UdpPort third(real.loop, "udp:third", {.bind = "127.0.0.1", .port = number});
  test::PortLog log;
  third.open(log);
  LONGS_EQUAL(1, log.opened);
}

TEST(UdpShare, LossesOfTheSocketAreToldOnce) {
  hal::UdpOptions small{
      .bind = "127.0.0.1", .port = number, .from = "127.0.0.2", .receive_buffer = 4096};
  first.emplace(real.loop, "udp:first", small, &shares);
  open_both();
  const std::string big(1000, 'x');
  for (int i = 0; i < 100; ++i) one.send(*first, big);
  CHECK_TRUE(real.run_until([&] { return first_log.chunks > 0 && first->drained(); }));
  one.send(*first, "a");
  two.send(*first, "b");
  CHECK_TRUE(comes(second_log, "b"));
  CHECK_TRUE(first->stats().lost_datagrams > 0);
  LONGS_EQUAL(102 - first_log.chunks - second_log.chunks,
              first->stats().lost_datagrams + second->stats().lost_datagrams);
}

TEST(UdpShare, AllocatesNothingWhileItReads) {
  open_both();
  first_log.text.reserve(4096), first_log.stamps.reserve(4096);
  second_log.text.reserve(4096), second_log.stamps.reserve(4096);
  one.send(*first, "-"), two.send(*first, "-");
  CHECK_TRUE(comes(first_log, "-") && comes(second_log, "-"));
  test::AllocationCounter counter;
  for (std::size_t i = 2; i < 100; ++i) {
    one.send(*first, "x"), two.send(*first, "x"), stranger.send(*first, "x");
    const bool all =
        real.run_until([&] { return first_log.text.size() == i && second_log.text.size() == i; });
    if (!all) break;
  }
  LONGS_EQUAL(0, counter.count());
  LONGS_EQUAL(99, second_log.text.size());
}

TEST_GROUP(Arrival) {
  test::ManualClock clock;
  hal::PortStats stats;
  hal::KernelStamps kernel_stamps;
  hal::Time stamped(hal::Duration age, hal::Time newest = {}) {
    hal::Received received;
    received.unix_ns = clock.both().unix_ns - age.count();
    return kernel_stamps.arrival(received, clock, newest, stats);
  }
};

TEST(Arrival, ConvertsAKernelStampToInnerTime) {
  CHECK_TRUE(stamped(3ms) == clock.now() - 3ms);
  LONGS_EQUAL(0, stats.replaced_stamps);
}

TEST(Arrival, IsNowWithoutAStamp) {
  CHECK_TRUE(kernel_stamps.arrival({}, clock, {}, stats) == clock.now());
  LONGS_EQUAL(0, stats.replaced_stamps);
}

TEST(Arrival, ReplacesAStampOfTheFuture) {
  CHECK_TRUE(stamped(-1ms) == clock.now());
  LONGS_EQUAL(1, stats.replaced_stamps);
}

TEST(Arrival, ReplacesAStampBeforeTheNewest) {
  CHECK_TRUE(stamped(5ms, clock.now() - 4ms) == clock.now());
  LONGS_EQUAL(1, stats.replaced_stamps);
}

TEST(Arrival, ForgivesTheErrorOfReadingTwoClocks) {
  CHECK_TRUE(stamped(-1us) == clock.now());
  CHECK_TRUE(stamped(4ms + 1us, clock.now() - 4ms) == clock.now() - 4ms);
  LONGS_EQUAL(0, stats.replaced_stamps);
}

TEST(Arrival, ReplacesAStampAcrossAStepOfTheWallClock) {
  stamped(1ms);
  clock.advance(20ms);
  hal::Received received;
  received.unix_ns = clock.both().unix_ns - 3'000'000;
  clock.step_wall(-3600s);
  CHECK_TRUE(kernel_stamps.arrival(received, clock, {}, stats) == clock.now());
  LONGS_EQUAL(1, stats.replaced_stamps);
  clock.advance(20ms);
  CHECK_TRUE(stamped(3ms) == clock.now() - 3ms);
  LONGS_EQUAL(1, stats.replaced_stamps);
}

// NTP may slew by 500 ppm, adjtimex by a tenth: what was received 15 ms ago was 15 ms ago.
TEST(Arrival, IsAsRightWhileTheWallClockIsSlewed) {
  for (const double slew : {500e-6, 0.08, -0.08}) {
    double worst = 0, plain = 0;
    hal::KernelStamps stamps;
    for (int i = 0; i < 1000; ++i) {
      const hal::Duration age = 5us + (i % 16) * 1ms;
      const auto slewed = [&](hal::Duration d) {
        clock.advance(d);
        clock.step_wall(hal::from_seconds(hal::to_seconds(d) * slew));
      };
      slewed(20ms - age);
      hal::Received received;
      received.unix_ns = clock.both().unix_ns;
      const hal::Time truth = clock.now();
      slewed(age);
      const hal::Time at = stamps.arrival(received, clock, {}, stats);
      if (i > 1) worst = std::max(worst, std::abs(hal::to_seconds(at - truth)) * 1e3);
      const hal::Duration seen(clock.both().unix_ns - *received.unix_ns);
      plain = std::max(plain, std::abs(hal::to_seconds(seen - age)) * 1e3);
    }
    UT_PRINT(StringFromFormat("wall clock slewed by %.2f %%: kernel stamps %.6f ms off (%.3f ms by "
                              "the offset alone)",
                              slew * 100, worst, plain)
                 .asCharString());
    CHECK_TRUE(worst < 0.001);
    LONGS_EQUAL(0, stats.replaced_stamps);
  }
}
