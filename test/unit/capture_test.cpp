#include "hal/capture.h"

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "test/support/fake_port.h"
#include "test/support/harness.h"
#include "test/support/loop.h"
#include "test/support/manual_clock.h"

using namespace std::chrono_literals;
using hal::RawKind;
using hal::RawRecord;

namespace {

struct Records final : hal::Tap {
  void on_record(const RawRecord& record) override {
    all.push_back(record);
    bytes.emplace_back(record.bytes.begin(), record.bytes.end());
  }
  std::vector<RawRecord> all;
  std::vector<std::vector<std::byte>> bytes;
};

}  // namespace

TEST_GROUP(Capture) {
  test::ManualClock clock;
  Records records;
  test::PortLog log;
  test::FakePort* fake = nullptr;
  std::unique_ptr<hal::Port> port;

  void setup() override {
    auto inner = std::make_unique<test::FakePort>(clock);
    fake = inner.get();
    port = hal::tapped(std::move(inner), records, 3, 1);
  }
  void last_is(RawKind kind) {
    CHECK_TRUE(records.all.back().kind == kind);
    LONGS_EQUAL(3, records.all.back().sensor);
    LONGS_EQUAL(1, records.all.back().channel);
  }
};

TEST(Capture, EncodesEveryFieldLittleEndian) {
  RawRecord record;
  record.kind = RawKind::rx;
  record.sensor = 2;
  record.channel = 1;
  record.sys = -2;
  record.at = hal::from_ns(0x0102030405060708);
  record.value = -1;
  record.lost = 0xA0B0C0D0;
  record.bytes = test::view_of("hi");
  std::array<std::byte, 64> out{};
  LONGS_EQUAL(hal::kRawHeader + 2, hal::encode(record, out));
  constexpr std::array<unsigned, 34> kExpected{
      1,    2,    1,    0,    0xFE, 0xFF, 0xFF, 0xFF, 8,    7,    6,    5, 4, 3, 2, 1,   0xFF,
      0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xD0, 0xC0, 0xB0, 0xA0, 2, 0, 0, 0, 'h', 'i'};
  for (std::size_t i = 0; i < kExpected.size(); ++i) {
    LONGS_EQUAL(kExpected[i], std::to_integer<unsigned>(out[i]));
  }
}

TEST(Capture, DecodesWhatItEncoded) {
  RawRecord record;
  record.kind = RawKind::offset;
  record.sys = -5;
  record.at = hal::from_ns(-7);
  record.value = 1'700'000'000'000'000'000;
  record.lost = 9;
  record.bytes = test::view_of("abc");
  std::array<std::byte, 64> out{};
  const auto back = hal::decode(hal::Bytes(out).first(hal::encode(record, out)));
  CHECK_TRUE(back.has_value());
  CHECK_TRUE(back->kind == record.kind && back->sys == record.sys && back->at == record.at);
  CHECK_TRUE(back->value == record.value && back->lost == record.lost);
  LONGS_EQUAL(3, back->bytes.size());
}

TEST(Capture, WritesNothingWhereItDoesNotFit) {
  RawRecord record;
  record.bytes = test::view_of("x");
  std::array<std::byte, hal::kRawHeader> out{};
  LONGS_EQUAL(0, hal::encode(record, out));
}

TEST(Capture, RefusesTornRecordsAndUnknownKinds) {
  RawRecord record;
  record.bytes = test::view_of("abc");
  std::array<std::byte, 64> out{};
  const std::size_t size = hal::encode(record, out);
  for (std::size_t n = 0; n < size; ++n) CHECK_FALSE(hal::decode(hal::Bytes(out).first(n)));
  CHECK_FALSE(hal::decode(hal::Bytes(out).first(size + 1)));
  out[0] = std::byte{8};
  CHECK_FALSE(hal::decode(hal::Bytes(out).first(size)));
}

