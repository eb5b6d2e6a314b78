#include "app/mcap_stream.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <memory>
#include <random>
#include <string>

#include "app/drop_notice.h"
#include "app/messages.h"
#include "test/support/allocation_counter.h"
#include "test/support/bytes.h"
#include "test/support/harness.h"
#include "test/support/manual_clock.h"
#include "test/support/mcap_log.h"
#include "test/support/temp_dir.h"

using test::bytes_of;

namespace {

constexpr std::size_t kMaxMessage = 1000;

// The far end of a socket; reads when the test wants it to.
class Client {
 public:
  explicit Client(hal::UniqueFd fd) : fd_(std::move(fd)) {}

  // Everything that is there now. False at the end of the stream.
  bool read(std::size_t at_most = std::size_t{1} << 24) {
    std::array<std::byte, 4096> buffer;
    while (at_most > 0) {
      const ssize_t n =
          ::recv(fd_.get(), buffer.data(), std::min(at_most, buffer.size()), MSG_DONTWAIT);
      if (n <= 0) return n < 0;
      at_most -= static_cast<std::size_t>(n);
      bytes += static_cast<std::size_t>(n);
      const auto s = reader_->feed(hal::Bytes(buffer).first(static_cast<std::size_t>(n)), log);
      if (!s) FAIL(s.error().detail.c_str());
    }
    return true;
  }
  std::vector<std::string> texts(std::uint16_t channel) const {
    std::vector<std::string> all;
    for (const auto& m : log.messages) {
      if (m.channel == channel) all.push_back(m.data);
    }
    return all;
  }
  void leave() { fd_.reset(); }
  int fd() const { return fd_.get(); }

  test::McapLog log;
  std::size_t bytes = 0;

 private:
  hal::UniqueFd fd_;
  std::unique_ptr<hal::mcap::Reader> reader_ =
      std::make_unique<hal::mcap::Reader>(std::size_t{1} << 16);
};

// "dropped N of T" instead of a ROS message.
std::size_t encode_text_notice(const app::DropNotice& n, std::span<std::byte> out) {
  const auto text =
      test::bytes_of("dropped " + std::to_string(n.dropped) + " of " + std::to_string(n.total) +
                     " at " + std::to_string(n.log_time_ns));
  if (text.size() > out.size()) return 0;
  std::ranges::copy(text, out.begin());
  return text.size();
}

}  // namespace

