#include "hal/replay.h"

#include <deque>
#include <string>

#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/loop.h"
#include "test/support/manual_clock.h"

using namespace std::chrono_literals;
using hal::RawKind;
using hal::RawRecord;

namespace {

// A source that overwrites the bytes of the record before, as a file reader would.
struct Source final : hal::RecordSource, hal::Tap {
  std::optional<RawRecord> next() override {
    if (encoded.empty()) return std::nullopt;
    current = encoded.front();
    encoded.pop_front();
    return hal::decode(current);
  }
  void on_record(const RawRecord& record) override {
    std::vector<std::byte> out(hal::kRawHeader + record.bytes.size());
    hal::encode(record, out);
    encoded.push_back(out);
  }
  void add(RawKind kind, hal::Time at, std::string_view bytes = {}, std::int64_t value = 0) {
    RawRecord record;
    record.kind = kind;
    record.at = at;
    record.value = value;
    record.bytes = test::view_of(bytes);
    on_record(record);
  }
  std::deque<std::vector<std::byte>> encoded;
  std::vector<std::byte> current;
};

// A program in small: opens its port at the first tick, answers every chunk, writes its journal.
struct Program final : hal::ReplayListener, hal::PortListener {
  void on_pass_begin(hal::Time now) override { note("begin", now); }
  void on_pass_end(hal::Time began) override {
    note(port->drained() ? "end" : "end, more to come", began);
    if (writes_at_end) (void)port->write(test::view_of("end"));
  }
  void on_tick(hal::Time now) override {
    note("tick", now);
    if (!is_open) port->open(*this);
  }
  void on_wall_clock(std::int64_t) override {}
  void on_suspended(hal::Duration length) override {
    journal += "slept " + std::to_string(length.count()) + '\n';
  }
  void on_offset(std::int64_t ns) override { journal += "offset " + std::to_string(ns) + '\n'; }
  void on_port_open(hal::Time now) override {
    is_open = true;
    note("open", now);
  }
  void on_chunk(const hal::Chunk& chunk) override {
    const hal::Status written = port->write(test::view_of(answer));
    note(written ? "taken" : "refused", chunk.last_at);
    for (std::byte b : chunk.bytes) journal += static_cast<char>(b);
    journal += " lost " + std::to_string(chunk.lost) + " per byte " +
               std::to_string(chunk.per_byte.count()) + '\n';
  }
  void on_port_fault(const hal::Error& error, hal::Time now) override {
    is_open = false;
    note(in_words(error).c_str(), now);
    journal +=
        std::to_string(static_cast<int>(error.code)) + ' ' + std::to_string(error.sys) + '\n';
  }
  void note(const char* what, hal::Time at) {
    journal += std::string(what) + ' ' + std::to_string(hal::to_ns(at)) + '\n';
  }
  hal::Port* port = nullptr;
  const char* answer = "thanks";
  bool is_open = false, writes_at_end = false;
  std::string journal;
};

}  // namespace

