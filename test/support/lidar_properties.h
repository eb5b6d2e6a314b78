// What must hold for the packets of every lidar that streams, on the frames of its simulator.
#pragma once

#include <functional>
#include <memory>

#include "drivers/decoder.h"
#include "test/support/allocation_counter.h"
#include "test/support/framing_properties.h"
#include "test/support/packet_log.h"
#include "test/unit/sim_fixture.h"

namespace test {

struct TimedFrame {
  Stream bytes;
  hal::Time at;  // of its last byte
};

inline std::vector<TimedFrame> frames_of(const char* driver, const sim::Options& set,
                                         double seconds) {
  sim_test::Bench bench(driver, set);
  bench.run_for(seconds);
  std::vector<TimedFrame> frames;
  for (const sim::Frame& frame : bench.out.frames) {
    frames.push_back({Stream(frame.bytes.begin(), frame.bytes.end()), frame.at});
  }
  return frames;
}

template <class D>
std::vector<std::vector<drivers::Beam>> beams_of(const drivers::Options& options,
                                                 const std::vector<TimedFrame>& frames,
                                                 Random* split = nullptr,
                                                 std::size_t* turns = nullptr) {
  PacketLog log;
  const auto decoder = std::make_unique<drivers::DeviceDecoder<D>>(options, 0, log);
  for (const TimedFrame& frame : frames) {
    for (std::size_t at = 0; at < frame.bytes.size();) {
      const std::size_t n = split ? 1 + split->below(frame.bytes.size() - at) : frame.bytes.size();
      decoder->feed({hal::Bytes(frame.bytes).subspan(at, n), frame.at});
      at += n;
    }
  }
  decoder->finish();
  const drivers::DecoderStats s = decoder->stats();
  CHECK_TRUE(s.framing.bytes == s.framing.frame_bytes + s.framing.garbage_bytes + s.tail_bytes);
  if (turns) {
    *turns = static_cast<std::size_t>(
        std::ranges::count_if(log.slices, &drivers::ScanSlice::starts_turn));
  }
  return log.beams;
}

inline bool same(const std::vector<drivers::Beam>& a, const std::vector<drivers::Beam>& b) {
  return std::ranges::equal(a, b, [](const drivers::Beam& x, const drivers::Beam& y) {
    return x.angle == y.angle && x.range == y.range && x.intensity == y.intensity;
  });
}

// One frame in ten is damaged, but the first and last ten. All others are delivered, and no turn is
// lost or seen twice.
template <class D>
void check_damaged_frames(const drivers::Options& options, std::vector<TimedFrame> frames) {
  Random random(7);
  std::size_t turns = 0, all_turns = 0;
  const auto all = beams_of<D>(options, frames, nullptr, &all_turns);
  LONGS_EQUAL(frames.size(), all.size());
  std::vector<Stream> sent;
  for (const TimedFrame& frame : frames) sent.push_back(frame.bytes);
  const std::vector<bool> whole = damage_some(sent, random, Damage::any, 10);
  for (std::size_t i = 0; i < frames.size(); ++i) frames[i].bytes = sent[i];
  const auto seen = beams_of<D>(options, frames, &random, &turns);
  std::size_t next = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (!whole[i]) continue;
    CHECK_TRUE_TEXT(next < seen.size() && same(seen[next], all[i]),
                    StringFromFormat("frame %zu", i).asCharString());
    ++next;
  }
  LONGS_EQUAL(seen.size(), next);
  LONGS_EQUAL(all_turns, turns);
}

// Two in one process do not meet, and nothing is allocated for what they deliver.
template <class D>
void check_interleaved(const drivers::Options& options, const std::vector<TimedFrame>& one,
                       const std::vector<TimedFrame>& other) {
  PacketLog first_log, second_log;
  const auto first = std::make_unique<drivers::DeviceDecoder<D>>(options, 0, first_log);
  const auto second = std::make_unique<drivers::DeviceDecoder<D>>(options, 0, second_log);
  for (std::size_t i = 0; i < std::max(one.size(), other.size()); ++i) {
    if (i < one.size()) first->feed({one[i].bytes, one[i].at});
    if (i < other.size()) second->feed({other[i].bytes, other[i].at});
  }
  CHECK_TRUE(std::ranges::equal(first_log.beams, beams_of<D>(options, one), same));
  CHECK_TRUE(std::ranges::equal(second_log.beams, beams_of<D>(options, other), same));

  PacketCounter counter;
  const auto quiet = std::make_unique<drivers::DeviceDecoder<D>>(options, 0, counter);
  const AllocationCounter allocations;
  for (const TimedFrame& frame : one) quiet->feed({frame.bytes, frame.at});
  LONGS_EQUAL(0, allocations.count());
  LONGS_EQUAL(one.size(), counter.packets);
}

}  // namespace test
