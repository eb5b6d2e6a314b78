// What only a look at the measurements shows: a sensor that repeats itself, a motor that stands.
#pragma once

#include <array>
#include <cstring>
#include <utility>

#include "drivers/framer.h"
#include "drivers/packet.h"

namespace drivers {

// The same frame, bit for bit, for this long is no measurement: beams of a turning lidar differ in
// their angles. Scans are looked at only: a resting inertial sensor may repeat itself.
inline constexpr hal::Duration kStuckAfter = std::chrono::milliseconds(500);

template <std::size_t kMaxFrame>
class RepeatWatch {
 public:
  void forget() { size_ = repeats_ = 0; }

  // To be told of every frame that gave a scan.
  bool is_stuck(Bytes frame, hal::Time at) {
    if (frame.size() == size_ && std::memcmp(frame.data(), last_.data(), size_) == 0) {
      ++repeats_;
      return at - since_ >= kStuckAfter;
    }
    repeats_ = 0;
    size_ = frame.size();
    std::memcpy(last_.data(), frame.data(), size_);
    since_ = at;
    return false;
  }
  // Whether the newest frames were all the same: of a device that fell silent for want of any
  // other.
  bool repeats() const { return repeats_ > 2; }

 private:
  std::array<std::byte, kMaxFrame> last_{};
  std::size_t size_ = 0;     // 0: none yet
  std::size_t repeats_ = 0;  // of the newest frame
  hal::Time since_{};
};

// No lidar measures for this long without passing its turn boundary.
inline constexpr hal::Duration kLongestTurn = std::chrono::milliseconds(1500);

class TurnWatch {
 public:
  // `most_hz`: the device's fastest turns; 0: not known, any speed is plausible.
  explicit TurnWatch(double most_hz) : most_hz_(most_hz) {}

  enum class Verdict : std::uint8_t { fine, standing, too_fast };

  void forget() {
    began_ = false;
    is_fast_ = false;
    turns_ = 0;
    seconds_ = 0;
  }

  Verdict see(const ScanSlice& slice) {
    if (slice.first - std::exchange(newest_, slice.last()) > kLongestTurn / 2) forget();  // a pause
    if (!std::exchange(began_, true)) turned_at_ = slice.first;
    if (slice.starts_turn) {
      const double seconds = hal::to_seconds(slice.first - turned_at_);
      // The mean of the durations, not of the speeds: one turn that is cut short is no speed.
      if (turns_ > 0 && seconds > 0)
        seconds_ = seconds_ == 0 ? seconds : seconds_ + (seconds - seconds_) / 8;
      if (turns_ < kEnough) ++turns_;
      turned_at_ = slice.first;
    }
    if (slice.last() - turned_at_ > kLongestTurn) {
      is_fast_ = false;
      turns_ = 0;
      seconds_ = 0;
      return Verdict::standing;
    }
    const bool fast = most_hz_ > 0 && turns_ == kEnough && hz() > 2 * most_hz_;
    if (fast && !is_fast_) fast_since_ = slice.first;
    is_fast_ = fast;
    return fast && slice.first - fast_since_ > kFastFor ? Verdict::too_fast : Verdict::fine;
  }
  double hz() const { return seconds_ > 0 ? 1 / seconds_ : 0; }  // 0: not known, or it stands

 private:
  static constexpr int kEnough = 8;  // turns before their mean is trusted
  // Longer than a device takes to be known as stuck: the start of a turn, repeated, is no speed.
  static constexpr hal::Duration kFastFor = kStuckAfter + std::chrono::milliseconds(100);

  const double most_hz_;
  bool began_ = false, is_fast_ = false;
  int turns_ = 0;
  double seconds_ = 0;  // of a turn; 0: not known
  hal::Time turned_at_{}, newest_{}, fast_since_{};
};

// Of a device that streams: how many of its frames are damaged, over a second at a time. To be told
// at each packet.
class DamageWatch {
 public:
  void forget() { began_ = damaged_ = false; }

  // Whether of the newest whole second more than one frame in twenty was damaged.
  bool see(const FramerStats& framing, hal::Time now) {
    if (!std::exchange(began_, true)) begin(framing, now);
    if (now - since_ < kWindow) return damaged_;
    rejected_ = framing.rejected - at_.rejected;
    frames_ = framing.frames - at_.frames;
    damaged_ = rejected_ >= kFew && rejected_ * 20 > frames_;
    begin(framing, now);
    return damaged_;
  }
  std::uint64_t rejected() const { return rejected_; }
  std::uint64_t frames() const { return frames_; }

 private:
  static constexpr hal::Duration kWindow = std::chrono::seconds(1);
  static constexpr std::uint64_t kFew = 3;

  void begin(const FramerStats& framing, hal::Time now) {
    at_ = framing;
    since_ = now;
  }

  bool began_ = false, damaged_ = false;
  FramerStats at_{};
  hal::Time since_{};
  std::uint64_t rejected_ = 0, frames_ = 0;
};

// The first bytes that gave no packet, for the question whose they are.
class ByteSample {
 public:
  void clear() { size_ = 0; }
  void add(Bytes b) {
    const std::size_t n = std::min(b.size(), bytes_.size() - size_);
    std::memcpy(bytes_.data() + size_, b.data(), n);
    size_ += n;
  }
  Bytes bytes() const { return Bytes(bytes_).first(size_); }

 private:
  std::array<std::byte, 6144> bytes_{};  // more than two of the longest frames
  std::size_t size_ = 0;
};

}  // namespace drivers
