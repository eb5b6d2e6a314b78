#include "drivers/framer.h"

#include <vector>

#include "test/support/framing_properties.h"
#include "test/support/harness.h"
#include "test/support/hex.h"
#include "test/support/manual_clock.h"
#include "test/support/tiny_device.h"

using namespace drivers;
using namespace std::chrono_literals;
using test::hex;
using test::joined;
using test::tiny;
using test::TinyFraming;

namespace {

using Octets = std::vector<std::byte>;

struct Copy {
  Octets bytes;
  hal::Time first_at, last_at;
  std::uint32_t skipped;
};

// Frames end where the next one begins; the last one ends with the bytes.
struct UntilNext {
  static constexpr std::size_t kMaxFrame = 8;
  static std::size_t measure(Bytes b) {
    if (b[0] != std::byte{1}) return kNotAFrame;
    const auto next = std::find(b.begin() + 1, b.end(), std::byte{1});
    return next == b.end() ? kNeedMore : static_cast<std::size_t>(next - b.begin());
  }
  static std::size_t measure_last(Bytes b) {
    const std::size_t n = measure(b);
    return n == kNeedMore ? b.size() : n;
  }
  static bool intact(Bytes) { return true; }
};

// The same, each datagram for itself.
struct OfDatagrams : UntilNext {
  static constexpr bool kDatagrams = true;
};

struct WholeTiny : TinyFraming {
  static constexpr bool kDatagrams = true;
};

}  // namespace

TEST_GROUP(StreamFramer) {
  TinyFraming framing;
  StreamFramer<TinyFraming> framer;
  std::vector<Copy> frames;

  auto keep() {
    return [this](const Frame& f) {
      frames.push_back({{f.bytes.begin(), f.bytes.end()}, f.first_at, f.last_at, f.skipped});
    };
  }
  void feed(const Octets& bytes, hal::Time at = hal::Time{1000s}, hal::Duration per_byte = 0ns) {
    framer.feed(framing, {bytes, at, per_byte}, keep());
  }
  void books_balance() {
    const FramerStats& s = framer.stats();
    LONGS_EQUAL(s.bytes, s.frame_bytes + s.garbage_bytes + framer.pending());
  }
};

TEST(StreamFramer, WhatADatagramLeavesUnfinishedIsDecidedUponAtItsEnd) {
  OfDatagrams datagrams;
  StreamFramer<OfDatagrams> each;
  const auto feed_one = [&](const Octets& bytes, bool is_datagram) {
    each.feed(datagrams, {bytes, hal::Time{1s}, 0ns, 0, is_datagram}, keep());
  };
  feed_one(hex("01 02 03 01 04"), true);
  LONGS_EQUAL(2, frames.size());
  CHECK_TRUE(frames[1].bytes == hex("01 04"));
  feed_one(hex("07 07"), true);
  feed_one(hex("01 05"), true);
  LONGS_EQUAL(3, frames.size());
  LONGS_EQUAL(2, frames[2].skipped);
  LONGS_EQUAL(0, each.pending());
  LONGS_EQUAL(9, each.stats().bytes);
  LONGS_EQUAL(7, each.stats().frame_bytes);
  LONGS_EQUAL(2, each.stats().garbage_bytes);
  feed_one(hex("01 06"), false);
  LONGS_EQUAL(2, each.pending());
}

TEST(StreamFramer, ATruncatedDatagramSwallowsNothingOfTheNext) {
  WholeTiny whole;
  StreamFramer<WholeTiny> each;
  const Octets frame = tiny({'m', 1, 0xAA, 2});
  for (std::size_t cut = 1; cut < frame.size(); ++cut) {
    frames.clear();
    each.feed(whole, {hal::Bytes(frame).first(cut), hal::Time{1s}, 0ns, 0, true}, keep());
    each.feed(whole, {frame, hal::Time{1s}, 0ns, 0, true}, keep());
    LONGS_EQUAL(1, frames.size());
    CHECK_TRUE(frames[0].bytes == frame);
    LONGS_EQUAL(cut, frames[0].skipped);
    LONGS_EQUAL(each.stats().bytes, each.stats().frame_bytes + each.stats().garbage_bytes);
  }
}

