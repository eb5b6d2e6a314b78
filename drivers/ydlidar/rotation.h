// Where packets of the AA 55 family lie in turn and time. They carry no stamp: samples are counted,
// and those that got lost are told by the angles.
#pragma once

#include "drivers/counted_rate.h"
#include "drivers/decoded.h"
#include "drivers/framer.h"

namespace drivers {

class EvenSamples {
 public:
  void restart() { *this = EvenSamples{}; }  // everything is forgotten
  // Samples come every `ns`, as the device or its data sheet says.
  void set_period(double ns) { take_period(ns, true); }
  // They may: it is measured, see CountedRate.
  void assume_period(double ns) { take_period(ns, false); }
  double period_ns() const { return period_ns_; }

  // Degrees, clockwise, between two of `n` samples; negative where the angles make no sense.
  double step_of(double first_deg, double last_deg, std::size_t n) const;

  // The next packet: its slice and timing, without the beams. `zero`: it says that a turn starts.
  struct Place {
    ScanSlice slice;
    Timing timing;
  };
  Place next(const Frame&, double first_deg, double step_deg, std::size_t n, bool zero);

 private:
  bool passes_turn(bool zero, double turned_deg);
  void take_period(double ns, bool is_told);

  double period_ns_ = 0;     // between two samples
  double raw_ns_ = 0;        // counted until the newest sample, lost ones included
  double next_ = -1;         // where the packet after the newest should begin; -1: none yet
  double step_ = 0;          // between two samples, as usual; 0: not known yet
  double since_turn_ = 0;    // from the newest turn boundary on
  bool knows_turn_ = false;  // such a boundary was seen
  double slack_ns_ = 0;      // counted too much while the rate was not known
  CountedRate rate_;
  bool is_new_ = false;  // the period: nothing was stamped by it yet
};

}  // namespace drivers
