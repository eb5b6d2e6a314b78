// LSLIDAR M10, M10 GPS, M10P, M10 Plus, N10, N10P and L10, on a serial line or with the same
// packets, one in each datagram, on a network (UDP port 2368). Sources: the vendor's ROS driver,
// for all of it; for the N10 also an independent decoder and a synthetic frame.
//
// Packets, big-endian; distances in mm, 0 and FFFF are no return; angles in 0.01 deg, clockwise:
//   N10, L10   58 bytes: A5 5A 3A | u16 period, us, 1/24 of a turn | u16 start
//              16 x {u16 distance; u8 intensity} | u16 end, the angle of the last | u8 sum
//   N10P      108 bytes: the same with 16 x 2 returns, and two unknown bytes before the end
//   M10        92 bytes: A5 5A | u16 start | u16 turns/min | 42 x u16 distance | 2 unknown bytes
//   M10 GPS   102 bytes: the same, and at the end twelve bytes of date, as below
//   M10P      160 bytes: A5 5A | u16 160 | u16 start | u16 turns/min | 70 x u16 distance | date
//   M10 Plus  104 bytes: A5 5A | u16 104 | the same with 42 distances
//   date: year - 2000, month, day, h, m, s | u16 ms | u16 us | 2 bytes
// An M10's packet spans 15 deg, point i lies i/n of that behind its start. Bit 15 of an M10's
// distance marks a strong reflector; where distance 39 is FFFF, or 40 is F500 or more, 40 is void.
// Command, 188 bytes: A5 5A 55 .. FA FB; [184], [185]: what and its value. 1, 1: start; 1, 0: stop;
// 0A, 1: speed, an N10's [172] in turns/s, an M10 Plus's u16 [141] in turns/min. Device packet: A5
// 5A 55 00 .. FA FB.
//
// In doubt (all but the N10 has one source):
// * An M10 has no check that is known. A packet counts as intact when the next one follows, or
// where
//   its datagram ends; so on a line it is delivered one packet late, and where the next is damaged,
//   when it continues the one before. What is damaged within a packet cannot be seen.
// * Over UDP that the same commands start and stop it, and that it sends to who commands it.
// * Whether an M10P or M10 Plus marks reflectors: the vendor makes it an option, and so is it here.
// * Whether an M10 Plus has 42 points or 41.
// * Which point the date belongs to, and what it is without satellites: it is not used.
// * The device packet's angle correction: it is not asked for.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/lslidar_m10/framing.h"
#include "drivers/registry.h"

namespace drivers {

class LslidarM10 {
 public:
  using Framing = LslidarFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<LslidarM10>> start_script();
  static std::span<const Step<LslidarM10>> stop_script();

  explicit LslidarM10(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return {.max_skew = kCountedSkew}; }
  hal::Duration max_silence() const { return std::chrono::milliseconds(500); }
  const hal::Text<96>& about() const { return about_; }

 private:
  static constexpr std::size_t kMostPoints = 70;
  static constexpr std::size_t kMostEchoes = 16;

  bool send_start(Request&);
  bool send_stop(Request&);
  bool send_speed(Request&);
  Reply heard(const Frame&);
  Reply speed_taken(const Frame&);
  Reply nothing(const Frame&) { return Reply::not_mine(); }

  void measure_turn(const LslidarKind&, Bytes);
  void fill_returns(const LslidarKind&, Bytes);    // with intensities
  void fill_distances(const LslidarKind&, Bytes);  // without
  bool passes_turn(unsigned first, unsigned last, unsigned turned);

  Framing framing_;
  const double asked_hz_;  // 0: as it is
  const int strong_bit_;   // 1: marked, 0: not, -1: as the model
  hal::Text<96> about_{};

  // Of the data stream. Angles in 0.01 deg, clockwise.
  double turn_ns_ = 0;                 // as the newest packet tells
  double raw_ns_ = 0;                  // counted until the newest beam, lost packets included
  int last_ = -1;                      // angle of the newest beam; -1: none yet
  unsigned since_turn_ = 0;            // turned since the newest turn boundary
  const LslidarKind* told_ = nullptr;  // the kind that about_ names
  std::array<Beam, kMostPoints> beams_{};
  std::array<Echo, kMostEchoes> echoes_{};
};

}  // namespace drivers
