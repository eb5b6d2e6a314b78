// Seiko Epson inertial measurement units by UART: M-G370, G330, G366, G365, G354, G364, G320.
// Source: Epson's public-domain driver (cubicleguy/ess_imu_driver); no other is known. M-V340 is
// another protocol.
//
// Registers of 16 bit in two windows, a command every 200 us at most: write A0..: u8 address | 80,
// u8 value, 0D (no answer); read: u8 even address, 00, 0D, answered by address, u8 high, u8 low,
// 0D. Samples come by themselves as bursts, big-endian: 80 | u16 flags | temperature | rates x y z
// | accelerations x y z | u16 count | u16 sum of the words before it | 0D. What a burst holds and
// whether its numbers have 16 or 32 bit is not told in it: the driver sets it, and reads it back.
#pragma once

#include <span>

#include "drivers/device_driver.h"
#include "drivers/epson/tables.h"
#include "drivers/registry.h"

namespace drivers {

// Bursts, and the answer of the register that was asked for.
class EpsonFraming {
 public:
  static constexpr std::size_t kMaxFrame = 36;

  EpsonFraming() = default;
  explicit EpsonFraming(bool wide) : burst_(wide ? 36 : 22) {}
  std::size_t measure(Bytes) const;
  bool intact(Bytes frame) const;
  void expect(std::optional<std::uint8_t> address) { asked_ = address; }

 private:
  std::size_t burst_ = kMaxFrame;
  std::optional<std::uint8_t> asked_{};  // register; empty: none
};

class Epson {
 public:
  using Framing = EpsonFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static double likeness(Bytes);
  static std::span<const Step<Epson>> start_script();
  static std::span<const Step<Epson>> stop_script();

  explicit Epson(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  static constexpr std::size_t kNameWords = 8;  // four of the product, four of the serial number

  bool write(Request&, unsigned address, unsigned value);
  bool read(Request&, unsigned address);
  bool window_0(Request& r) { return write(r, 0x7E, 0); }
  bool window_1(Request& r) { return write(r, 0x7E, 1); }
  bool stop(Request& r) { return write(r, 0x03, 0x02); }
  bool begin(Request& r) { return write(r, 0x03, 0x01); }
  bool knock(Request&);
  bool ask_ready(Request& r) { return read(r, 0x0A); }
  bool ask_diagnosis(Request& r) { return read(r, 0x04); }
  bool ask_name(Request&);
  bool set_next(Request&);
  bool ask_filter(Request& r) { return read(r, 0x06); }
  bool ask_burst(Request& r) { return read(r, 0x0C); }
  bool ask_width(Request& r) { return read(r, 0x0E); }
  Reply take_mode(const Frame&);
  Reply take_ready(const Frame&);
  Reply take_diagnosis(const Frame&);
  Reply take_name(const Frame&);
  Reply take_filter(const Frame&);
  Reply take_burst(const Frame&);
  Reply take_width(const Frame&);
  std::optional<unsigned> answer(const Frame&, unsigned address) const;

  const epson::Model& model_;
  const bool wide_;  // numbers of 32 bit
  const bool pps_;   // the counter begins anew each second
  const epson::Rate& rate_;
  const hal::Duration delay_;  // of the filter
  Framing framing_;
  unsigned knocks_ = 0;
  std::size_t next_set_ = 0;  // of the settings
  std::size_t name_size_ = 0;
  std::array<char, 2 * kNameWords> name_{};
  hal::Text<96> about_{};
};

}  // namespace drivers
