// A simulated lidar's frames through the decoder of its driver: whole, split, damaged, beside
// another's.
#pragma once

#include "drivers/registry.h"
#include "test/sim/room.h"
#include "test/support/framing_properties.h"
#include "test/support/packet_log.h"
#include "test/unit/sim_fixture.h"

namespace test {

// What a device said in some seconds, frame by frame, and what it measured for each of them.
struct Played {
  std::vector<Stream> frames;
  std::vector<sim::ScanTruth> scans;
};

inline Played play(const char* driver, const sim::Options& set, double seconds) {
  sim_test::Bench bench(driver, set);
  bench.run_for(seconds);
  Played played;
  for (const sim::Frame& frame : bench.out.frames) {
    played.frames.emplace_back(frame.bytes.begin(), frame.bytes.end());
  }
  played.scans = bench.out.scans;
  return played;
}

inline Stream concatenated(const std::vector<Stream>& frames) {
  Stream stream;
  for (const Stream& frame : frames) append(stream, frame);
  return stream;
}

using OptionList = std::vector<std::pair<const char*, const char*>>;

// A decoder of the registry with its log, fed at the pace of a line.
class DecodeBench {
 public:
  explicit DecodeBench(const char* driver, const OptionList& set = {})
      : row_(*drivers::find(driver)), options_(row_.options) {
    for (const auto& [key, value] : set) CHECK_TRUE(static_cast<bool>(options_.set(key, value)));
    decoder_ = row_.make_decoder(options_, row_.default_baud, log);
  }
  void feed(hal::Bytes bytes) {
    now_ += std::chrono::microseconds(10'000'000 / row_.default_baud * bytes.size());
    decoder_->feed({bytes, now_});
  }
  void finish() {
    decoder_->finish();
    const drivers::DecoderStats s = stats();
    LONGS_EQUAL(s.framing.bytes, s.framing.frame_bytes + s.framing.garbage_bytes + s.tail_bytes);
  }
  void feed_all(const Stream& stream, Random* split = nullptr) {
    for (std::size_t at = 0; at < stream.size();) {
      const std::size_t wanted = split ? 1 + split->below(97) : stream.size();
      const std::size_t n = std::min(wanted, stream.size() - at);
      feed(hal::Bytes(stream).subspan(at, n));
      at += n;
    }
    finish();
  }
  drivers::DecoderStats stats() const { return decoder_->stats(); }

  PacketLog log;

 private:
  const drivers::Row& row_;
  drivers::Options options_;
  std::unique_ptr<drivers::Decoder> decoder_;
  hal::Time now_{std::chrono::seconds(1000)};
};

// Whether a packet is what was measured: each beam at its angle, with its range.
inline bool is_true(const std::vector<drivers::Beam>& beams, const sim::ScanTruth& truth,
                    double deg, double metres) {
  if (beams.size() != truth.beams.size()) return false;
  for (std::size_t i = 0; i < beams.size(); ++i) {
    const double off = std::remainder(double{beams[i].angle} - truth.beams[i].angle, sim::kTurn);
    if (std::abs(sim::degrees(off)) > deg) return false;
    if (std::abs(double{beams[i].range} - truth.beams[i].range) > metres) return false;
  }
  return true;
}

inline void check_same_beams(const PacketLog& a, const PacketLog& b) {
  LONGS_EQUAL(a.slices.size(), b.slices.size());
  for (std::size_t i = 0; i < a.beams.size(); ++i) {
    CHECK_TRUE(a.slices[i].starts_turn == b.slices[i].starts_turn);
    CHECK_TRUE(std::ranges::equal(a.beams[i], b.beams[i], [](const auto& x, const auto& y) {
      return x.angle == y.angle && x.range == y.range && x.intensity == y.intensity;
    }));
  }
}

// However it is split, the same comes out.
inline void check_splits(const char* driver, const OptionList& set, const Stream& stream) {
  DecodeBench whole(driver, set);
  whole.feed_all(stream);
  Random random(11);
  for (int round = 0; round < 10; ++round) {
    DecodeBench split(driver, set);
    split.feed_all(stream, &random);
    check_same_beams(whole.log, split.log);
  }
}

// Two devices read in turn give what each gives alone.
inline void check_interleaved(const char* driver, const OptionList& set, const Stream& one,
                              const Stream& two) {
  DecodeBench alone_one(driver, set), alone_two(driver, set), a(driver, set), b(driver, set);
  const std::size_t most = std::max(one.size(), two.size());
  const auto part = [](const Stream& s, std::size_t at) {
    const std::size_t from = std::min(at, s.size());
    return hal::Bytes(s).subspan(from, std::min<std::size_t>(61, s.size() - from));
  };
  for (std::size_t at = 0; at < most; at += 61) alone_one.feed(part(one, at));
  for (std::size_t at = 0; at < most; at += 61) alone_two.feed(part(two, at));
  for (std::size_t at = 0; at < most; at += 61) a.feed(part(one, at)), b.feed(part(two, at));
  CHECK_TRUE(!a.log.slices.empty() && !b.log.slices.empty());
  check_same_beams(alone_one.log, a.log);
  check_same_beams(alone_two.log, b.log);
}

// One frame in ten is damaged: bits turned over in `flips_to` first bytes, torn, or gone.
struct Damaged {
  Stream stream;
  std::vector<std::size_t> intact;  // which frames
};

inline Damaged damage(const std::vector<Stream>& frames, Random& random,
                      std::size_t flips_to = SIZE_MAX) {
  Damaged out;
  for (std::size_t i = 0; i < frames.size(); ++i) {
    Stream frame = frames[i];
    if (random.below(10) != 0) {
      out.intact.push_back(i);
    } else if (const unsigned kind = random.below(3); kind == 0) {
      frame[random.below(std::min(flips_to, frame.size()))] ^= std::byte{1} << random.below(8);
    } else {
      frame.resize(kind == 1 ? random.below(frame.size()) : 0);
    }
    append(out.stream, frame);
  }
  return out;
}

}  // namespace test
