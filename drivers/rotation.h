// Time and turns of lidars that send their angles and their speed, but no stamp: the time is
// counted from the angle that was turned through.
#pragma once

#include <span>

#include "drivers/decoded.h"
#include "drivers/framer.h"

namespace drivers {

class Rotation {
 public:
  // Until a packet tells a speed, and for those that tell one at which nothing turns.
  explicit Rotation(double usual_rpm) : usual_rpm_(usual_rpm), rpm_(usual_rpm) {}

  // Evenly spaced beams, in degrees in the direction of rotation from the turn boundary on.
  struct Sweep {
    double first = 0;  // of the first beam, 0 to 360
    double step = 0;   // from one beam to the next, not negative
    double rpm = 0;    // as the packet says
  };

  // Puts the beams of `frame`, sent when its last beam was measured, into `out`. What is missing
  // since the packet before advances the time; a packet that comes again, or too late, is stale.
  // Turns that are lost as a whole are left to the clock (see clock_model()).
  void add(const Frame& frame, const Sweep& sweep, std::span<const Beam> beams, Decoded& out);

  void restart() { *this = Rotation(usual_rpm_); }
  ClockModel clock_model() const;

 private:
  double usual_rpm_, rpm_;
  bool began_ = false;
  double newest_ = 0;    // deg, of the newest beam
  double counted_ = 0;   // ns, until then
  hal::Time arrival_{};  // of its packet
};

}  // namespace drivers
