// Cuts arriving bytes into checked frames. The one place that resynchronises: a device only says
// how its frames look.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstdint>
#include <cstring>
#include <utility>

#include "hal/port.h"

namespace drivers {

using hal::Bytes;

enum class Channel : std::uint8_t { data, control, imu };
inline constexpr std::size_t kMaxChannels = 3;

struct Frame {
  Bytes bytes;                // valid only during the call that delivers it
  hal::Time first_at{};       // arrival of bytes[0]
  hal::Time last_at{};        // arrival of the last byte
  std::uint32_t skipped = 0;  // bytes that were thrown away since the frame before
  Channel channel = Channel::data;
};

inline constexpr std::size_t kNotAFrame = 0;
inline constexpr std::size_t kNeedMore = static_cast<std::size_t>(-1);

// How frames of one channel look. An object, since what follows may depend on what was answered.
// Where no frame goes on in the next datagram (kDatagrams = true; else datagrams are a stream as
// any) one that is not whole at its end is decided upon as in finish(), and the rest is garbage.
template <class F>
concept Framing = requires(F f, Bytes b) {
  { F::kMaxFrame } -> std::convertible_to<std::size_t>;
  // Length of the frame that starts at b[0]; kNotAFrame; or kNeedMore. `b` holds at least one byte.
  { f.measure(b) } -> std::same_as<std::size_t>;
  { f.intact(b) } -> std::same_as<bool>;  // does the checksum of this whole frame agree?
};

// bytes = frame_bytes + garbage_bytes + what is pending. Counters only grow.
struct FramerStats {
  std::uint64_t bytes = 0, frames = 0, frame_bytes = 0;
  std::uint64_t rejected = 0;       // looked like a frame, its checksum did not agree
  std::uint64_t garbage_bytes = 0;  // thrown away one by one while looking for a frame
};

// A frame that was being sent before a pause of this length and is not whole after it hides no
// whole frame behind it. (It may be whole: a host that stalled reads its rest late.)
inline constexpr hal::Duration kPause = std::chrono::milliseconds(100);

template <Framing F>
class StreamFramer {
 public:
  // Calls `on_frame(const Frame&)` for each frame that `chunk` completes, in order.
  template <class OnFrame>
  void feed(F& framing, const hal::Chunk& chunk, OnFrame&& on_frame) {
    stats_.bytes += chunk.bytes.size();
    if (!chunk.bytes.empty() && chunk.at(0) - newest_at_ > kPause) paused_ = size_;
    feeding_ = true;
    for (std::size_t taken = 0; taken < chunk.bytes.size();) {
      const std::size_t old = size_;
      const std::size_t n = std::min(chunk.bytes.size() - taken, buffer_.size() - size_);
      std::memcpy(&buffer_[size_], &chunk.bytes[taken], n);
      size_ += n;
      // Arrival of buffer_[i]. A late read makes bytes look newer than they are, so line time
      // counted back from it may reach before bytes that are here already: never behind those.
      const auto arrival_of = [&](std::size_t i) {
        if (i >= old) return std::max(chunk.at(taken + i - old), newest_at_);
        if (i > 0 && chunk.per_byte == hal::Duration{}) return newest_at_;  // late beats early
        return std::min(pending_at_ + chunk.per_byte * static_cast<std::int64_t>(i), newest_at_);
      };
      std::size_t gone = scan(framing, on_frame, arrival_of, false);
      while (const std::size_t hidden = paused_ > 0 && !cut_ ? next_whole(framing, false) : 0) {
        skip(hidden);
        gone += hidden;
        const auto later = [&](std::size_t i) { return arrival_of(gone + i); };
        gone += scan(framing, on_frame, later, false);
      }
      taken += n;
      newest_at_ = std::max(chunk.at(taken - 1), newest_at_);
      if (cut_) {
        stats_.garbage_bytes += chunk.bytes.size() - taken;
        break;
      }
    }
    end_feed();
    if (ends_with_datagrams() && chunk.is_datagram && size_ > 0) {
      finish(framing, on_frame);
      skip(size_);
    }
  }

