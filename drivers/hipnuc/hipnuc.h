// HiPNUC inertial sensors: HI226, HI229, CH0x0, HI04, HI05, HI06, HI12, HI13, HI14.
//
// Frame, little-endian: 5A A5 | u16 n | u16 CRC | n bytes of payload. The CRC (XMODEM) is of the
// first four bytes and of the payload. The payload is one packet, its first byte says which:
//   91  floats: temperature, Pa, ms since power-on, g, deg/s, uT, angles, quaternion w x y z
//   92  integers: Pa, rad/s, m/s^2, uT, angles, quaternion; no time
//   81  integers with navigation: GPS week and ms of it, rad/s, m/s^2, uT, Pa, quaternion
//   83  floats as a bit map says: m/s^2, rad/s, uT, quaternion, us since power-on, Pa, deg C
// Between them lines of text, the answers to commands, which end in OK or ERR. Body axes are
// right-forward-up, the world is east-north-up. Sources: the vendor's decoders in C and Python and
// their example frames; the units of 83, and where a field stands in 81, have the C decoder alone.
//
// It streams as it powers up. It is found at its rate, quietened, asked for its version, told what
// to send where that is wanted, and let go on; older models know nothing of that and stream. At the
// end it is quiet, until it gets power again.
// In doubt: what 1 g is (`gravity`), and which instant its time is of (taken as the sampling).
#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"

namespace drivers {

namespace hipnuc {

struct Framing {
  static constexpr std::size_t kHead = 6;
  static constexpr std::size_t kMaxFrame = 512;
  std::size_t measure(Bytes b) const;
  bool intact(Bytes frame) const;

  bool lines = false;  // also of text; without them bytes of other devices are not called its own
};

// What a packet says.
struct Reading {
  ImuSample sample{};                      // without its times
  std::optional<std::int64_t> clock_ns{};  // its stamp: since power-on, in 81 of the GPS
  bool measures = false;                   // it is a packet of these kinds
};
// False: its content makes no sense. `gravity`: m/s^2 of what 91 calls g.
bool read(Bytes payload, double gravity, Reading& into);

// What the period is, by a clock that is cut to milliseconds: a second's worth of steps that are
// all alike. Rates are whole numbers of hertz, unless they are seen not to be.
class PeriodOfSteps {
 public:
  void forget() { *this = {}; }
  // Once a second, of a second in which nothing was lost.
  std::optional<hal::Duration> step_to(std::int64_t clock_ns);

 private:
  std::optional<std::int64_t> from_{};
  std::int64_t newest_ = 0, shortest_ = 0, longest_ = 0, steps_ = 0;
};

}  // namespace hipnuc

class Hipnuc {
 public:
  using Framing = hipnuc::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Hipnuc>> start_script();
  static std::span<const Step<Hipnuc>> stop_script();

  explicit Hipnuc(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  bool look(Request&);
  bool disable(Request&);
  bool ask_version(Request&);
  bool silence_others(Request&);
  bool choose_message(Request&);
  bool save(Request&);
  bool enable(Request&);
  bool enable_old(Request&);
  bool disable_old(Request&);
  Reply take_any(const Frame&);
  Reply take_ok(const Frame&);
  Reply take_version(const Frame&);
  Reply take_chosen(const Frame&);

  Timing timing_of(const Frame&, const std::optional<std::int64_t>& clock_ns);
  // HI92 has no clock: its samples are counted, where they are known to be all that is sent.
  bool is_counted() const { return message_ == "HI92"; }

  Framing framing_{.lines = true};
  const std::string_view message_;  // empty: whatever it sends
  const double gravity_;
  const bool save_;
  bool answers_ = false;  // it knows commands
  hal::Text<96> about_{};

  hal::Duration period_;         // between two samples: as told, then as its clock shows
  std::int64_t counted_ns_ = 0;  // of HI92
  hipnuc::PeriodOfSteps steps_{};
};

}  // namespace drivers
