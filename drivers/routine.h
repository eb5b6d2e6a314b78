// What is said to a device again and again while it streams: polls, keep-alives, time exchange.
#pragma once

#include <algorithm>

#include "drivers/dialogue.h"

namespace drivers {

// `steps` are held every `period`, the first time one period after the start script. A step that
// must be answered and is not ends the connection, as in any script.
template <class D>
struct Routine {
  hal::Duration period;
  std::span<const Step<D>> steps;
};

inline constexpr std::size_t kMaxRoutines = 4;

// Holds one routine at a time; of those that are due the one that waited longest is next. A routine
// that missed its rhythm begins a new one, it is never held more often to catch up.
template <class D>
class RoutineRunner {
 public:
  using Outcome = typename ScriptRunner<D>::Outcome;

  void begin(std::span<const Routine<D>> routines, hal::Time now) {
    routines_ = routines.first(std::min(routines.size(), kMaxRoutines));
    for (std::size_t i = 0; i < routines_.size(); ++i) due_[i] = now + routines_[i].period;
    held_ = false;
  }
  void end() {
    routines_ = {};
    held_ = false;
  }

  // When advance() will have something to do, if nothing is answered until then.
  hal::Time due() const {
    if (held_ && script_.waits()) return script_.due();
    hal::Time first = hal::Time::max();
    for (std::size_t i = 0; i < routines_.size(); ++i) first = std::min(first, due_[i]);
    return first;
  }
  void put_off(hal::Duration stalled) { script_.put_off(stalled); }
  const hal::Text<192>& why() const { return script_.why(); }
  bool refused() const { return script_.refused(); }

  template <class Transmit>
  Outcome advance(D& device, hal::Time now, const Link& link, Transmit&& transmit) {
    if (!held_ && !pick(now)) return Outcome::running;
    const Outcome outcome = script_.advance(device, now, link, transmit);
    if (outcome != Outcome::running) held_ = false;
    return outcome;
  }
  Reply::Kind offer(D& device, const Frame& frame) {
    return held_ ? script_.offer(device, frame) : Reply::Kind::not_mine;
  }

 private:
  bool pick(hal::Time now) {
    const auto due = std::span(due_).first(routines_.size());
    const auto next = std::ranges::min_element(due);
    if (next == due.end() || now < *next) return false;
    const Routine<D>& routine = routines_[static_cast<std::size_t>(next - due.begin())];
    *next += routine.period;
    if (*next <= now) *next = now + routine.period;
    script_.begin(routine.steps);
    held_ = true;
    return true;
  }

  std::span<const Routine<D>> routines_{};
  std::array<hal::Time, kMaxRoutines> due_{};
  ScriptRunner<D> script_;
  bool held_ = false;
};

}  // namespace drivers
