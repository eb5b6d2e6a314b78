#include "drivers/rplidar/motor.h"

namespace drivers::rplidar {
namespace {

constexpr unsigned kFallbackRpm = 600, kFallbackPwm = 660;

}  // namespace

Motor::Motor(const Options& options)
    : option_(options.text("motor") == "none"  ? Kind::none
              : options.text("motor") == "dtr" ? Kind::dtr
              : options.text("motor") == "pwm" ? Kind::pwm
              : options.text("motor") == "rpm" ? Kind::rpm
                                               : Kind::unknown),
      rpm_(static_cast<unsigned>(options.integer("rpm"))),
      pwm_(static_cast<unsigned>(options.integer("pwm"))) {}

void Motor::learn_model(unsigned major) {
  const bool by_model = option_ == Kind::unknown;
  kind_ = !by_model ? option_ : major >= 6 ? Kind::rpm : Kind::dtr;
  may_have_board_ = by_model && (major == 2 || major == 3 || major == 5 || major == 0);
}

bool Motor::lacks_speed() const {
  return (kind_ == Kind::rpm && rpm_ == 0) || (kind_ == Kind::pwm && pwm_ == 0);
}

void Motor::take_usual_speed(Bytes value) {
  if (value.size() >= 2) usual_rpm_ = wire::u16(value, 0);
  if (value.size() >= 4) usual_pwm_ = wire::u16(value, 2);
}

bool Motor::write(Request& request, bool on) const {
  const auto or_else = [](unsigned a, unsigned b, unsigned c) { return a ? a : b ? b : c; };
  const unsigned rpm = on ? or_else(rpm_, usual_rpm_, kFallbackRpm) : 0;
  const unsigned pwm = on ? or_else(pwm_, usual_pwm_, kFallbackPwm) : 0;
  const bool all = kind_ == Kind::unknown;
  if (all || kind_ == Kind::dtr) request.dtr(!on);  // asserted holds the motor
  if (all || kind_ == Kind::pwm) command(request, kSetPwm, 2, [&](Request& r) { r.u16(pwm); });
  if (all || kind_ == Kind::rpm) command(request, kSetRpm, 2, [&](Request& r) { r.u16(rpm); });
  return kind_ != Kind::none;
}

}  // namespace drivers::rplidar
