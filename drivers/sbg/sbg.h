// SBG Systems Ellipse, Ekinox, Quanta, Pulse: sbgECom on a serial line or by UDP. Frames and logs
// are in logs.h. Source: SBG's sbgECom library and its ROS driver; no capture of a device is
// public.
//
// Where the device answers, it is asked what it sends on its port, told to send IMU_SHORT, EKF_QUAT
// and, each second, UTC_TIME, and asked again. IMU_DATA, FAST_IMU and EKF_EULER, which tell the
// same, are switched off; others stay. Devices that lack IMU_SHORT send IMU_DATA. Newer products
// are set up by their web page and do not answer: they are listened to, as all are with `configure:
// false`.
//
// All logs carry us since power-on, u32, which wraps every 71.6 minutes; those of one loop of its
// filter carry the same, and become one sample. UTC_TIME pairs that clock with UTC, which `stamps:
// utc` makes the stamps of.
#pragma once

#include <span>

#include "drivers/device_driver.h"
#include "drivers/joined_sample.h"
#include "drivers/registry.h"
#include "drivers/sbg/logs.h"

namespace drivers {

class Sbg {
 public:
  using Framing = sbg::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Sbg>> start_script();
  static std::span<const Step<Sbg>> stop_script() { return {}; }

  explicit Sbg(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded& out) { joined_.give(out); }
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  // A log's place in the output of its port: what it is set to, and what it should be.
  struct Output {
    unsigned log, cls;
    unsigned wanted = 0, found = 0;
    bool exists = true;
  };
  enum class Kind : std::uint8_t { none, fast, data, shorts };  // of inertial logs, the best last

  bool ask_info(Request&);
  bool ask_output(Request&);
  bool set_output(Request&);
  bool check_output(Request&);
  bool save(Request&);
  Reply take_info(const Frame&);
  Reply take_output(const Frame&);
  Reply take_set(const Frame&);
  Reply take_check(const Frame&);
  Reply take_saved(const Frame&);

  bool next_output();
  void choose();
  void take_inertial(const Frame&, Bytes data, Decoded&);
  void take_attitude(const Frame&, Bytes data, Decoded&);
  Timing timing_of(const Frame&, Bytes data) const;
  void note_other(const Frame&, Decoded&);

  Framing framing_;
  const unsigned asked_hz_;
  const bool orientation_, tells_utc_, configure_, save_;
  const unsigned port_;

  // What the dialogue found out.
  bool answers_ = false, changed_ = false;
  std::array<Output, 6> outputs_{};
  std::size_t at_ = 0;  // of the outputs, which one is asked or set
  hal::Text<64> name_{};
  hal::Text<96> about_{};

  // Of the data stream.
  JoinedSample joined_;
  Kind kind_ = Kind::none;  // what the samples come from
  unsigned lesser_ = 0;     // logs of a lesser kind since the newest of it
  bool has_quaternion_ = false;
  std::optional<hal::Time> others_since_{};  // no inertial log came since then
  struct Pair {
    std::uint32_t us;
    std::int64_t unix_ns;
  };
  std::optional<Pair> utc_{};  // the newest
};

}  // namespace drivers
