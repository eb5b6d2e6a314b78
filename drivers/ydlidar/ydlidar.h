// YDLIDAR 2D lidars: X2, X3, X4, X4 Pro, S2, S4, G1, G2, G4, G6, F4, R2, TG15/30/50, TX, Tmini.
// Sources: "G4 Development Manual"; YDLidar-SDK 1.2.20; real packets of a Tmini Pro.
//
// Packet, little-endian: AA 55 | u8 {frequency:7, Z:1} | u8 n | u16 first angle, last angle,
// {deg/64 :15, 1:1} | u16 check | n samples. Z: a revolution starts here (then n is 1). A sample is
// u16 S; u8 intensity, u16 S; or u16 intensity, u16 S. `check` is the XOR of all other words, in an
// odd sample of its intensity alone and of S. Nothing but the check tells which kind of sample it
// is. Distance: S/4 mm (triangulation; with an intensity without the two lowest bits, which flag
// interference or extend the intensity to 10 bits), S/2 mm (G6; TG up to firmware 1.2), S mm
// (time of flight: TG, TX, Tmini Plus SH). Angles grow clockwise; a lidar that triangulates from
// beside its axis sees what is d mm away by atan(21.8/d - 21.8/155.3) further on.
// Stamp, 8 bytes: AA 66 | XOR of the rest | u32 ms | u8. Told by one source only and not used.
// Command: A5 code. Reply: A5 5A | u32 {length:30, mode:2} | u8 type | payload; no check.
//
// A COIN-D4 sends such packets, too, but of 25 samples at most, and answers nothing: that is told.
//
// In doubt: whether health is asked by 91 (manual) or 92 (SDK): both are tried. Firmware of a TG is
// taken as the SDK prints it, high byte first. A model of several rates is taken to count them from
// the slowest, which no source says. Rates of S4 and Tmini Plus SH are told by none either: those
// of their sisters are taken; a rate that is wrong by more than 2 % is found by the arrivals.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/ydlidar/framing.h"
#include "drivers/ydlidar/models.h"
#include "drivers/ydlidar/rotation.h"

namespace drivers {

class Ydlidar {
 public:
  using Framing = YdlidarFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Ydlidar>> start_script();
  static std::span<const Step<Ydlidar>> stop_script();

  explicit Ydlidar(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  // Samples are counted: the rate is the model's, the beginning is not told.
  ClockModel clock_model() const { return {.max_skew = kCountedSkew}; }
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }
  const hal::Text<96>& about() const { return about_; }

 private:
  // In the order of the script.
  bool pause_motor(Request& r) { return may_answer() && halt_motor(r); }
  bool wake_motor(Request&);
  bool send_stop(Request&);
  bool ask_info(Request&);
  Reply take_info(const Frame&);
  bool ask_health(Request&);
  Reply take_health(const Frame&);
  bool ask_rate(Request&);
  Reply take_rate(const Frame&);
  bool ask_speed(Request&);
  Reply take_speed(const Frame&);
  bool send_start(Request&);
  Reply take_start(const Frame&);
  bool listen(Request&) { return !is_started_; }
  Reply heard(const Frame&);
  bool halt_motor(Request&);

  bool may_answer() const;
  void adopt(const YdlidarModel&);
  void describe();
  void decode_packet(const Frame&, Decoded&);
  void fill_beams(Bytes packet, std::size_t sample, std::size_t n, double first, double step);
  double khz() const { return 1e6 / samples_.period_ns(); }

  // As configured.
  const YdlidarModel* const configured_;  // null: auto
  const double asked_khz_, asked_hz_, fixed_mm_;

  // What the device told, or else what is usual.
  const YdlidarModel* model_;
  bool answers_ = false, is_started_ = false, is_guessed_ = false;
  unsigned firmware_ = 0, code_ = 0, asked_ = 0, changes_ = 0;
  int unstopped_ = 0;  // packets that came although it was told to stop
  double hz_ = 0;      // turns per second; 0: not told
  hal::Text<24> serial_{};
  hal::Text<96> about_{};
  double mm_ = 0.25;  // a unit of distance

  // Of the data stream.
  Framing framing_;
  int short_ = 0;  // packets in a row that a COIN-D4 may have sent
  EvenSamples samples_;
  std::array<Beam, 100> beams_{};
};

}  // namespace drivers
