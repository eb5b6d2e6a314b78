// 3irobotix Delta-2A, 2B, 2D, 2G, and the Xiaomi LDS08RR, which is a 2D. They only talk; the host
// drives their motor by PWM. Sources: the programs of kaiaai/LDS; a public note made from a raw
// dump of one of them; two published frames.
//
// Frame, big-endian: AA | u16 bytes of the whole but 2 | 01 | 61 | u8 command | u16 n | n bytes
//   u16 sum of all bytes before
// Command AD, measured: u8 speed, 0.05 turns/s | i16 offset, 0.01 deg | u16 first angle, 0.01 deg
//   {u8 quality, u16 distance} each; distance 0 is no return. The beams share 1/16 of a turn (2G:
//   1/15) evenly. A packet that begins at 0 begins the turn.
// Command AE: u8 speed. It measures nothing.
//
// In doubt:
// * The unit of distance. The program takes 0.25 mm on all models, the note 1 mm, and the numbers
//   do not tell. unit_mm chooses.
// * The offset, -0.36 deg in the dump. Neither source applies it, nor does this.
// * The sense of rotation: no source tells; clockwise, as other lidars of this build.
// No stamp is sent: time is counted by the speed that each packet tells.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"

namespace drivers {

struct Delta2Framing {
  static constexpr std::size_t kMostBeams = 128;
  static constexpr std::size_t kMaxFrame = 15 + 3 * kMostBeams;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

class Delta2 {
 public:
  using Framing = Delta2Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Delta2>> start_script();
  static std::span<const Step<Delta2>> stop_script() { return {}; }

  explicit Delta2(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return {.max_skew = kCountedSkew}; }
  hal::Duration max_silence() const { return std::chrono::milliseconds(600); }  // three slow turns
  const hal::Text<96>& about() const { return about_; }

 private:
  bool listen(Request&) { return true; }
  Reply heard(const Frame&);
  void decode_scan(const Frame&, Decoded&);
  void learn_packets(unsigned first);

  Framing framing_;
  const unsigned fixed_packets_;  // in a turn, as configured; 0: by the angles
  const float metres_;            // a unit of distance
  unsigned packets_ = 16;         // in a turn
  double turn_ns_ = 0;            // as the newest speed has it
  double raw_ns_ = 0;             // counted until the newest beam, lost packets included
  int last_ = -1;                 // first angle of the newest packet, 0.01 deg; -1: none yet
  unsigned unmeasured_ = 0;       // frames in a row that told the speed alone
  hal::Text<96> about_{};
  std::array<Beam, Framing::kMostBeams> beams_{};
};

}  // namespace drivers
