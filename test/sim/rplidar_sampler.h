// Turns the room into RPLIDAR packets: casts the ray of every sample where the format says the
// sample was taken, and records exactly that as the truth.
#pragma once

#include <cstdint>
#include <vector>

#include "hal/time.h"
#include "test/sim/device_model.h"
#include "test/sim/random.h"
#include "test/sim/rplidar_formats.h"

namespace sim::rplidar {

// The part of a turn that one packet covers. Angles are the rotor's, clockwise degrees.
struct Sweep {
  hal::Time at;          // first sample
  hal::Duration length;  // to the first sample of the next packet
  double start_deg = 0.0, next_deg = 0.0;
  bool first = false;           // first packet since the scan was started
  std::uint64_t device_us = 0;  // stamp of the first sample
};

// Shares of samples, 0..1, that are spoiled on purpose.
struct Spoil {
  double zeros = 0.0;      // no return though there is a wall
  double backwards = 0.0;  // standard format: the angle falls behind the one before
};

class Sampler {
 public:
  // `group`: nodes of the standard format that travel together as one packet.
  Sampler(Answer answer, std::size_t group, Spoil spoil, std::uint64_t seed)
      : answer_(answer),
        samples_(answer == Answer::standard ? group : samples_per_packet(answer)),
        spoil_(spoil),
        random_(seed) {}

  Answer answer() const { return answer_; }
  std::size_t samples() const { return samples_; }

  // The bytes of one packet; `beams` gets its samples in order. Sweeps follow each other without
  // a gap in angle.
  ByteVector packet(const Sweep& sweep, std::vector<TrueBeam>& beams);

 private:
  // What one ray met: `mm` is what the format carries of `range`.
  struct Return {
    double mm = 0.0;
    double clockwise_deg = 0.0;
    double range = 0.0;  // m
  };

  ByteVector standard(std::vector<TrueBeam>& beams);
  ByteVector express(std::vector<TrueBeam>& beams);
  ByteVector ultra(std::vector<TrueBeam>& beams);
  ByteVector dense(std::vector<TrueBeam>& beams);
  ByteVector ultra_dense(std::vector<TrueBeam>& beams);
  ByteVector hq(std::vector<TrueBeam>& beams);

  ByteVector node(double deg, std::size_t sample, std::vector<TrueBeam>& beams);
  bool standard_flag(double deg);
  template <class Quantise>
  Return settle(double nominal_deg, Quantise&& quantise);
  int predict(std::size_t sample, Varbit base, std::vector<TrueBeam>& beams);

  double rotor_step_deg() const;
  double rotor_deg(std::size_t sample) const;    // true, 0 up to a turn
  double nominal_deg(std::size_t sample) const;  // as a decoder gets it from two capsule heads
  CapsuleHead head() const { return {start_q6_, sweep_.first}; }
  Return cast(double clockwise_deg);
  void record(std::vector<TrueBeam>& beams, std::size_t sample, const Return& r) const;

  Answer answer_;
  std::size_t samples_;
  Spoil spoil_;
  Random random_;
  Sweep sweep_;
  unsigned start_q6_ = 0;
  double step_deg_ = 0.0;
  bool turn_due_ = false;         // the flag of this turn is still to come
  double turn_flag_deg_ = 359.0;  // where it falls
  unsigned last_angle_ = 0;       // raw, of the sample before
  bool next_major_known_ = false;
  Return next_major_;  // first sample of the next 0x84 capsule, on which this one depends
};

}  // namespace sim::rplidar
