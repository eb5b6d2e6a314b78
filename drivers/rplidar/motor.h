// How the motor of an RPLIDAR is switched, which depends on its model and on the board it sits on.
#pragma once

#include "drivers/options.h"
#include "drivers/rplidar/commands.h"

namespace drivers::rplidar {

class Motor {
 public:
  explicit Motor(const Options&);

  // The port was opened anew. The motor may be spinning, and its kind is remembered.
  void forget() { usual_rpm_ = usual_pwm_ = 0; }
  // `major`: of the model: 1 A1, 2 A2, 3 A3, 4 C1, from 6 on S and T.
  void learn_model(unsigned major);
  // A1 and C1 switch by DTR, S and T models by rpm; the others may have an accessory board.
  bool may_have_board() const { return may_have_board_; }
  void found_board() { kind_ = Kind::pwm; }
  bool lacks_speed() const;
  void take_usual_speed(Bytes value);

  // False when it is not ours to switch. As long as the model is not known, every kind is stopped.
  bool write(Request&, bool on) const;

 private:
  enum class Kind : std::uint8_t { unknown, none, dtr, pwm, rpm };

  const Kind option_;  // unknown: by model
  const unsigned rpm_, pwm_;
  Kind kind_ = Kind::unknown;
  bool may_have_board_ = false;
  unsigned usual_rpm_ = 0, usual_pwm_ = 0;  // 0: not told
};

}  // namespace drivers::rplidar
