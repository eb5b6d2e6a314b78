// The command side of a simulated SBG device: which log is sent how often, and the answers.
#pragma once

#include <map>
#include <optional>
#include <utility>

#include "test/sim/sbg_wire.h"

namespace sim::sbg {

// By class and id of the log, its mode: 0 off; 1 to 200 of the 200 Hz of the main loop every so
// many; 1001 to 1004 every 1 to 4 ms; 10001 whenever there is a new one.
using Outputs = std::map<std::pair<unsigned, unsigned>, unsigned>;

enum class Manner { obeys, refuses, is_mute };  // mute: a model with a REST interface instead

class Dialogue {
 public:
  Dialogue(Outputs saved, Manner manner) : saved_(saved), now_(std::move(saved)), manner_(manner) {}

  void power_up() { now_ = saved_; }
  std::optional<Message> answer(const Message& asked);

  const Outputs& outputs() const { return now_; }
  bool take_reboot() { return std::exchange(wants_reboot_, false); }

 private:
  enum Code : unsigned { kOk = 0, kInvalid = 9, kNotReady = 10 };
  static Message ack(const Message& asked, Code code);
  Message configure(const Message& asked);
  Message act(const Message& asked);

  const Outputs factory_{};
  Outputs saved_, now_;
  Manner manner_;
  bool wants_reboot_ = false;
};

}  // namespace sim::sbg
