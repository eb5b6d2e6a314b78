// BNO080, BNO085, BNO086 of CEVA (Hillcrest), strapped to UART-RVC: 100 attitudes and accelerations
// a second, at 115200 baud. It only talks. Sources: the data sheet with its example, Adafruit's and
// klimatt's readers.
//
// Frame, 19 bytes, little-endian:
//   AA AA | u8 index | 3 i16 yaw, pitch, roll, 0.01 deg | 3 i16 acceleration x, y, z, mg | 3 u8 |
//   u8 sum of the 16 bytes from the index on
// No rates of turn, and no time but the index, which counts periods of 10 ms by a clock that may be
// off by percents.
//
// The body's axes are those printed on the board, unless `axes` says that y is forward and x to the
// right; `pose` does the rest. By its text the data sheet turns roll about x and pitch about y; by
// its example, in which gravity shows, and in this order, pitch is about x and roll about y. Yaw is
// zero where it was switched on. In doubt: that it grows clockwise, as it would have to with angles
// of a body forward-right-down, and as one user of it says (`yaw`).
#pragma once

#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/sequence.h"

namespace drivers {

class Bno08xRvc {
 public:
  struct Framing {
    static constexpr std::size_t kMaxFrame = 19;
    static std::size_t measure(Bytes b);
    static bool intact(Bytes frame);
  };
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static std::span<const Step<Bno08xRvc>> start_script() { return {}; }
  static std::span<const Step<Bno08xRvc>> stop_script() { return {}; }

  explicit Bno08xRvc(const Options&);

  void restart() { indices_.forget(); }
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const { return std::chrono::milliseconds(250); }

 private:
  Framing framing_;
  const bool rfu_;
  const double yaw_sign_;  // 1: it grows counter-clockwise
  Sequence indices_{8};
};

}  // namespace drivers
