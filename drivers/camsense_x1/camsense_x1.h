// Camsense X1, a triangulating lidar of robot vacuums. It only talks, and turns when it is powered.
// Sources: camsense/T2SDK; kaiaai/LDS; thijses/camsense-X1 with 47 real packets.
//
// Packet, 36 bytes, little-endian:
//    0 55 AA 03 08 | 4 u16 speed, rpm/64 | 6 u16 first angle | 8 8 x {u16 distance, mm; u8 quality}
//   32 u16 last angle | 34 u16 fold15 of 0..33
// Angle: deg = u16/64 - 640, clockwise, any value; beams lie evenly between first and last. Bit 15
// of a distance: no return. A packet begins where it does: 6.9 to 7.6 degrees after the one before.
//
// In doubt: where the front is. One source adds 196 degrees to get there, which depends on how it is
// mounted: `zero_deg`.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/rotation.h"

namespace drivers {

struct CamsenseX1Framing {
  static constexpr std::size_t kMaxFrame = 36;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

class CamsenseX1 {
 public:
  using Framing = CamsenseX1Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<CamsenseX1>> start_script() { return {}; }
  static std::span<const Step<CamsenseX1>> stop_script() { return {}; }

  explicit CamsenseX1(const Options&);

  void restart() { rotation_.restart(); }
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return rotation_.clock_model(); }
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }

 private:
  const double zero_deg_;
  Framing framing_;
  Rotation rotation_{312};
  std::array<Beam, 8> beams_{};
};

}  // namespace drivers
