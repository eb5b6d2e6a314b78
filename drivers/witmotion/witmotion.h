// WitMotion inertial sensors with the frames of 11 bytes: WT901, WT901C, HWT905, JY901, WT61C.
//
// Frame: 0x55 | u8 type | 8 bytes | u8 sum of the ten before; words are i16, little-endian. Types:
// 50 date and time, 51 acceleration and temperature, 52 rate, 53 angles, 54 magnetometer, 56
// pressure, 59 quaternion, 5F four registers. Those that are enabled follow each other in this
// order at each instant; that is all that binds them. Commands: FF AA register u16, not answered.
// Source: the vendor's C SDK, and independent drivers in C++ and Python; no real bytes.
//
// In doubt, and options: the order of the quaternion, which is held against the angles at run time;
// the axes of the case; whether the time of day, cut to milliseconds, is that of the sample. The
// magnetometer has no unit and is left out. What is told in g is told in standard gravities.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/inertial.h"
#include "drivers/registry.h"

namespace drivers {

namespace wit {

struct Framing {
  static constexpr std::size_t kMaxFrame = 11;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

}  // namespace wit

class Witmotion {
 public:
  using Framing = wit::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Witmotion>> start_script();
  static std::span<const Step<Witmotion>> stop_script() {
    return {};
  }  // it streams on, as it found it

  explicit Witmotion(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  enum class Order : std::uint8_t { w_first, w_last };
  // Of one instant, what has come of it.
  struct Set {
    ImuSample sample{};
    std::optional<inertial::Quaternion> first{}, angles{};  // first: taken as w first
    std::optional<std::int64_t> clock_ns{};
    Timing timing{};
    bool is_empty = true;
  };

  bool ask(Request&);
  bool unlock(Request&);
  bool set_content(Request&);
  bool set_rate(Request&);
  bool save(Request&);
  Reply take_anything(const Frame&);
  Reply take_settings(const Frame&);

  void take(Bytes frame, hal::Time arrival, Decoded&);
  bool add(Bytes frame, Set& to);  // false: makes no sense
  void give(Decoded&);
  std::optional<inertial::Orientation> attitude(Decoded&);
  void hold_against_angles(const inertial::Quaternion&, Decoded&);
  hal::Duration period() const { return hal::from_seconds(1 / rate_hz_); }

  Framing framing_;
  const unsigned content_, rate_code_;
  const double rate_hz_;
  const bool save_, by_clock_, is_rfu_, finds_order_;
  Order order_;
  hal::Text<96> about_{};

  unsigned heard_ = 0, differed_ = 0;  // frames, settings that were not those written

  // Of the stream.
  std::array<std::byte, Framing::kMaxFrame> first_{};  // the frame that nothing confirms yet
  hal::Time first_at_{};
  bool has_first_ = false, is_confirmed_ = false;
  Set set_{};
  unsigned newest_ = 0;                 // type of the newest frame
  unsigned ended_ = 0, ends_with_ = 0;  // type of the last frame of the set before, of each set
  std::int64_t counted_ = 0;
  unsigned doubts_ = 0;  // quaternions in a row that the angles contradict
};

}  // namespace drivers