TEST_GROUP(Replay) {
  Source source;
  hal::Replayer replayer{source};
  std::unique_ptr<hal::Port> port = replayer.make_port(0, 0, "replay:0");
  Program program;
  const hal::Time t0 = hal::from_ns(1'000'000'000);

  void setup() override { program.port = port.get(); }

  // Lives through some events with a real tap, leaves them in `source`, returns the journal.
  std::string live() {
    test::ManualClock clock;
    auto inner = std::make_unique<test::FakePort>(clock);
    test::FakePort& fake = *inner;
    const auto tap = hal::tapped(std::move(inner), source, 0, 0);
    Program first;
    first.port = tap.get();
    first.writes_at_end = program.writes_at_end;
    const auto pass = [&](auto&& events) {
      const hal::Time began = clock.advance(1ms);
      source.add(RawKind::pass, began);
      first.on_pass_begin(began);
      events();
      first.on_pass_end(began);
    };
    const auto tick = [&] {
      source.add(RawKind::tick, clock.now());
      first.on_tick(clock.now());
    };
    fake.refusal = {hal::Errc::busy, 16, "fake", hal::Text<192>::of("held by gpsd")};
    fake.refuse_open = true;
    pass(tick);
    fake.refuse_open = false;
    pass(tick);
    pass([&] { fake.deliver(test::view_of("abc"), 43us, 2); });
    fake.refuse_write = true, fake.is_drained = false;
    pass([&] { fake.deliver(test::view_of("def")); });
    fake.refuse_write = false, fake.is_drained = true;
    pass([&] {
      source.add(RawKind::offset, clock.now(), {}, 77);
      first.on_offset(77);
      fake.unplug();
    });
    return first.journal;
  }
};

TEST(Replay, LivesThroughTheSameAgain) {
  const std::string expected = live();
  replayer.run(program);
  STRCMP_EQUAL(expected.c_str(), program.journal.c_str());
  LONGS_EQUAL(0, replayer.divergences());
}

TEST(Replay, HasTheAddressThatWasRecorded) {
  struct Listener final : hal::PortListener {
    void on_port_open(hal::Time) override { own = port->local(); }
    void on_chunk(const hal::Chunk&) override {}
    void on_port_fault(const hal::Error&, hal::Time) override {}
    hal::Port* port = nullptr;
    hal::Address own;
  } listener;
  const hal::Address expected{{10, 0, 0, 7}, 2368};
  test::ManualClock clock;
  auto inner = std::make_unique<test::FakePort>(clock);
  inner->own = expected;
  const auto tap = hal::tapped(std::move(inner), source, 0, 0);
  listener.port = tap.get();
  tap->open(listener);
  CHECK_TRUE(listener.own == expected);
  listener.own = {};
  listener.port = program.port;
  program.port->open(listener);
  CHECK_TRUE(listener.own == expected);
}

TEST(Replay, TellsOfAPortWhatItToldThen) {
  test::ManualClock clock;
  auto inner = std::make_unique<test::FakePort>(clock);
  hal::PortStats& stats = inner->counters;
  const auto tap = hal::tapped(std::move(inner), source, 0, 0);
  CHECK_TRUE(tap->stats() == stats);
  LONGS_EQUAL(0, source.encoded.size());  // nothing to tell yet
  std::vector<hal::PortStats> told;
  stats = {.rejected_datagrams = 1,
           .empty_datagrams = 2,
           .lost_datagrams = 3,
           .replaced_stamps = 4,
           .dropped_writes = 5,
           .receive_buffer = 6,
           .adapter_timer_ms = 7,
           .low_latency = true,
           .last_rejected = hal::Text<48>::of("192.168.100.100:65535"),
           .from = hal::Text<24>::of("192.168.100.101"),
           .note = hal::Text<96>::of("receive buffer too small")};
  told.push_back(tap->stats());
  told.push_back(tap->stats());
  LONGS_EQUAL(1, source.encoded.size());
  source.add(RawKind::tick, t0);
  ++stats.lost_datagrams;
  told.push_back(tap->stats());
  LONGS_EQUAL(3, source.encoded.size());
  CHECK_TRUE(program.port->stats() == told[0]);
  CHECK_TRUE(program.port->stats() == told[1]);
  replayer.run(program);
  CHECK_TRUE(program.port->stats() == told[2]);
  LONGS_EQUAL(0, replayer.divergences());
}

TEST(Replay, FindsTheWritesOfAPassEnd) {
  program.writes_at_end = true;
  const std::string expected = live();
  replayer.run(program);
  STRCMP_EQUAL(expected.c_str(), program.journal.c_str());
  LONGS_EQUAL(0, replayer.divergences());
}

TEST(Replay, CountsOtherWritesAndGoesOn) {
  live();
  program.answer = "no thanks";
  replayer.run(program);
  LONGS_EQUAL(2, replayer.divergences());
}

TEST(Replay, CountsAWriteThatWasNotMadeThen) {
  source.add(RawKind::tick, t0);
  source.add(RawKind::open, t0);
  source.add(RawKind::rx, t0, "abc");
  replayer.run(program);
  LONGS_EQUAL(1, replayer.divergences());
}

TEST(Replay, CountsAWriteThatIsNotMadeNow) {
  source.add(RawKind::tx, t0, "hello");
  replayer.run(program);
  LONGS_EQUAL(1, replayer.divergences());
}

TEST(Replay, TakesAnUnknownCodeOfARefusedWriteForARefusalOfTheSystem) {
  for (const std::int64_t value : {std::int64_t{1} << 40, std::int64_t{-5}}) {
    source.add(RawKind::tx, t0, "hello", value);
    const hal::Status written = port->write(test::view_of("hello"));
    CHECK_FALSE(static_cast<bool>(written));
    LONGS_EQUAL(static_cast<int>(hal::Errc::io), static_cast<int>(written.error().code));
  }
}

TEST(Replay, CountsRecordsOfPortsThatNobodyHas) {
  RawRecord record;
  record.kind = RawKind::rx;
  record.sensor = 9;
  record.bytes = test::view_of("x");
  source.on_record(record);
  source.add(RawKind::rx, t0, "to a closed port");
  replayer.run(program);
  LONGS_EQUAL(2, replayer.divergences());
}

TEST(Replay, OpensLaterWhatOpenedLater) {
  source.add(RawKind::tick, t0);
  source.add(RawKind::pass, t0 + 1ms);
  source.add(RawKind::open, t0 + 1ms);
  CHECK_TRUE(replayer.step(program));
  CHECK_FALSE(program.is_open);
  replayer.run(program);
  CHECK_TRUE(program.is_open);
  LONGS_EQUAL(0, replayer.divergences());
}

TEST(Replay, ShowsTheTimeOfTheRecordAndNeverRunsBackwards) {
  source.add(RawKind::offset, t0, {}, 500);
  source.add(RawKind::tick, t0 - 3ms);
  source.add(RawKind::tick, t0 + 2ms);
  replayer.step(program);
  CHECK_TRUE(replayer.clock().now() == t0);
  CHECK_EQUAL(hal::to_ns(t0) + 500, replayer.clock().both().unix_ns);
  replayer.step(program);
  CHECK_TRUE(replayer.clock().now() == t0);
  replayer.step(program);
  CHECK_TRUE(replayer.clock().now() == t0 + 2ms);
}
