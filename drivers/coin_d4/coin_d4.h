// COIN-D4 (3irobotix / YDLIDAR), a relative of the YDLIDARs. Sources: kaiaai/LDS, one real stream.
//
// Packet, little-endian, as of a YDLIDAR with intensities, but of at most 25 samples, not 40: AA 55
// | u8 {frequency:7, Z:1} | u8 n | u16 first angle, last angle, {deg/64:15, 1:1} | u16 check | n x
// {u8 intensity, u16 {mm:14, flag:2}}. Z: a revolution starts here. `check` is the XOR of all other
// words, an intensity being a word of its own. Angles grow clockwise. A flag of 3 marks ambient
// light; the distance stands all the same.
// Command: AA 55 code, XOR of the three. F0 start, F5 stop (F1, F2: exposure high, low; not used).
// Answer to a start: A5 5A 14 00 E3 02 01 and 20 bytes that begin with its name; A5 5A 00 00 80 01
// 81; then packets. Answers have no check.
//
// In doubt, for want of a second source: the rate of the line (115200 is assumed, 230400 tried,
// too); that the angles need no correction; the frequency, which is not used. The rate of the
// samples is told by nobody: it is measured, and until then their arrival bounds the stamps.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/ydlidar/rotation.h"

namespace drivers {

class CoinD4Framing {
 public:
  static constexpr std::size_t kHead = 10, kMostSamples = 25;
  static constexpr std::size_t kMaxFrame = kHead + 3 * kMostSamples;
  enum class Kind : std::uint8_t { packet, name, begins };

  std::size_t measure(Bytes b);
  bool intact(Bytes frame);
  void forget() { foreign_ = 0; }
  static Kind kind_of(Bytes frame);

 private:
  int foreign_ = 0;  // longer packets: while there are any, it is a YDLIDAR that speaks
};

class CoinD4 {
 public:
  using Framing = CoinD4Framing;
  static std::span<const OptionSpec> options() { return {}; }
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<CoinD4>> start_script();
  static std::span<const Step<CoinD4>> stop_script();

  explicit CoinD4(const Options&) { restart(); }

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return {.max_skew = kCountedSkew}; }
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }
  const hal::Text<96>& about() const { return about_; }

 private:
  bool send_start(Request&);
  bool send_stop(Request&);
  Reply take_start(const Frame&);

  Framing framing_;
  EvenSamples samples_;
  hal::Text<96> about_{};
  std::array<Beam, Framing::kMostSamples> beams_{};
};

}  // namespace drivers
