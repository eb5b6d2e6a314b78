// LP-Research inertial sensors: LPMS-IG1, BE1, CURS3 (generation ig1); CU2, U2, URS2, B2 (legacy).
// Source: LP-Research's OpenZen; for the commands of ig1 beyond it SELKIELogger's LPMS source,
// which agrees where both tell. No capture of a device is public: frames of axes, signs and the
// reference of the attitude are not confirmed.
//
// Frame, little-endian: 3A | u16 address | u16 function | u16 n | n bytes | u16 sum of all behind
// 3A | 0D 0A. Data (function 9): u32 counter of samples, then the fields that are switched on, in a
// fixed order. They do not tell which those are: the driver switches on what it wants, and reads
// that back. Commands are taken in command mode only.
#pragma once

#include <span>

#include "drivers/device_driver.h"
#include "drivers/lpms/fields.h"
#include "drivers/registry.h"

namespace drivers {

class Lpms {
 public:
  struct Framing {
    static constexpr std::size_t kMaxFrame = 11 + 256;
    static std::size_t measure(Bytes);
    static bool intact(Bytes frame);
  };

  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Lpms>> start_script();
  static std::span<const Step<Lpms>> stop_script();

  explicit Lpms(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  void say(Request&, unsigned function, std::optional<std::uint32_t> value = {}) const;
  bool command_mode(Request& r) { return say(r, 6), true; }
  bool ask_firmware(Request& r) { return say(r, 0x15), true; }
  bool ask_model(Request& r) { return !legacy_ && (say(r, 0x14), true); }
  bool ask_serial(Request& r) { return !legacy_ && (say(r, 0x16), true); }
  bool set_fields(Request& r) { return say(r, legacy_ ? 10 : 0x1E, fields_), true; }
  bool set_rate(Request& r) { return say(r, legacy_ ? 11 : 0x22, rate_hz_), true; }
  bool ask_fields(Request& r) { return say(r, legacy_ ? 4 : 0x1F), true; }
  bool ask_radians(Request& r) { return !legacy_ && (say(r, 0x25), true); }
  bool stream_mode(Request& r) { return say(r, 7), true; }
  Reply acknowledged(const Frame&);
  Reply take_firmware(const Frame&);
  Reply take_model(const Frame&);
  Reply take_serial(const Frame&);
  Reply take_fields(const Frame&);
  Reply take_radians(const Frame&);

  std::size_t data_size() const;
  void take(const lpms::Field&, Bytes, ImuSample&) const;

  Framing framing_;
  const bool legacy_;
  const unsigned address_;
  const std::uint32_t rate_hz_, fields_;
  const double accel_unit_;   // m/s^2 of 1, with the sign
  const bool inverse_;        // attitudes turn the world's vectors into the body's
  const hal::Duration tick_;  // of its counter
  bool radians_;              // unit of the rates; ig1 is asked
  bool narrow_ = false;       // fields are i16
  hal::Text<25> model_{}, firmware_{};
  hal::Text<96> about_{};
};

}  // namespace drivers