TEST(StreamFramer, DatagramsOfAStreamGoOnInTheNext) {
  const Octets frame = tiny({'m', 1, 0xAA, 2});
  framer.feed(framing, {hal::Bytes(frame).first(2), hal::Time{1s}, 0ns, 0, true}, keep());
  framer.feed(framing, {hal::Bytes(frame).subspan(2), hal::Time{1s}, 0ns, 0, true}, keep());
  LONGS_EQUAL(1, frames.size());
}

TEST(StreamFramer, FindsAFrameHoweverItIsSplit) {
  const Octets frame = tiny({'m', 1, 0xAA, 2});
  for (std::size_t i = 1; i < frame.size(); ++i) {
    const auto middle = frame.begin() + static_cast<std::ptrdiff_t>(i);
    feed({frame.begin(), middle});
    LONGS_EQUAL(i, framer.pending());
    books_balance();
    feed({middle, frame.end()});
    LONGS_EQUAL(i, frames.size());
    CHECK_TRUE(frames.back().bytes == frame);
    LONGS_EQUAL(0, framer.pending());
  }
}

TEST(StreamFramer, DeliversAllFramesOfAReadInTheirOrder) {
  Octets all;
  for (unsigned i = 0; i < 50; ++i) all = joined(all, tiny({'m', i}));
  feed(all);
  LONGS_EQUAL(50, frames.size());
  for (unsigned i = 0; i < 50; ++i) CHECK_TRUE(frames[i].bytes == tiny({'m', i}));
  LONGS_EQUAL(50, framer.stats().frames);
  LONGS_EQUAL(all.size(), framer.stats().frame_bytes);
}

TEST(StreamFramer, MayBeResetByTheFrameThatItDelivers) {
  const Octets three = joined(joined(tiny({'m', 1}), tiny({'m', 2})), hex("AA 05 01"));
  int delivered = 0;
  framer.feed(framing, {three, hal::Time{1000s}}, [&](const Frame&) {
    ++delivered;
    framer.reset();
  });
  LONGS_EQUAL(1, delivered);
  LONGS_EQUAL(0, framer.pending());
  LONGS_EQUAL(5 + 3, framer.stats().garbage_bytes);
  books_balance();
  feed(joined(Octets(100), tiny({'m', 3})));
  LONGS_EQUAL(1, frames.size());
  LONGS_EQUAL(100, frames[0].skipped);
  books_balance();
}

TEST(StreamFramer, CountsGarbageByteByByteAndTellsTheNextFrame) {
  feed(joined(joined(hex("01 02 03"), tiny({'m'})), tiny({'n'})));
  LONGS_EQUAL(2, frames.size());
  LONGS_EQUAL(3, frames[0].skipped);
  LONGS_EQUAL(0, frames[1].skipped);
  LONGS_EQUAL(3, framer.stats().garbage_bytes);
  LONGS_EQUAL(0, framer.stats().rejected);
}

TEST(StreamFramer, ResumesOneByteAfterAFalseStart) {
  // The first 0xAA claims a frame that swallows the second one.
  feed(joined(hex("AA 05"), tiny({'m', 7})));
  feed(hex("00"));  // the false frame is whole now
  LONGS_EQUAL(1, frames.size());
  CHECK_TRUE(frames[0].bytes == tiny({'m', 7}));
  LONGS_EQUAL(1, framer.stats().rejected);
  LONGS_EQUAL(2, frames[0].skipped);
  books_balance();
}

TEST(StreamFramer, AnImpossibleLengthIsNoFrameAtOnce) {
  feed(joined(hex("AA FF"), tiny({'m', 7})));
  LONGS_EQUAL(1, frames.size());
  LONGS_EQUAL(0, framer.stats().rejected);
}

