// Two-way time exchange: how far a device's clock can be from inner time, and so what the latency
// of its frames can be at all.
//
// A clock that was read after the request left and before the answer came bounds the offset from
// both sides; several such intervals are intersected (Marzullo; compare Harrison & Newman,
// "TICSync", ICRA 2011). Nothing is supposed of the ways there and back. Where the clock can be
// asked only before the device streams, the offset is known for a moment: the first frames tell
// what latency agrees with it, and the one-way fit of ClockMapper, less that, follows the drift.
// Clocks that are asked again while it streams narrow that latency, round by round; a round that
// contradicts the earlier ones does not count.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "hal/time.h"

namespace drivers {

class TwoWay {
 public:
  // Of the device's clock: it wraps at `modulus`, and what it tells is cut to `quantum`.
  TwoWay(hal::Duration modulus, hal::Duration quantum) : modulus_(modulus), quantum_(quantum) {}

  void forget() {
    state_ = State::unknown;
    settled_.reset();
  }

  // The clock read `raw` after `asked` and before `answered`. What contradicts earlier exchanges
  // begins anew, and what comes after the frames of the round before have settled is a new round.
  void exchange(hal::Duration raw, hal::Time asked, hal::Time answered) {
    if (state_ == State::settled) state_ = State::unknown;
    if (state_ != State::unknown) {
      const hal::Duration since = since_origin(raw);
      earliest_ = std::max(earliest_, asked - since - quantum_);
      latest_ = std::min(latest_, answered - since);
    }
    if (state_ == State::unknown || earliest_ > latest_) {
      origin_ = raw;
      earliest_ = asked - quantum_;
      latest_ = answered;
    }
    state_ = State::exchanged;
  }

  // A frame that the device stamped `raw` has arrived.
  void arrived(hal::Duration raw, hal::Time arrival) {
    if (state_ == State::unknown || state_ == State::settled) return;
    const hal::Time fastest = arrival - since_origin(raw);
    if (state_ == State::exchanged) {
      first_arrival_ = arrival;
      fastest_ = fastest;
      state_ = State::settling;
    }
    fastest_ = std::min(fastest_, fastest);
    const Bounds now = bounds();
    if (now.most < hal::Duration{} || now.least > kMostLatency) {  // stamps of another clock
      state_ = settled_ ? State::settled : State::unknown;
    } else if (arrival - first_arrival_ > kSettling) {  // the clocks may drift apart by 300 ppm
      state_ = State::settled;
      settle(now);
    }
  }

  bool knows_latency() const { return settled_ || state_ >= State::settling; }
  // Of the fastest frames: from the stamped instant to the arrival.
  hal::Duration least() const { return settled_.value_or(bounds()).least; }
  hal::Duration most() const { return settled_.value_or(bounds()).most; }
  // Half the width of what the offset can be; meaningless before an exchange.
  hal::Duration uncertainty() const {
    return (settled_ ? settled_->most - settled_->least - quantum_ : latest_ - earliest_) / 2;
  }
  bool has_exchanged() const { return settled_ || state_ != State::unknown; }

 private:
  enum class State : std::uint8_t { unknown, exchanged, settling, settled };
  static constexpr hal::Duration kSettling = std::chrono::seconds(2);
  static constexpr hal::Duration kMostLatency = std::chrono::seconds(5);

  struct Bounds {
    hal::Duration least, most;
  };
  Bounds bounds() const {
    return {std::max(fastest_ - latest_ - quantum_, hal::Duration{}), fastest_ - earliest_};
  }
  void settle(const Bounds& now) {
    if (!settled_) settled_ = now;
    const Bounds both{std::max(settled_->least, now.least), std::min(settled_->most, now.most)};
    if (both.least <= both.most) settled_ = both;
  }

  // The shorter way around.
  hal::Duration since_origin(hal::Duration raw) const {
    hal::Duration since = raw - origin_;
    if (modulus_ == hal::Duration{}) return since;
    since %= modulus_;
    if (since > modulus_ / 2) since -= modulus_;
    if (since < -modulus_ / 2) since += modulus_;
    return since;
  }

  hal::Duration modulus_, quantum_;
  State state_ = State::unknown;
  hal::Duration origin_{};                 // what the clock read first
  hal::Time earliest_{}, latest_{};        // when that can have been
  hal::Time first_arrival_{}, fastest_{};  // of frames; as if stamped at the origin
  std::optional<Bounds> settled_{};        // of all rounds together
};

}  // namespace drivers
