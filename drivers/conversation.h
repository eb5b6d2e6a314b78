// What is being said to a device now: its script, and when that is done, its routines.
#pragma once

#include "drivers/routine.h"

namespace drivers {

template <class D>
class Conversation {
 public:
  // running: nothing ended; done: the script did.
  using Outcome = typename ScriptRunner<D>::Outcome;

  void begin(std::span<const Step<D>> script) {
    script_.begin(script);
    routines_.end();
    scripted_ = true;
  }
  void begin_routines(std::span<const Routine<D>> routines, hal::Time now) {
    routines_.begin(routines, now);
  }
  void end() {
    scripted_ = false;
    routines_.end();
  }
  bool is_scripted() const { return scripted_; }
  const char* step() const { return scripted_ ? script_.step() : ""; }

  // When advance() will have something to do, if nothing is answered until then.
  hal::Time due() const {
    if (!scripted_) return routines_.due();
    return script_.waits() ? script_.due() : hal::Time::max();
  }
  void put_off(hal::Duration stalled) {
    script_.put_off(stalled);
    routines_.put_off(stalled);
  }
  Reply::Kind offer(D& device, const Frame& frame) {
    return scripted_ ? script_.offer(device, frame) : routines_.offer(device, frame);
  }

  template <class Transmit>
  Outcome advance(D& device, hal::Time now, const Link& link, Transmit&& transmit) {
    if (scripted_) {
      const Outcome outcome = script_.advance(device, now, link, transmit);
      if (outcome == Outcome::done) scripted_ = false;
      return outcome;
    }
    const Outcome outcome = routines_.advance(device, now, link, transmit);
    return outcome == Outcome::failed ? outcome : Outcome::running;
  }
  // Of a failure, and whether it was the device's word.
  const hal::Text<192>& why() const { return scripted_ ? script_.why() : routines_.why(); }
  bool refused() const { return scripted_ ? script_.refused() : routines_.refused(); }

 private:
  ScriptRunner<D> script_;
  RoutineRunner<D> routines_;
  bool scripted_ = false;
};

}  // namespace drivers