TEST(StreamFramer, ADamagedFrameIsRejectedAndItsSuccessorIsNot) {
  Octets damaged = tiny({'m', 1});
  damaged[3] ^= std::byte{1};
  feed(joined(damaged, tiny({'m', 2})));
  LONGS_EQUAL(1, frames.size());
  CHECK_TRUE(frames[0].bytes == tiny({'m', 2}));
  LONGS_EQUAL(1, framer.stats().rejected);
  LONGS_EQUAL(damaged.size(), framer.stats().garbage_bytes);
}

TEST(StreamFramer, SkippedBytesOfEarlierReadsAreTold) {
  feed(hex("01 02"));
  feed(hex("03"));
  feed(tiny({'m'}));
  LONGS_EQUAL(3, frames.at(0).skipped);
}

TEST(StreamFramer, StampsTheFirstAndTheLastByteByLineTime) {
  feed(tiny({'m', 1}), hal::Time{1000s}, 1ms);  // 5 bytes
  CHECK_TRUE(frames.at(0).first_at == hal::Time{1000s} - 4ms);
  CHECK_TRUE(frames[0].last_at == hal::Time{1000s});
}

TEST(StreamFramer, AFrameOverTwoReadsBeganInTheFirst) {
  const Octets frame = tiny({'m', 1});
  feed({frame.begin(), frame.begin() + 2}, hal::Time{1000s}, 1ms);
  feed({frame.begin() + 2, frame.end()}, hal::Time{1001s}, 1ms);
  CHECK_TRUE(frames.at(0).first_at == hal::Time{1000s} - 1ms);
  CHECK_TRUE(frames[0].last_at == hal::Time{1001s});
}

TEST(StreamFramer, LineTimeNeverReachesBehindBytesThatAreHere) {
  const Octets frame = tiny({'m', 1});
  feed(frame, hal::Time{1000s}, 1ms);
  feed(joined(frame, frame), hal::Time{1000s} + 2ms, 1ms);  // 10 ms of line time in 2 ms
  hal::Time before = frames.at(0).last_at;
  for (std::size_t i = 1; i < 3; ++i) {
    CHECK_TRUE(before <= frames.at(i).first_at);
    CHECK_TRUE(frames[i].first_at <= frames[i].last_at);
    before = frames[i].last_at;
  }
  CHECK_TRUE(before == hal::Time{1000s} + 2ms);
}

TEST(StreamFramer, ArrivalsNeverGoBackHoweverTheStreamIsRead) {
  test::Random random(5);
  Octets stream;
  for (unsigned i = 0; i < 300; ++i) {
    for (unsigned n = random.below(3); n > 0; --n) stream.push_back(random.byte());
    stream = joined(stream, tiny({'m', i & 0x7F}));
  }
  hal::Time now{1000s};
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t n = std::min<std::size_t>(1 + random.below(40), stream.size() - at);
    now += hal::Duration(random.below(3'000'000));
    framer.feed(framing, {std::span(stream).subspan(at, n), now, 87us}, keep());
    at += n;
  }
  CHECK_TRUE(frames.size() > 250);
  hal::Time before{};
  for (const Copy& f : frames) {
    CHECK_TRUE(before <= f.first_at && f.first_at <= f.last_at);
    before = f.last_at;
  }
}

TEST(StreamFramer, AFrameThatStoppedArrivingHidesNoneThatComesLater) {
  feed(joined(tiny({'m'}), hex("AA 0D 01")), hal::Time{1000s});
  feed(tiny({'a'}), hal::Time{1000s} + 101ms, 1us);
  LONGS_EQUAL(2, frames.size());
  CHECK_TRUE(frames[1].bytes == tiny({'a'}));
  LONGS_EQUAL(3, frames[1].skipped);
  CHECK_TRUE(frames[1].first_at == hal::Time{1000s} + 101ms - 3us);
  LONGS_EQUAL(3, framer.stats().garbage_bytes);
  LONGS_EQUAL(0, framer.pending());
  books_balance();
}

