// UM7 of Redshift Labs (CH Robotics): registers, read, written and broadcast.
//
// Packet, big-endian: 's' 'n' 'p' | u8 type | u8 address | registers of 4 bytes | u16 sum of all
// bytes before. Type: bit 7 registers follow, bit 6 several, bits 5..2 how many, bit 0 the command
// failed. A packet without registers reads, or acknowledges. Source: the one independent driver
// (ros-drivers/um7) with its test vectors; the data sheet was not at hand.
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
#include "drivers/registry.h"

namespace drivers {

namespace um7 {

struct Framing {
  static constexpr std::size_t kMaxFrame = 7 + 4 * 15;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

// Its clock is a float32 of seconds: a step is 1 ms after two hours, and more than a period after a
// day. Nominal periods carry the stamps over the steps, and the steps keep them honest.
class FloatClock {
 public:
  explicit FloatClock(hal::Duration period) : period_(period.count()) {}
  void forget() { newest_.reset(); }
  std::int64_t stamp_of(float seconds);  // ns; not negative

 private:
  const std::int64_t period_;
  std::optional<std::int64_t> newest_{};
};

}  // namespace um7

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
  void finish(Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  struct Setting {
    unsigned address;
    std::uint32_t value;
  };
  // Of a sample, what has come of it.
  struct Part {
    ImuSample sample{};
    std::optional<float> seconds{};
    Timing timing{};
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

  bool read(const Frame&, Part&) const;  // false: makes no sense
  bool is_whole(const Part&) const;
  void give(Decoded&);
  void give_rest(Part&, Decoded&);

  Framing framing_;
  const double rate_hz_;
  const bool orientation_, save_;
  um7::FloatClock clock_;
  std::array<Setting, 8> settings_{};
  std::size_t at_ = 0;  // of the settings, which one is written or read
  std::optional<Part> held_{};
  hal::Text<96> about_{};
};

}  // namespace drivers
