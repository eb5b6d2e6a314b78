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
  void forget() { size_ = 0; }

  // To be told of every frame that gave a scan.
  bool is_stuck(Bytes frame, hal::Time at) {
    if (frame.size() == size_ && std::memcmp(frame.data(), last_.data(), size_) == 0) {
      return at - since_ >= kStuckAfter;
    }
    size_ = frame.size();
    std::memcpy(last_.data(), frame.data(), size_);
    since_ = at;
    return false;
  }

 private:
  std::array<std::byte, kMaxFrame> last_{};
  std::size_t size_ = 0;  // 0: none yet
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
    turns_ = 0;
    hz_ = 0;
  }

  Verdict see(const ScanSlice& slice) {
    if (slice.first - std::exchange(newest_, slice.last()) > kLongestTurn / 2) forget();  // a pause
    if (!std::exchange(began_, true)) turned_at_ = slice.first;
    if (slice.starts_turn) {
      const double seconds = hal::to_seconds(slice.first - turned_at_);
      if (turns_ > 0 && seconds > 0) hz_ = hz_ == 0 ? 1 / seconds : hz_ + (1 / seconds - hz_) / 8;
      if (turns_ < kEnough) ++turns_;
      turned_at_ = slice.first;
    }
    if (slice.last() - turned_at_ > kLongestTurn) {
      hz_ = 0;
      turns_ = 0;
      return Verdict::standing;
    }
    const bool fast = most_hz_ > 0 && turns_ == kEnough && hz_ > 2 * most_hz_;
    return fast ? Verdict::too_fast : Verdict::fine;
  }
  double hz() const { return hz_; }  // 0: not known, or it does not turn

 private:
  static constexpr int kEnough = 8;  // turns before their mean is trusted

  const double most_hz_;
  bool began_ = false;
  int turns_ = 0;
  double hz_ = 0;
  hal::Time turned_at_{}, newest_{};
};

// The first bytes that came, for the question whose they are.
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
  std::array<std::byte, 2048> bytes_{};
  std::size_t size_ = 0;
};

}  // namespace drivers
