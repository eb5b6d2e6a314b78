// Inertial Labs inertial measurement units, AHRS and INS. Source: Inertial Labs' C++ SDK
// (inertiallabs-ros-pkgs, inertiallabs_sdk); ArduPilot's AP_ExternalAHRS_InertialLabs agrees.
//
// Frame, little-endian: AA 55 | u8 type | u8 code | u16 n | n - 6 bytes | u16 sum of all from the
// type on. Type 0: a command, whose first byte of content is what is wanted; type 1: what the
// device sends. The content of data is a list of readings: code 95 begins with how many and which
// they are, of the other codes that is fixed. A command is acknowledged by a frame with two bytes
// at most.
//
// What code 95 holds is set up in the device, which tells it at each packet. After a start it
// measures its initial alignment, and sends nothing for as long as it is configured to.
#pragma once

#include <span>

#include "drivers/device_driver.h"
#include "drivers/inertial_labs/readings.h"
#include "drivers/registry.h"

namespace drivers {

class InertialLabs {
 public:
  struct Framing {
    static constexpr std::size_t kMaxFrame = 514;
    static std::size_t measure(Bytes);
    static bool intact(Bytes frame);
  };

  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<InertialLabs>> start_script();
  static std::span<const Step<InertialLabs>> stop_script();

  explicit InertialLabs(const Options&);

  void restart() { knocks_ = 0, about_.clear(); }
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  bool say(Request&, unsigned command);
  bool stop(Request& r) { return say(r, 0xFE); }
  bool knock(Request&);
  bool ask_parameters(Request& r) { return say(r, 0x41); }
  bool start(Request& r) { return say(r, code_); }
  bool align(Request&) { return true; }  // nothing is said: what is waited for comes by itself
  Reply take_info(const Frame&);
  Reply take_parameters(const Frame&);
  Reply take_start(const Frame&);
  Reply take_first(const Frame&);

  Framing framing_;
  const double rate_hz_;
  const inertial_labs::Scales scales_;
  const unsigned code_;  // of the data that is asked for
  unsigned knocks_ = 0;
  hal::Text<96> about_{};
};

}  // namespace drivers
