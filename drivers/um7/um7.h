// UM7 of Redshift Labs (CH Robotics): registers, read, written and broadcast (packet.h).
//
// It is asked who it is, told what to broadcast (all processed data in one packet, the attitude in
// a second one) and asked whether it kept that. Both packets carry the instant of their sample:
// they become one sample. In doubt: that their instants are equal to the bit (else the attitude is
// a sample of its own), and the bits of the health register. The magnetometer is told in parts of
// the field, not in tesla, and left out.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/joined_sample.h"
#include "drivers/registry.h"
#include "drivers/um7/float_clock.h"
#include "drivers/um7/packet.h"

namespace drivers {

class Um7 {
 public:
  using Framing = um7::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Um7>> start_script();
  static std::span<const Step<Um7>> stop_script();

  explicit Um7(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded& out) { joined_.give(out); }
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  struct Setting {
    unsigned address;
    std::uint32_t value;
  };
  bool ask_firmware(Request&);
  bool ask_manner(Request&);
  bool write_next(Request&);
  bool read_next(Request&);
  bool silence_next(Request&);
  bool commit(Request&);
  Reply take_firmware(const Frame&);
  Reply take_manner(const Frame&);
  Reply take_written(const Frame&);
  Reply take_read(const Frame&);
  Reply take_silenced(const Frame&);
  Reply take_commit(const Frame&);

  // False: makes no sense. Empty `seconds`: nothing that carries a time.
  static bool read(const Frame&, ImuSample&, std::optional<float>& seconds);

  Framing framing_;
  const double rate_hz_;
  const bool orientation_, save_;
  std::array<um7::FloatClock, 3> clocks_;  // of each kind of data: each advances by itself
  std::array<Setting, 8> settings_{};
  std::size_t at_ = 0;  // of the settings, which one is written or read
  JoinedSample joined_;
  hal::Text<96> about_{};
};

}  // namespace drivers
