// Where packets of the AA 55 family lie in turn and time. They carry no stamp: samples are counted,
// and those that got lost are told by the angles.
#pragma once

#include "drivers/decoded.h"
#include "drivers/framer.h"

namespace drivers {

class EvenSamples {
 public:
  // Everything is forgotten; samples are taken to come every `period_ns`.
  void restart(double period_ns);
  void set_period(double ns) { period_ns_ = ns; }
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
  bool measure_period(hal::Time arrival);  // true: it is another one now

  double period_ns_ = 0;     // between two samples
  double raw_ns_ = 0;        // counted until the newest sample, lost ones included
  double next_ = -1;         // where the packet after the newest should begin; -1: none yet
  double step_ = 0;          // between two samples, as usual; 0: not known yet
  double since_turn_ = 0;    // from the newest turn boundary on
  bool knows_turn_ = false;  // such a boundary was seen
  int turns_ = -1;           // measured from the mark below on; -1: none yet
  hal::Time mark_at_{};      // arrival
  double mark_ns_ = 0;       // raw_ns_ then
  bool is_new_ = false;      // the period, since the newest packet
  double strange_ = 0;       // by how much the time before was longer than counted; 0: as counted
};

}  // namespace drivers
