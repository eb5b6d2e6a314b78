// What must hold for every device's framing, whatever arrives. A framing is an object: each run
// gets a copy of `fresh`, which knows what a device in the middle of its stream would know.
#pragma once

#include "test/support/harness.h"

#include <random>
#include <span>
#include <vector>

#include "drivers/framer.h"
#include "test/support/stream.h"

namespace test {

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {
    UT_PRINT(StringFromFormat("seed %u", seed).asCharString());
  }
  unsigned below(std::size_t n) { return static_cast<unsigned>(engine_() % n); }
  std::byte byte() { return static_cast<std::byte>(below(256)); }

 private:
  std::mt19937 engine_;
};

struct Cut {
  std::vector<Stream> frames;
  drivers::FramerStats stats;
  std::size_t pending = 0;

  std::size_t of(const std::vector<Stream>& wanted) const {
    return static_cast<std::size_t>(std::ranges::count_if(
        frames, [&](const Stream& f) { return std::ranges::find(wanted, f) != wanted.end(); }));
  }
};

// `split`: reads of 1 to `most` bytes; null: one read.
template <drivers::Framing F>
Cut cut(F framing, const Stream& stream, Random* split = nullptr, unsigned most = 97) {
  drivers::StreamFramer<F> framer;
  Cut out;
  const auto keep = [&](const drivers::Frame& f) {
    out.frames.emplace_back(f.bytes.begin(), f.bytes.end());
  };
  for (std::size_t at = 0; at < stream.size();) {
    const std::size_t wanted = split ? 1 + split->below(most) : stream.size();
    const std::size_t n = std::min(wanted, stream.size() - at);
    framer.feed(framing, {std::span(stream).subspan(at, n), hal::Time{}}, keep);
    at += n;
  }
  framer.finish(framing, keep);
  out.stats = framer.stats();
  out.pending = framer.pending();
  LONGS_EQUAL(stream.size(), out.stats.bytes);
  LONGS_EQUAL(out.stats.bytes, out.stats.frame_bytes + out.stats.garbage_bytes + out.pending);
  return out;
}

// A framing that adds up how many bytes its checksums read.
template <drivers::Framing F>
struct Weighed {
  static constexpr std::size_t kMaxFrame = F::kMaxFrame;
  std::size_t measure(hal::Bytes b) { return framing.measure(b); }
  bool intact(hal::Bytes frame) {
    *checked += frame.size();
    return framing.intact(frame);
  }
  F framing;
  std::size_t* checked;
};

// Checksum bytes per byte of garbage: about as many nanoseconds at worst.
inline constexpr std::size_t kMostWork = 96;

// Garbage that looks like the beginning of a frame again and again must not keep the loop busy: a
// checksum may be tried only where the bytes are plausible.
template <drivers::Framing F>
void check_work_is_bounded(const F& fresh, const std::vector<Stream>& good) {
  const auto check = [&](const Stream& garbage) {
    std::size_t checked = 0;
    cut(Weighed<F>{fresh, &checked}, garbage);
    CHECK_TRUE_TEXT(checked <= kMostWork * garbage.size(),
                    StringFromFormat("%zu checksum bytes for %zu bytes %02X %02X %02X %02X ...",
                                     checked, garbage.size(), std::to_integer<unsigned>(garbage[0]),
                                     std::to_integer<unsigned>(garbage[1]),
                                     std::to_integer<unsigned>(garbage[2]),
                                     std::to_integer<unsigned>(garbage[3]))
                        .asCharString());
  };
  const std::size_t size = 4 * F::kMaxFrame;
  for (unsigned value = 0; value < 256; ++value) check(Stream(size, static_cast<std::byte>(value)));
  for (const Stream& frame : std::span(good).first(std::min<std::size_t>(good.size(), 4))) {
    for (std::size_t head = 1; head <= std::min<std::size_t>(frame.size(), 12); ++head) {
      for (const unsigned end : {0x00U, 0x01U, 0x7FU, 0x80U, 0xFEU, 0xFFU, 0x100U}) {
        Stream garbage;
        while (garbage.size() < size) {
          append(garbage, hal::Bytes(frame).first(head));
          if (end < 0x100) garbage.back() = static_cast<std::byte>(end);
        }
        check(garbage);
      }
    }
  }
}