TEST(StreamFramer, NorOneThatComesInTwoReads) {
  feed(hex("AA 0D 01 AA"), hal::Time{1000s});
  feed(hex("AA 01"), hal::Time{1000s} + 200ms);
  LONGS_EQUAL(0, frames.size());
  feed(hex("61 0C"), hal::Time{1000s} + 201ms);
  LONGS_EQUAL(1, frames.size());
  CHECK_TRUE(frames[0].bytes == tiny({'a'}));
  books_balance();
}

TEST(StreamFramer, AFrameWhoseRestIsReadLateIsWhole) {
  const Octets outer = tiny({'m', 0xAA, 0x01, 0x61, 0x0C, 7});  // a whole frame in its payload
  feed({outer.begin(), outer.begin() + 2}, hal::Time{1000s});
  feed({outer.begin() + 2, outer.end()}, hal::Time{1005s});
  LONGS_EQUAL(1, frames.size());
  CHECK_TRUE(frames[0].bytes == outer);
}

TEST(StreamFramer, ResetForgetsWhatIsPendingAndCountsIt) {
  feed(hex("01 AA 05 01"));
  LONGS_EQUAL(3, framer.pending());
  framer.reset();
  LONGS_EQUAL(0, framer.pending());
  LONGS_EQUAL(4, framer.stats().garbage_bytes);
  books_balance();
  feed(tiny({'m'}));
  LONGS_EQUAL(0, frames.at(0).skipped);  // those belonged to another connection
}

TEST(StreamFramer, FinishLeavesATornFramePending) {
  feed(joined(tiny({'m'}), hex("AA 05 01")));
  framer.finish(framing, keep());
  LONGS_EQUAL(1, frames.size());
  LONGS_EQUAL(3, framer.pending());
  books_balance();
}

TEST(StreamFramer, FinishFindsTheFramesThatATornOneHides) {
  feed(joined(joined(joined(hex("AA 0D"), tiny({'m', 1})), tiny({'m', 2})), hex("AA 0D 03")));
  LONGS_EQUAL(0, frames.size());
  framer.finish(framing, keep());
  LONGS_EQUAL(2, frames.size());
  LONGS_EQUAL(2, frames[0].skipped);
  LONGS_EQUAL(3, framer.pending());
  LONGS_EQUAL(2, framer.stats().garbage_bytes);
  books_balance();
}

TEST(StreamFramer, FinishAsksTheFramingHowTheLastFrameEnds) {
  UntilNext until_next;
  StreamFramer<UntilNext> other;
  const auto feed_other = [&](const Octets& bytes) {
    other.feed(until_next, {bytes, hal::Time{}}, keep());
  };
  feed_other(hex("01 02 03 01 04"));
  LONGS_EQUAL(1, frames.size());
  other.finish(until_next, keep());
  LONGS_EQUAL(2, frames.size());
  CHECK_TRUE(frames[1].bytes == hex("01 04"));
}

TEST(StreamFramer, WhatStaysUndecidedForLongerThanAFrameIsNoFrame) {
  UntilNext until_next;
  StreamFramer<UntilNext> other;
  other.feed(until_next, {hex("01 02 03 04 05 06 07 08 09 01 02 01"), hal::Time{}}, keep());
  LONGS_EQUAL(1, frames.size());
  CHECK_TRUE(frames[0].bytes == hex("01 02"));
  LONGS_EQUAL(9, frames[0].skipped);
}

TEST(StreamFramer, KeepsTheCommonProperties) {
  const std::vector<Octets> good{tiny({'m', 1}), tiny({'a'}), tiny({'m', 0xAA, 0xAA, 2, 3})};
  test::check_garbage_and_splits(framing, good);
  test::check_torn_frames(framing, tiny({'m', 1, 2, 3}), tiny({'m', 4, 5, 6}));
  test::check_bit_flips(framing, tiny({'m', 1, 2, 3}), tiny({'m', 4, 5, 6}), tiny({'a'}));
}