  // No more bytes will come: a framing that asked for more may decide on what there is (see
  // measure_last), and what will never be whole hides no whole frame. The rest stays pending.
  template <class OnFrame>
  void finish(F& framing, OnFrame&& on_frame) {
    const auto newest = [this](std::size_t) { return newest_at_; };
    feeding_ = true;
    scan(framing, on_frame, newest, true);
    while (const std::size_t hidden = cut_ ? 0 : next_whole(framing, true)) {
      skip(hidden);
      scan(framing, on_frame, newest, true);
    }
    end_feed();
  }

  // Forgets what is pending, counted as garbage; called by on_frame, also the rest of the chunk.
  void reset() {
    if (feeding_) {
      cut_ = true;
      return;
    }
    stats_.garbage_bytes += size_;
    size_ = paused_ = 0;
    skipped_ = 0;
  }
  const FramerStats& stats() const { return stats_; }
  std::size_t pending() const { return size_; }

 private:
  static constexpr bool ends_with_datagrams() {
    if constexpr (requires { F::kDatagrams; }) {
      return F::kDatagrams;
    } else {
      return false;
    }
  }

  static std::size_t measure(F& framing, Bytes rest, bool last) {
    if constexpr (requires { framing.measure_last(rest); }) {
      if (last) return framing.measure_last(rest);
    }
    return framing.measure(rest);
  }

  // Returns how many bytes it took off the front.
  template <class OnFrame, class ArrivalOf>
  std::size_t scan(F& framing, OnFrame&& on_frame, ArrivalOf&& arrival_of, bool last) {
    std::size_t pos = 0;
    while (pos < size_ && !cut_) {
      const Bytes rest(&buffer_[pos], size_ - pos);
      const std::size_t want = measure(framing, rest, last);
      const bool undecided = want == kNeedMore && rest.size() < F::kMaxFrame;
      const bool arriving = want <= F::kMaxFrame && want > rest.size();
      if (undecided || arriving) break;
      const bool plausible = want != kNotAFrame && want <= F::kMaxFrame;
      if (plausible && framing.intact(rest.first(want))) {
        deliver(rest.first(want), arrival_of(pos), arrival_of(pos + want - 1), on_frame);
        pos += want;
      } else {
        stats_.rejected += plausible;
        ++stats_.garbage_bytes;
        ++skipped_;
        ++pos;  // one byte only: a good frame may start inside the bad one
      }
    }
    if (pos < size_) pending_at_ = arrival_of(pos);
    remove(pos);
    return pos;
  }

  void end_feed() {
    feeding_ = false;
    if (std::exchange(cut_, false)) reset();
  }

  // Where the first whole frame after buffer_[0] begins; 0: there is none.
  std::size_t next_whole(F& framing, bool last) const {
    for (std::size_t pos = 1; pos < size_; ++pos) {
      const Bytes rest(&buffer_[pos], size_ - pos);
      const std::size_t want = measure(framing, rest, last);
      if (want != kNotAFrame && want <= rest.size() && framing.intact(rest.first(want))) return pos;
    }
    return 0;
  }

  void skip(std::size_t n) {
    stats_.garbage_bytes += n;
    skipped_ += static_cast<std::uint32_t>(n);
    remove(n);
  }

  void remove(std::size_t n) {
    size_ -= n;
    paused_ -= std::min(paused_, n);
    std::memmove(buffer_.data(), buffer_.data() + n, size_);
  }

  template <class OnFrame>
  void deliver(Bytes bytes, hal::Time first, hal::Time last, OnFrame&& on_frame) {
    ++stats_.frames;
    stats_.frame_bytes += bytes.size();
    on_frame(Frame{bytes, first, last, std::exchange(skipped_, 0)});
  }

  // Twice, so that moving the rest to the front is rare and never needed for one frame.
  std::array<std::byte, 2 * F::kMaxFrame> buffer_;
  std::size_t size_ = 0;
  std::size_t paused_ = 0;  // of these, how many came before the newest pause
  std::uint32_t skipped_ = 0;
  bool feeding_ = false, cut_ = false;  // cut_: reset() while feeding
  hal::Time pending_at_{};              // arrival of buffer_[0]
  hal::Time newest_at_{};               // arrival of the newest byte of all
  FramerStats stats_;
};

}  // namespace drivers