TEST(Capture, RefusesTimesThatWouldOverflow) {
  const auto accepts = [](RawKind kind, std::int64_t at, std::int64_t value) {
    RawRecord record;
    record.kind = kind;
    record.at = hal::from_ns(at);
    record.value = value;
    std::array<std::byte, hal::kRawHeader> out;
    hal::encode(record, out);
    return hal::decode(out).has_value();
  };
  constexpr auto kLeast = std::numeric_limits<std::int64_t>::min();
  CHECK_TRUE(accepts(RawKind::offset, 1, 1'700'000'000'000'000'000));
  CHECK_TRUE(accepts(RawKind::rx, 1, 43'000));
  CHECK_FALSE(accepts(RawKind::pass, kLeast, 0));
  CHECK_FALSE(accepts(RawKind::tick, std::numeric_limits<std::int64_t>::max(), 0));
  CHECK_FALSE(accepts(RawKind::offset, 1, kLeast));
  CHECK_FALSE(accepts(RawKind::rx, 1, 2'000'000'000));
  CHECK_FALSE(accepts(RawKind::rx, 1, -1));
}

TEST(Capture, TellsTheTapBeforeTheListener) {
  struct Order final : hal::PortListener {
    explicit Order(const Records& r) : records(r) {}
    void on_port_open(hal::Time) override { seen.push_back(records.all.size()); }
    void on_chunk(const hal::Chunk&) override { seen.push_back(records.all.size()); }
    void on_port_fault(const hal::Error&, hal::Time) override {
      seen.push_back(records.all.size());
    }
    const Records& records;
    std::vector<std::size_t> seen;
  } order(records);
  port->open(order);
  fake->deliver(test::view_of("x"));
  fake->unplug();
  CHECK_TRUE((order.seen == std::vector<std::size_t>{1, 2, 3}));
}

TEST(Capture, RecordsOurOwnEndWithTheOpening) {
  fake->own = {{192, 168, 0, 7}, 2115};
  port->open(log);
  last_is(RawKind::open);
  LONGS_EQUAL(hal::kRawAddress, records.bytes.back().size());
  RawRecord record;
  record.kind = RawKind::open;
  record.bytes = records.bytes.back();
  CHECK_TRUE(hal::address_in(record) == fake->own);
  CHECK_TRUE(port->local() == fake->own);
  record.bytes = record.bytes.first(5);
  CHECK_TRUE(hal::address_in(record) == hal::Address{});
}

TEST(Capture, RecordsAChunkWhole) {
  port->open(log);
  last_is(RawKind::open);
  const hal::Time at = clock.advance(5ms);
  fake->deliver(test::view_of("xyz"), 43us, 7);
  last_is(RawKind::rx);
  CHECK_TRUE(records.all.back().at == at);
  CHECK_EQUAL(43'000, records.all.back().value);
  LONGS_EQUAL(7, records.all.back().lost);
  LONGS_EQUAL(3, records.bytes.back().size());
  STRCMP_EQUAL("xyz", log.text.c_str());
}

TEST(Capture, RecordsAFaultWithItsWords) {
  fake->refusal = {hal::Errc::busy, 16, "fake", hal::Text<192>::of("held by gpsd")};
  fake->refuse_open = true;
  port->open(log);
  last_is(RawKind::fault);
  LONGS_EQUAL(16, records.all.back().sys);
  LONGS_EQUAL(static_cast<int>(hal::Errc::busy), std::to_integer<int>(records.bytes.back()[0]));
  LONGS_EQUAL(1 + 12, records.bytes.back().size());
  LONGS_EQUAL(1, log.faults);
}

TEST(Capture, RecordsAWriteWithItsResult) {
  port->open(log);
  CHECK_TRUE(static_cast<bool>(port->write(test::view_of("go"))));
  last_is(RawKind::tx);
  CHECK_EQUAL(0, records.all.back().value);
  fake->refuse_write = true;
  CHECK_FALSE(static_cast<bool>(port->write(test::view_of("go"))));
  CHECK_EQUAL(1 + static_cast<int>(hal::Errc::no_space), records.all.back().value);
}

TEST(Capture, RecordsAChangeOfTheBaudRateWithItsResult) {
  port->open(log);
  CHECK_TRUE(static_cast<bool>(port->set_baud(460'800)));
  last_is(RawKind::tx);
  LONGS_EQUAL(0, records.bytes.back().size());
  LONGS_EQUAL(460'800, records.all.back().lost);
  CHECK_EQUAL(0, records.all.back().value);
  fake->baud_result = hal::Error{hal::Errc::unsupported, 25, "fake", {}};
  CHECK_FALSE(static_cast<bool>(port->set_baud(9600)));
  LONGS_EQUAL(25, records.all.back().sys);
  CHECK_EQUAL(1 + static_cast<int>(hal::Errc::unsupported), records.all.back().value);
}

TEST(Capture, RecordsThatAPortWasNotDrained) {
  port->open(log);
  CHECK_TRUE(port->drained());
  LONGS_EQUAL(1, records.all.size());
  fake->is_drained = false;
  CHECK_FALSE(port->drained());
  last_is(RawKind::rx);
  LONGS_EQUAL(0, records.bytes.back().size());
}

TEST(Capture, PassesTheRestThrough) {
  port->open(log);
  CHECK_TRUE(static_cast<bool>(port->set_dtr(false)));
  CHECK_FALSE(fake->dtr);
  STRCMP_EQUAL("fake:", std::string(port->name()).c_str());
  fake->counters.lost_datagrams = 4;
  LONGS_EQUAL(4, port->stats().lost_datagrams);
  port->close();
  CHECK_FALSE(fake->is_open());
}
