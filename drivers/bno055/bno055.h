// Bosch BNO055 by its UART: registers that are asked for, one exchange at a time.
//
// Read: AA 01 register n, answered by BB n and n bytes. Write: AA 00 register n and n bytes,
// answered by EE 01. A failure is EE and a code; 07, bus over-run, comes at random, and the same is
// asked again. Nothing guards an answer but its length: it must be the one that was asked for.
// Behind an answer that did not come, or was cut short, another length is asked for first: what is
// left of it is none of that, and cannot be taken for the beginning of the next one.
//
// Registers 08 to 34, little-endian i16 but the last: acceleration 1/100 m/s^2, field 1/16 uT, rate
// 1/900 rad/s (as it is set up here), three angles, quaternion w x y z 1/16384, linear
// acceleration, gravity, u8 temperature. Sources: three independent drivers that follow the data
// sheet.
//
// It has no clock: a sample is of between its request and the first byte of its answer, and is
// stamped in their middle; that the fusion takes about 5 ms more is no source's word, and a
// `fixed_latency` of that much is the user's to set. Its axes are taken as forward-left-up, and are
// left as they are mapped.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"

namespace drivers {

namespace bno055 {

struct Framing {
  static constexpr std::size_t kMaxFrame = 2 + 45;
  std::size_t measure(Bytes b) const;
  bool intact(Bytes frame) const;

  std::size_t asked = 0;  // bytes that the open request reads; 0: any number that is ever asked for
};

}  // namespace bno055

class Bno055 {
 public:
  using Framing = bno055::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding() { return {.asks_first = true}; }
  static std::span<const Step<Bno055>> start_script();
  static std::span<const Step<Bno055>> stop_script();
  // It says nothing unasked, and its answers look like anything.
  static double likeness(Bytes) { return 0; }

  explicit Bno055(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return {}; }
  hal::Duration max_silence() const;
  std::span<const Routine<Bno055>> routines() const { return routines_; }
  const hal::Text<96>& about() const { return about_; }

 private:
  bool read(Request&, unsigned address, unsigned n);
  bool write(Request&, unsigned address, unsigned value);
  bool read_chip(Request& r) { return read(r, 0x00, 1); }
  bool read_versions(Request& r) { return read(r, 0x01, 6); }
  bool first_page(Request& r) { return write(r, 0x07, 0x00); }
  bool configure(Request& r) { return write(r, 0x3D, 0x00); }
  bool wait(Request&) { return true; }
  bool full_power(Request& r) { return write(r, 0x3E, 0x00); }
  bool own_clock(Request& r) { return write(r, 0x3F, 0x00); }
  bool choose_units(Request&);
  bool read_units(Request& r) { return read(r, 0x3B, 1); }
  bool begin(Request& r) { return write(r, 0x3D, mode_); }
  bool read_mode(Request& r) { return read(r, 0x3D, 1); }
  bool poll(Request&);
  bool read_fault(Request& r) { return read(r, 0x39, 2); }

  Reply take_chip(const Frame&);
  Reply take_versions(const Frame&);
  Reply take_written(const Frame&);
  Reply take_units(const Frame&);
  Reply take_mode(const Frame&);
  Reply take_sample(const Frame&);
  Reply take_fault(const Frame&);

  Reply failed(const Frame&);
  Reply matches(const Frame&, unsigned wanted, const char* what);
  Reply settled(const Reply&);

  Framing framing_;
  const unsigned mode_;
  const double rate_hz_;
  const std::array<Step<Bno055>, 1> poll_step_, fault_step_;
  const std::array<Routine<Bno055>, 2> routines_;

  unsigned failures_ = 0;   // in a row, of the open request
  hal::Time asked_at_{};    // when the newest sample was asked for
  bool is_polled_ = false;  // else what comes was recorded
  bool is_open_ = false;    // a sample was asked for, and nothing came
  std::array<std::byte, 45> newest_{};
  bool is_repeated_ = false;  // the newest was told before, and left out
  hal::Text<96> about_{};
};

}  // namespace drivers
