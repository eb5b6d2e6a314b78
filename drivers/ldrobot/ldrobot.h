// LDROBOT 2D lidars with the 0x54 stream: LD06, LD19, STL-06P/19P/26/27L (they only talk) and
// LD14, LD14P (they take commands). Source: "LD19 Development Manual" v2.3, sections 2 and 3;
// commands and the triangulation of LD14/LD14P: ldlidar_stl_sdk.
//
// Measurement, 47 bytes, little-endian:
//    0 u8 0x54 | 1 u8 0x2C | 2 u16 speed, deg/s | 4 u16 first angle, 0.01 deg
//    6 12 x {u16 distance, mm; u8 intensity} | 42 u16 last angle | 44 u16 stamp, ms modulo 30000
//   46 u8 CRC-8 (0x4D) of bytes 0..45
// Command and its acknowledge, 8 bytes: 0x54 | u8 mode | 0x04 | u32 value | CRC-8
// Health, 4 bytes: 0x54 0xE0 code CRC-8. Manufacture, 23 bytes: 0x54 0x0F ... CRC-8.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"

namespace drivers {

struct LdrobotFraming {
  static constexpr std::size_t kMaxFrame = 47;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

class Ldrobot {
 public:
  using Framing = LdrobotFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Ldrobot>> start_script();
  static std::span<const Step<Ldrobot>> stop_script();

  explicit Ldrobot(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }  // three turns

 private:
  static constexpr std::size_t kBeams = 12;

  bool set_speed(Request&);
  bool send_start(Request&);
  bool send_stop(Request&);
  Reply acknowledged(const Frame&);
  void decode_scan(const Frame&, Decoded&);
  double true_angle(double angle_deg, unsigned mm);

  Framing framing_;
  const double beams_per_s_;
  const bool takes_commands_, triangulates_;
  const unsigned speed_;    // deg/s to ask for; 0: the device's own
  unsigned asked_ = 0;      // mode byte of the command that waits for its acknowledge
  double last_angle_ = -1;  // deg, of the newest beam; -1: none yet
  double shift_ = 0;        // deg, LD14: of the newest beam that had a return
  std::array<Beam, kBeams> beams_{};
};

}  // namespace drivers
