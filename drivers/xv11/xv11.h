// Neato XV-11 and the Xiaomi (Roborock) LDS01RR and LDS02RR, which send the same. They only talk.
// Sources: bmegli/xv11lidar, kaiaai/LDS, rohbotics/xv_11_laser_driver; 999 real packets. The
// turns of firmware 2.1: Xevel/NXV11 alone.
//
// Packet of firmware 2.4 and later, 22 bytes, little-endian, 90 a turn:
//    0 u8 0xFA | 1 u8 0xA0 + index | 2 u16 speed, rpm/64 | 4 4 x reading | 20 u16 fold15 of 0..19
// Turn of firmware 2.1, 1446 bytes, without a checksum:
//    0 5A A5 00 C0 | 4 u16 speed | 6 360 x reading
// Reading: u16 {distance:14, mm; 1: weaker than expected; 1: invalid, then the distance is an error
// code} | u16 signal. One per degree, counter-clockwise. A weak reading counts, an invalid one is
// no return; the intensity is the signal of either. Of "2.1" it is told what a packet looks like
// and not what it means: that its speed is rpm/64 and its readings are as later ones is assumed.
//
// The firmware shows in the bytes. Turns have no checksum: one within which another begins is torn,
// and once packets were seen nothing is taken for a turn.
// The motor is the host's to drive, at 240 to 350 rpm: outside all readings are invalid.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/rotation.h"

namespace drivers {

class Xv11Framing {
 public:
  static constexpr std::size_t kPacket = 22, kTurn = 1446, kMaxFrame = kTurn;

  explicit Xv11Framing(bool packets = true, bool turns = true) : packets_(packets), turns_(turns) {}
  std::size_t measure(Bytes b) const;
  bool intact(Bytes frame);
  void forget() { seen_ = 0; }

 private:
  bool packets_, turns_;  // what is looked for
  unsigned seen_ = 0;     // packets since the newest turn
};

class Xv11 {
 public:
  using Framing = Xv11Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static std::span<const Step<Xv11>> start_script() { return {}; }
  static std::span<const Step<Xv11>> stop_script() { return {}; }

  explicit Xv11(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return rotation_.clock_model(); }
  hal::Duration max_silence() const { return std::chrono::milliseconds(600); }  // of turns: three

 private:
  Framing framing_;
  Rotation rotation_{300};
  std::array<Beam, 360> beams_{};
};

}  // namespace drivers
