// Why a device does not stream, and what is wrong with one that does: looks at its frames and
// packets, and writes cause and words into the driver's Health.
#pragma once

#include "drivers/decoded.h"
#include "drivers/diagnosis.h"
#include "drivers/recognise.h"
#include "drivers/watch.h"

namespace drivers {

template <std::size_t kMaxFrame>
class Examiner {
 public:
  // `most_turns_hz`: of a lidar's fastest turns; 0: any speed is plausible.
  Examiner(Health& health, double most_turns_hz) : health_(health), turns_(most_turns_hz) {}

  void reopened(const FramerStats& framing) {
    repeats_.forget();
    turns_.forget();
    damage_.forget();
    forget_bytes();
    fault_.clear();
    since_ = framing;
    stuck_since_ = health_.stuck;
    has_parts_ = false;
  }
  void on_bytes(Bytes b) { sample_.add(b); }

  // The device reported a fault of its own. It stands for a while after its last report.
  void on_device_fault(const hal::Text<96>& words, hal::Time at) {
    ++health_.device_faults;
    fault_ = words;
    faulty_until_ = at + kFaultStands;
    if (health_.state == State::streaming) set(Cause::device_fault);
  }

  void on_part() { has_parts_ = true; }  // of a measurement that was not whole

  bool is_stuck(const Frame& frame) { return repeats_.is_stuck(frame.bytes, frame.last_at); }

  // A packet was delivered. Its device may not be well all the same.
  void on_packet(const Packet& packet, const FramerStats& framing, hal::Time now) {
    since_ = framing;
    stuck_since_ = health_.stuck;
    has_parts_ = false;
    forget_bytes();
    Cause cause = Cause::none;
    if (const auto* const slice = std::get_if<ScanSlice>(&packet)) {
      cause = cause_of(turns_.see(*slice));
      health_.turns_hz = turns_.hz();
    }
    if (damage_.see(framing, now) && cause == Cause::none) cause = Cause::bad_checksums;
    if (!fault_.empty()) {
      if (now < faulty_until_) {
        cause = Cause::device_fault;
      } else {
        fault_.clear();
      }
    }
    if (cause != health_.cause) set(cause);
  }

  // `step`: what the dialogue complains of; null: nothing. `unheard`: why nothing comes, where that
  // is known better than from the bytes (unheard.h).
  void diagnose(const FramerStats& framing, int baud, const char* step,
                const hal::Text<192>& unheard) {
    if (!unheard.empty()) {
      health_.cause = Cause::no_bytes;
      health_.why = unheard;
      return;
    }
    if (!fault_.empty()) return set(Cause::device_fault);
    if (health_.stuck > stuck_since_) return set(Cause::stuck);
    const State state = health_.state;
    const bool was_streaming = state == State::streaming || state == State::silent;
    Evidence evidence{since_, framing, baud, was_streaming, step, {}, has_parts_};
    // Bytes of another protocol look like a whole frame now and then.
    const std::uint64_t framed = framing.frame_bytes - since_.frame_bytes;
    const std::uint64_t garbage = framing.garbage_bytes - since_.garbage_bytes;
    const bool is_none = framing.frames == since_.frames;
    if (is_none || garbage > 3 * framed) evidence.alike = alike();
    health_.cause = cause_of(evidence);
    if (health_.cause == Cause::no_packets && repeats_.repeats()) return set(Cause::stuck);
    health_.why = in_words(evidence);
  }

  void set(Cause cause) {
    health_.cause = cause;
    health_.why = cause == Cause::bad_checksums ? in_words(damage_)
                                                : in_words(cause, fault_.c_str(), turns_.hz());
  }

 private:
  static constexpr hal::Duration kFaultStands = std::chrono::seconds(2);

  void forget_bytes() {
    sample_.clear();
    is_named_ = false;
    alike_ = {};
  }

  // Asked once per attempt: it takes a look through the whole registry.
  std::string_view alike() {
    if (!std::exchange(is_named_, true)) alike_ = recognise(sample_.bytes()).driver;
    return alike_;
  }

  Health& health_;
  RepeatWatch<kMaxFrame> repeats_;
  TurnWatch turns_;
  DamageWatch damage_;
  ByteSample sample_;
  bool is_named_ = false;
  std::string_view alike_{};
  FramerStats since_;              // when the port opened, or at the newest packet
  std::uint64_t stuck_since_ = 0;  // as health_.stuck was then
  bool has_parts_ = false;         // since then
  hal::Text<96> fault_{};          // that the device reported; empty: none stands
  hal::Time faulty_until_{};
};

}  // namespace drivers
