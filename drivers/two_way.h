// Two-way time exchange: how far a device's clock can be from inner time, and so what the latency
// of its frames can be at all.
//
// A clock that was read after the request left and before the answer came bounds the offset from
// both sides; several such intervals are intersected (Marzullo; compare Harrison & Newman,
// "TICSync", ICRA 2011). Nothing is supposed of the ways there and back. Where the clock can be
// asked only before the device streams, the offset is known for a moment: the first frames tell
// what latency agrees with it, and the one-way fit of ClockMapper, less that, follows the drift.
#pragma once

#include <algorithm>
#include <cstdint>

#include "hal/time.h"

namespace drivers {

class TwoWay {
 public:
  // Of the device's clock: it wraps at `modulus`, and what it tells is cut to `quantum`.
  TwoWay(hal::Duration modulus, hal::Duration quantum) : modulus_(modulus), quantum_(quantum) {}

  void forget() { state_ = State::unknown; }

  // The clock read `raw` after `asked` and before `answered`. What contradicts earlier exchanges
  // begins anew.
  void exchange(hal::Duration raw, hal::Time asked, hal::Time answered) {
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
    // The clocks may drift apart by 300 ppm.
    if (arrival - first_arrival_ > kSettling) state_ = State::settled;
    if (most() < hal::Duration{} || least() > kMostLatency) forget();  // stamps of another clock
  }

  bool knows_latency() const { return state_ >= State::settling; }
  // Of the fastest frames: from the stamped instant to the arrival.
  hal::Duration least() const { return std::max(fastest_ - latest_ - quantum_, hal::Duration{}); }
  hal::Duration most() const { return fastest_ - earliest_; }
  // Half the width of what the offset can be; meaningless before an exchange.
  hal::Duration uncertainty() const { return (latest_ - earliest_) / 2; }
  bool has_exchanged() const { return state_ != State::unknown; }

 private:
  enum class State : std::uint8_t { unknown, exchanged, settling, settled };
  static constexpr hal::Duration kSettling = std::chrono::seconds(2);
  static constexpr hal::Duration kMostLatency = std::chrono::seconds(5);

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
};

}  // namespace drivers
