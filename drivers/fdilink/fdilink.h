// FDIsystems and WHEELTEC N100, N100WP, DETA100: frames of FDILink, which stream since power-on.
//
// Frame: FC | u8 type | u8 n | u8 number | CRC-8 of these four (polynomial 0x31 reflected, start 0)
// | CRC-16/XMODEM of the data, big-endian | n bytes of data, little-endian | FD. The number counts
// frames of all types. Read are
//   0x40  f32 rates rad/s, accelerations m/s^2, field mG, each x y z; f32 deg C, Pa, deg C; i64 us
//   0x41  f32 rates of roll, pitch, heading; roll, pitch, heading rad; quaternion w x y z; i64 us
// since power-on; forward-right-down in north-east-down. Source: two public drivers, WHEELTEC's and
// a rewritten one, both by the vendor's code; no manual and no bytes of a device were found.
//
// Nothing is said to it: its text commands (#fconfig, #fmsg 0x40 100, #fsave, #freboot) stand in no
// source that was read. In doubt is the sign of its acceleration: one driver takes it as the
// specific force, the other as its opposite. It is found out (`accel_sign`: auto) by what gravity
// must be, turned up by the attitude, or, before one came, with the sensor upright.
#pragma once

#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/joined_sample.h"
#include "drivers/registry.h"
#include "drivers/sequence.h"

namespace drivers {

namespace fdilink {

struct Framing {
  static constexpr std::size_t kMaxFrame = 8 + 255;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

}  // namespace fdilink

class Fdilink {
 public:
  using Framing = fdilink::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Fdilink>> start_script() { return {}; }
  static std::span<const Step<Fdilink>> stop_script() { return {}; }

  explicit Fdilink(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded& out) { joined_.give(out); }
  ClockModel clock_model() const { return {}; }
  hal::Duration max_silence() const;

 private:
  enum class KnownBy : std::uint8_t { nothing, upright, attitude, option };

  bool read_inertial(Bytes data, ImuSample& into);
  void find_sign(const ImuSample::Vector& accel);

  Framing framing_;
  const double rate_hz_;
  const double told_sign_;  // 0: to be found out
  double sign_ = 0;         // times the acceleration is the specific force; 0: not known yet
  KnownBy known_by_ = KnownBy::nothing;
  JoinedSample joined_;
  Sequence number_{8};
  std::optional<std::array<double, 4>> attitude_{};  // the newest
  unsigned without_inertial_ = 0;                    // frames in a row
  unsigned undecided_ = 0;                           // samples in a row without their acceleration
};

}  // namespace drivers