TEST_GROUP(McapStream) {
  test::ManualClock clock;
  hal::EventLoop loop{clock};
  app::McapStream stream{loop,
                         {.profile = "ros2",
                          .library = "test",
                          .max_clients = 3,
                          .ring_bytes = 20'000,
                          .max_message = kMaxMessage}};
  std::uint16_t live = 0, events = 0, latched = 0;
  std::int64_t now = 100;

  void setup() override {
    const auto schema = *stream.add_schema("pkg/msg/A", "ros2msg", "int32 a\n");
    live = *stream.add_channel({"/live", "cdr", schema, {}, 0});
    events = *stream.add_channel({"/events", "cdr", schema, {}, 0});
    latched = *stream.add_channel({"/tf_static", "cdr", schema, {}, 100});
    stream.tell_drops_on(events, encode_text_notice);
  }
  // The kernel keeps as little as it can between the two ends.
  Client connect() {
    int ends[2];
    CHECK_EQUAL(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
    const int size = 1;
    ::setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    hal::UniqueFd ours(ends[0]);
    Client client{hal::UniqueFd(ends[1])};
    CHECK_TRUE(static_cast<bool>(stream.add_client(std::move(ours))));
    return client;
  }
  void publish(std::uint16_t channel, const std::string& text) {
    ++now;
    stream.publish(channel, now, now, bytes_of(text));
  }
  void pass() {
    loop.io().restart();
    loop.io().poll();
    stream.flush();
  }
  // Until nothing moves any more.
  void drain(Client & client) {
    for (std::size_t before = 1, after = 0; before != after;) {
      before = client.bytes;
      pass();
      client.read();
      pass();
      client.read();
      after = client.bytes;
    }
  }
  app::ClientStats stats() const { return *stream.client_stats(0); }
};

TEST(McapStream, BeginsWithHeaderSchemasChannelsAndLatchedMessages) {
  publish(latched, "old");
  publish(live, "missed");
  publish(latched, "new");
  Client client = connect();
  publish(live, "seen");
  drain(client);
  STRCMP_EQUAL("acdddee", client.log.opcodes.c_str());
  STRCMP_EQUAL("new", client.log.messages[0].data.c_str());
  STRCMP_EQUAL("seen", client.log.messages[1].data.c_str());
  const auto header = hal::mcap::decode_header(client.log.contents[0]);
  CHECK_TRUE(header->profile == "ros2" && header->library == "test");
}

TEST(McapStream, LatchedMessagesComeFirstAlsoToAClientThatIsSlowFromTheStart) {
  static_cast<void>(*stream.add_schema("pkg/msg/Long", "ros2msg", std::string(50'000, '#')));
  publish(latched, "tf");
  Client client = connect();
  publish(live, "a");
  pass();
  drain(client);
  STRCMP_EQUAL("acdddcee", client.log.opcodes.c_str());
  STRCMP_EQUAL("tf", client.log.messages[0].data.c_str());
}

TEST(McapStream, NumbersWhatAChannelProduces) {
  publish(live, "missed");
  publish(events, "e");
  Client client = connect();
  publish(live, "a");
  publish(live, "b");
  drain(client);
  LONGS_EQUAL(2, client.log.messages[0].sequence);
  LONGS_EQUAL(3, client.log.messages[1].sequence);
}

TEST(McapStream, WritesOnlyWhenFlushed) {
  Client client = connect();
  drain(client);
  publish(live, "a");
  publish(live, "b");
  client.read();
  LONGS_EQUAL(0, client.log.messages.size());
  stream.flush();
  client.read();
  LONGS_EQUAL(2, client.log.messages.size());
}

TEST(McapStream, GivesEveryClientEveryMessage) {
  Client a = connect(), b = connect();
  for (int i = 0; i < 50; ++i) {
    publish(live, std::to_string(i));
    pass();
    a.read();
    b.read();
  }
  LONGS_EQUAL(50, a.texts(live).size());
  CHECK_TRUE(a.log.messages == b.log.messages);
}

TEST(McapStream, DropsTheOldestForAClientThatNeverReadsAndTellsItExactly) {
  Client client = connect();
  const std::string filler(500, '.');
  for (int i = 0; i < 1000; ++i) {
    publish(live, std::to_string(i) + filler);
    pass();
    const auto s = stats();
    LONGS_EQUAL(i + 1, s.sent + s.dropped + s.queued);
  }
  const auto dropped = stats().dropped;
  CHECK_TRUE(dropped > 900);
  drain(client);
  const auto texts = client.texts(live);
  LONGS_EQUAL(1000, texts.size() + dropped);
  STRCMP_EQUAL(("999" + filler).c_str(), texts.back().c_str());
  LONGS_EQUAL(1, client.texts(events).size());
  STRCMP_CONTAINS(("dropped " + std::to_string(dropped)).c_str(), client.texts(events)[0].c_str());
}

TEST(McapStream, PutsTheNoticeWhereTheGapIsWithTheTimeOfWhatWasDroppedLast) {
  Client client = connect();
  for (int i = 0; i < 200; ++i) {
    publish(live, std::string(500, '.'));
    if (i % 10 == 9) pass();  // so much that a record is sent in part
  }
  drain(client);
  std::uint32_t before = 0;
  std::size_t gaps = 0;
  const auto& messages = client.log.messages;
  for (std::size_t i = 0; i < messages.size(); ++i) {
    if (messages[i].channel != live) continue;
    if (messages[i].sequence != before + 1) {
      ++gaps;
      LONGS_EQUAL(events, messages[i - 1].channel);
      LONGS_EQUAL(messages[i].log_time - 1, messages[i - 1].log_time);
      const auto lost = "dropped " + std::to_string(messages[i].sequence - before - 1) + " ";
      STRCMP_CONTAINS(lost.c_str(), messages[i - 1].data.c_str());
    }
    before = messages[i].sequence;
  }
  LONGS_EQUAL(1, gaps);
}

TEST(McapStream, SendsTheRestWithoutAnotherPass) {
  Client client = connect();
  for (int i = 0; i < 20; ++i) publish(live, std::string(900, '.'));
  stream.flush();
  for (int i = 0; i < 50; ++i) {
    client.read();
    loop.io().restart();
    loop.io().poll();
  }
  LONGS_EQUAL(20, client.texts(live).size());
}

TEST(McapStream, SendsTheRestWhenFlushedAfterTheLoopHasStopped) {
  Client client = connect();
  for (int i = 0; i < 20; ++i) publish(live, std::string(900, '.'));
  for (int i = 0; i < 50; ++i) {
    stream.flush();
    client.read();
  }
  LONGS_EQUAL(0, stats().queued_bytes);
  LONGS_EQUAL(20, client.texts(live).size());
}

TEST(McapStream, ClosesAllClientsWhenAsked) {
  Client a = connect(), b = connect();
  stream.close_clients();
  LONGS_EQUAL(0, stream.clients());
  CHECK_FALSE(a.read());
  CHECK_FALSE(b.read());
}

TEST(McapStream, ANoticeOnlyForLatchedMessagesHasTheirTime) {
  Client client = connect();
  for (int i = 0; i < 300; ++i) {
    publish(latched, std::string(100, '.'));
    pass();
  }
  drain(client);
  CHECK_TRUE(stats().dropped > 0);
  const auto notice =
      std::ranges::find(client.log.messages, events, &test::McapLog::Message::channel);
  CHECK_TRUE(notice != client.log.messages.end() && notice->log_time > 100);
}

TEST(McapStream, ANoticeBreaksNeitherTheTimeNorTheNumbersOfItsChannel) {
  Client client = connect();
  for (int i = 0; i < 300; ++i) {
    publish(i % 7 == 0 ? events : live, std::string(300, '.'));
    pass();
    if (i % 100 == 99) drain(client);
  }
  drain(client);
  std::uint64_t time = 0;
  std::uint32_t sequence = 0;
  std::size_t notices = 0;
  for (const auto& m : client.log.messages) {
    CHECK_TRUE(m.log_time >= time);
    time = m.log_time;
    if (m.channel != events) continue;
    CHECK_TRUE(m.sequence >= sequence);
    sequence = m.sequence;
    if (m.data[0] == 'd') ++notices;
  }
  LONGS_EQUAL(3, notices);
  LONGS_EQUAL(notices, stats().notices);
}

TEST(McapStream, NeverTearsARecordHoweverTheClientReads) {
  const unsigned seed = std::random_device{}();
  std::mt19937 random(seed);
  Client client = connect();
  for (int i = 0; i < 5000; ++i) {
    const auto what = random() % 20;
    if (what == 0) publish(latched, std::string(random() % 101, 'l'));
    if (what == 1) publish(events, "e");
    if (what > 1) publish(live, std::string(random() % kMaxMessage, 'x'));
    if (random() % 3 == 0) pass();
    if (random() % 3 == 0) client.read(random() % 2000);  // fails the test on a torn record
  }
  drain(client);
  const auto s = stats();
  const auto told = client.log.messages.size();
  CHECK_TEXT(s.sent + s.notices == told, hal::Text<32>::of("seed %u", seed).c_str());
  LONGS_EQUAL(0, s.queued_bytes);
  std::uint32_t sequence = 0;
  for (const auto& m : client.log.messages) {
    if (m.channel != live) continue;
    CHECK_TEXT(m.sequence > sequence, hal::Text<32>::of("seed %u", seed).c_str());
    sequence = m.sequence;
  }
}

TEST(McapStream, ASlowClientCostsTheOthersNothing) {
  Client slow = connect(), fast = connect();
  for (int i = 0; i < 500; ++i) {
    publish(live, std::string(500, '.'));
    pass();
    fast.read();
  }
  drain(fast);
  LONGS_EQUAL(500, fast.texts(live).size());
  LONGS_EQUAL(0, fast.texts(events).size());
}

TEST(McapStream, ABurstLargerThanTheRingReachesAClientThatReads) {
  int ends[2];
  CHECK_EQUAL(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
  Client client{hal::UniqueFd(ends[1])};
  CHECK_TRUE(static_cast<bool>(stream.add_client(hal::UniqueFd(ends[0]))));
  for (int i = 0; i < 60; ++i) publish(live, std::string(900, '.'));  // 54 kB, ring: 20 kB
  drain(client);
  LONGS_EQUAL(60, client.texts(live).size());
}

TEST(McapStream, ALatchedChannelKeepsItsLatestForAClientThatIsBehind) {
  Client client = connect();
  for (int i = 0; i < 100; ++i) {
    publish(live, std::string(900, '.'));
    publish(latched, "tf " + std::to_string(i));
    pass();
  }
  drain(client);
  STRCMP_EQUAL("tf 99", client.texts(latched).back().c_str());
  const auto s = stats();
  LONGS_EQUAL(200, s.sent + s.dropped);
  const auto notices = client.texts(events);
  STRCMP_CONTAINS(("of " + std::to_string(s.dropped) + " at").c_str(), notices.back().c_str());
}

TEST(McapStream, AClientThatReadsGetsEveryLatchedMessage) {
  Client client = connect();
  drain(client);
  publish(latched, "a");
  publish(latched, "b");
  drain(client);
  LONGS_EQUAL(2, client.texts(latched).size());
  LONGS_EQUAL(0, stats().dropped);
}

TEST(McapStream, AChannelAddedLaterReachesTheClientsBeforeItsMessages) {
  Client client = connect();
  for (int i = 0; i < 100; ++i) publish(live, std::string(900, '.'));  // the client is behind
  pass();
  const auto late = *stream.add_channel({"/late", "cdr", 1, {}, 0});
  publish(late, "hello");
  drain(client);
  STRCMP_EQUAL("hello", client.texts(late)[0].c_str());
  CHECK_TRUE(client.log.opcodes.rfind('d') < client.log.opcodes.rfind('e'));
  STRCMP_EQUAL("acddd", client.log.opcodes.substr(0, 5).c_str());
  LONGS_EQUAL(4, std::ranges::count(client.log.opcodes, 'd'));
}

TEST(McapStream, MessagesThatAreTooLongAreCountedAndShowAsAGap) {
  Client client = connect();
  publish(live, std::string(kMaxMessage, '.'));
  publish(live, std::string(kMaxMessage + 1, '.'));
  publish(latched, std::string(101, '.'));
  publish(99, "no such channel");
  publish(live, "c");
  drain(client);
  LONGS_EQUAL(3, stream.refused_messages());
  LONGS_EQUAL(2, client.log.messages.size());
  LONGS_EQUAL(3, client.log.messages[1].sequence);
}

TEST(McapStream, FreesThePlaceOfAClientThatLeaves) {
  for (int i = 0; i < 10; ++i) {
    Client client = connect();
    for (int k = 0; k < 30; ++k) publish(live, std::string(900, '.'));
    pass();
    client.read(700);  // leaves in the middle of a record
    LONGS_EQUAL(1, stream.clients());
    client.leave();
    pass();
    LONGS_EQUAL(0, stream.clients());
  }
  Client next = connect();
  publish(live, "fresh");
  drain(next);
  STRCMP_EQUAL("acddde", next.log.opcodes.c_str());
  LONGS_EQUAL(0, stats().dropped);
}

TEST(McapStream, RefusesMoreClientsThanItHasPlacesFor) {
  Client a = connect(), b = connect(), c = connect();
  int ends[2];
  CHECK_EQUAL(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
  Client fourth{hal::UniqueFd(ends[1])};
  const hal::Status s = stream.add_client(hal::UniqueFd(ends[0]));
  CHECK_TRUE(s.error().code == hal::Errc::no_space);
  CHECK_FALSE(fourth.read());
  LONGS_EQUAL(1, stream.refused_clients());
  LONGS_EQUAL(3, stream.clients());
}

TEST(McapStream, IgnoresWhatClientsSend) {
  Client client = connect();
  const std::string noise(100'000, 'n');
  for (int i = 0; i < 20; ++i) {
    ::send(client.fd(), noise.data(), noise.size(), MSG_DONTWAIT);
    pass();
  }
  publish(live, "a");
  drain(client);
  LONGS_EQUAL(1, client.texts(live).size());
}

TEST(McapStream, AClientThatClosesOnlyItsSendingHalfStays) {
  Client client = connect();
  ::shutdown(client.fd(), SHUT_WR);
  pass();
  publish(live, "a");
  drain(client);
  LONGS_EQUAL(1, client.texts(live).size());
  client.leave();
  publish(live, "b");
  pass();
  LONGS_EQUAL(0, stream.clients());
}

TEST(McapStream, ServesClientsOfAUnixSocket) {
  const test::TempDir dir;
  CHECK_TRUE(static_cast<bool>(stream.listen(dir.file("s"))));
  publish(latched, "tf");
  std::vector<Client> clients;
  for (int i = 0; i < 4; ++i) clients.emplace_back(std::move(*hal::connect_unix(dir.file("s"))));
  pass();
  publish(live, "a");
  pass();
  LONGS_EQUAL(3, stream.clients());
  LONGS_EQUAL(1, stream.refused_clients());
  for (std::size_t i = 0; i < 3; ++i) {
    CHECK_TRUE(clients[i].read());
    LONGS_EQUAL(2, clients[i].log.messages.size());
  }
  CHECK_FALSE(clients[3].read());
}

TEST(McapStream, SaysWhyItCannotListen) {
  const test::TempDir dir;
  app::McapStream other{loop, {.profile = "ros2", .library = "test"}};
  CHECK_TRUE(static_cast<bool>(stream.listen(dir.file("s"))));
  CHECK_TRUE(other.listen(dir.file("s")).error().code == hal::Errc::busy);
}

TEST(McapStream, PublishesWhatWasEncodedInItsScratchMemory) {
  Client client = connect();
  LONGS_EQUAL(kMaxMessage, stream.scratch().size());
  const std::size_t n = encode(app::Imu{}, stream.scratch());
  stream.publish(live, now, now, stream.scratch().first(n));
  drain(client);
  CHECK_TRUE(app::decode_imu(bytes_of(client.texts(live)[0])).has_value());
}

TEST(McapStream, ANoticeThatFitsNowhereDoesNotStopTheStream) {
  stream.tell_drops_on(events,
                       [](const app::DropNotice&, std::span<std::byte>) { return std::size_t{0}; });
  Client client = connect();
  for (int i = 0; i < 200; ++i) publish(live, std::string(500, '.'));
  pass();
  CHECK_TRUE(stats().dropped > 0);
  drain(client);
  LONGS_EQUAL(200, client.texts(live).size() + stats().dropped);
}

TEST(McapStream, OutlivesNoHandlerOfItsClients) {
  auto temporary = std::make_unique<app::McapStream>(
      loop, app::McapStreamOptions{.profile = "ros2", .library = "test"});
  int ends[2];
  CHECK_EQUAL(0, ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends));
  CHECK_TRUE(static_cast<bool>(temporary->add_client(hal::UniqueFd(ends[0]))));
  const hal::UniqueFd far(ends[1]);
  ::send(far.get(), "x", 1, 0);
  loop.io().restart();
  loop.io().poll_one();
  temporary.reset();
  pass();
}

TEST(McapStream, AllocatesNothingOnceClientsAreThere) {
  Client slow = connect(), fast = connect();
  std::array<std::byte, 4096> buffer;
  const auto data = bytes_of(std::string(500, '.'));
  const auto run = [&](int rounds) {
    for (int i = 0; i < rounds; ++i) {
      ++now;
      stream.publish(live, now, now, data);
      stream.publish(latched, now, now, hal::Bytes(data).first(50));
      pass();
      while (::recv(fast.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT) > 0) {
      }
      if (i % 10 == 0) ::recv(slow.fd(), buffer.data(), buffer.size(), MSG_DONTWAIT);
      ::send(slow.fd(), "x", 1, MSG_DONTWAIT);
    }
  };
  stream.tell_drops_on(events, app::encode_drop_notice);
  run(10);
  const test::AllocationCounter counter;
  run(1000);
  LONGS_EQUAL(0, counter.count());
  CHECK_TRUE(stats().dropped > 0);
}
