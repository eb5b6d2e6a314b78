// What the simulated lidars have in common: evenly timed beams, rounded ranges, sane rates.
#pragma once

#include <cmath>
#include <cstdint>

#include "test/sim/models.h"
#include "test/sim/room.h"

namespace sim {

// The instants of beams that follow each other evenly. Parts of nanoseconds are kept, so a period
// that is no whole number of them does not drift. The period changes between packets only.
class Pace {
 public:
  void start(hal::Time first, double period_ns) {
    origin_ = first;
    offset_ns_ = 0.0;
    period_ns_ = period_ns;
  }
  // The packet of `beams` beams is done; the next one's follow at `period_ns`.
  void pass(std::size_t beams, double period_ns) {
    offset_ns_ += static_cast<double>(beams) * period_ns_;
    period_ns_ = period_ns;
  }
  // Beam `i` of the packet in the making.
  hal::Time at(std::size_t i) const {
    return origin_ + hal::Duration(static_cast<std::int64_t>(offset_ns_ +
                                                             static_cast<double>(i) * period_ns_));
  }

 private:
  hal::Time origin_{};
  double offset_ns_ = 0.0;
  double period_ns_ = 0.0;
};

// Degrees in [0, 360).
inline double within_a_turn(double angle_deg) {
  const double turn = std::fmod(angle_deg, 360.0);
  return turn < 0.0 ? turn + 360.0 : turn;
}

// A beam that points `clockwise_deg` from the front.
inline TrueBeam look_clockwise(hal::Time at, double clockwise_deg) {
  const double angle = radians(within_a_turn(-clockwise_deg));
  return {at, angle, Room::range(angle)};
}

inline std::uint64_t millimetres(double range_m) {
  return static_cast<std::uint64_t>(std::lround(range_m * 1000.0));
}

// Strength of the light that comes back: less from farther, `at_zero` from nothing at all.
inline std::uint64_t strength(double range_m, double at_zero) {
  return static_cast<std::uint64_t>(std::lround(at_zero / (1.0 + range_m)));
}

// --rate in turns/s, or `fallback` when it is not given; refused outside [least, most].
inline hal::Result<double> turns_per_s(const ModelInputs& inputs, double fallback, double least,
                                       double most) {
  if (inputs.rate_hz == 0.0) return fallback;
  if (inputs.rate_hz >= least && inputs.rate_hz <= most) return inputs.rate_hz;
  hal::Error error{hal::Errc::bad_config, 0, "simulate: --rate", {}};
  error.detail.print("%g turns/s is out of range: %g to %g Hz", inputs.rate_hz, least, most);
  return error;
}

}  // namespace sim