// Frames between 0 to 64 random bytes, false starts and torn frames. However it is split, the
// same comes out, and a good frame is hidden only by a false one: by garbage whose check agreed.
// And garbage costs a bounded amount of work.
template <drivers::Framing F>
void check_garbage_and_splits(const F& fresh, const std::vector<Stream>& good, unsigned seed = 77) {
  Random random(seed);
  for (int round = 0; round < 100; ++round) {
    Stream stream;
    for (const Stream& frame : good) {
      for (unsigned n = random.below(65); n > 0; --n) stream.push_back(random.byte());
      if (random.below(4) == 0) stream.push_back(frame[0]);
      if (random.below(4) == 0) append(stream, hal::Bytes(frame).first(random.below(frame.size())));
      append(stream, frame);
    }
    stream.insert(stream.end(), 2 * F::kMaxFrame, std::byte{0});  // push everything through
    const Cut whole = cut(fresh, stream);
    const std::size_t found = whole.of(good);
    CHECK_TRUE(good.size() <= found + (whole.frames.size() - found));
    CHECK_TRUE(cut(fresh, stream, &random, 1).frames == whole.frames);
    CHECK_TRUE(cut(fresh, stream, &random).frames == whole.frames);
  }
  check_work_is_bounded(fresh, good);
}

// Every way to tear a frame, then a whole one of the same length: it comes out at once.
template <drivers::Framing F>
void check_torn_frames(const F& fresh, const Stream& torn, const Stream& good) {
  for (std::size_t n = 1; n < torn.size(); ++n) {
    Stream stream(torn.begin(), torn.begin() + static_cast<std::ptrdiff_t>(n));
    append(stream, good);
    LONGS_EQUAL(1, cut(fresh, stream).of({good}));
  }
}

// Every bit of a frame turned over: it is not accepted, and its neighbours do not suffer.
template <drivers::Framing F>
void check_bit_flips(const F& fresh, const Stream& frame, const Stream& before,
                     const Stream& after) {
  for (std::size_t bit = 0; bit < 8 * frame.size(); ++bit) {
    Stream stream = before, flipped = frame;
    flipped[bit / 8] ^= std::byte{1} << (bit % 8);
    append(stream, flipped);
    append(stream, after);
    stream.insert(stream.end(), 2 * F::kMaxFrame, std::byte{0});
    const Cut result = cut(fresh, stream);
    LONGS_EQUAL(2, result.frames.size());
    LONGS_EQUAL(2, result.of({before, after}));
  }
}

// A bit is turned over, or bytes are missing or too many: that a check of exclusive or may miss.
enum class Damage : std::uint8_t { bits, any };

// To one frame in ten, but the first and last `sound` ones. Tells which stay whole.
inline std::vector<bool> damage_some(std::vector<Stream>& frames, Random& random, Damage damage,
                                     std::size_t sound = 0) {
  std::vector<bool> whole(frames.size(), true);
  for (std::size_t i = sound; i + sound < frames.size(); ++i) {
    if (random.below(10) != 0) continue;
    whole[i] = false;
    Stream& bytes = frames[i];
    const auto at = bytes.begin() + 1 + random.below(bytes.size() - 1);
    switch (damage == Damage::bits ? 0 : random.below(3)) {
      case 0:
        *at ^= std::byte{1} << random.below(8);
        break;
      case 1:
        bytes.erase(at, std::min(bytes.end(), at + 1 + random.below(9)));
        break;
      default:
        bytes.insert(at, 1 + random.below(9), random.byte());
    }
  }
  return whole;
}

// One in ten frames of a stream has a bit turned over: every other one comes out, in order, and
// nothing else does.
template <drivers::Framing F>
void check_damaged_stream(const F& fresh, const std::vector<Stream>& frames, unsigned seed = 78) {
  Random random(seed);
  std::vector<Stream> sent = frames, intact;
  const std::vector<bool> whole = damage_some(sent, random, Damage::bits);
  Stream stream;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    append(stream, sent[i]);
    if (whole[i]) intact.push_back(frames[i]);
  }
  stream.insert(stream.end(), 2 * F::kMaxFrame, std::byte{0});
  CHECK_TRUE(intact.size() < frames.size());
  const Cut result = cut(fresh, stream, &random);
  LONGS_EQUAL(intact.size(), result.frames.size());
  CHECK_TRUE(result.frames == intact);
}

}  // namespace test
