// Hitachi-LG HLS-LFCD2, sold as LDS-01 with the TurtleBot3. (LDS-02 is an LD08: another protocol.)
// Sources: ROBOTIS-GIT/hls_lfcd_lds_driver; Jatin1o1/LDS-01-Lidar-Python, which quotes page 5 of
// the datasheet. No recording of a real one was at hand.
//
// Packet, 42 bytes, little-endian, 60 a turn:
//    0 u8 0xFA | 1 u8 0xA0 + index | 2 u16 speed, 0.1 rpm | 4 6 x reading | 40 u8, u8 check
// Reading: u16 intensity | u16 range, mm, 0 is no return | u16 reserved. One per degree, clockwise;
// reading k of packet p is at 359 - (6 p + k) degrees counter-clockwise.
// Commands, not answered: 'b' starts the motor, 'e' stops it. Later firmware starts by itself.
//
// In doubt: the check. Its two bytes are equal, says the datasheet; that they are 0xFF less the sum
// of bytes 0 to 39 no source states. So that is required only of a device that was seen to do it,
// and of others that the next packet follows: an xv11's begin alike.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/rotation.h"

namespace drivers {

class HldsLds01Framing {
 public:
  static constexpr std::size_t kPacket = 42, kMaxFrame = kPacket + 2;  // and the next one's head
  std::size_t measure(Bytes b) const { return measure(b, false); }
  std::size_t measure_last(Bytes b) const { return measure(b, true); }
  bool intact(Bytes frame);
  void forget() { *this = {}; }

 private:
  std::size_t measure(Bytes b, bool last) const;

  unsigned agreed_ = 0;    // packets in a row whose check was the sum
  unsigned differed_ = 0;  // and whose check was not, although its bytes are equal
};

class HldsLds01 {
 public:
  using Framing = HldsLds01Framing;
  static std::span<const OptionSpec> options() { return {}; }
  static Figures figures(const Options&, int baud);
  static std::span<const Step<HldsLds01>> start_script();
  static std::span<const Step<HldsLds01>> stop_script();

  explicit HldsLds01(const Options&) {}

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return rotation_.clock_model(); }
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }

 private:
  bool send_start(Request&);
  Reply heard(const Frame&);
  bool send_stop(Request&);

  Framing framing_;
  Rotation rotation_{300};
  std::array<Beam, 6> beams_{};
};

}  // namespace drivers
