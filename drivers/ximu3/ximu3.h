// x-io x-IMU3: serial line, USB, UDP or TCP. The messages are in message.h.
//
// It is asked who it is and in which world it tells its attitude, told how often to send rates and
// attitude, and all that is read back; nothing is saved unless that is wanted. Messages of one
// instant carry the same time, or nearly: they become one sample. Not read are the magnetometer,
// which has no unit, and the high-g accelerometer. In doubt: keys of the settings (from the
// settings of public software, one source; what it does not know is left as it is), and
// over which samples it averages when it sends fewer than it takes. Where it is told nothing
// (`configure: false`) it is read as it streams.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/inertial.h"
#include "drivers/joined_sample.h"
#include "drivers/registry.h"
#include "drivers/ximu3/message.h"

namespace drivers {

class Ximu3 {
 public:
  using Framing = ximu3::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Ximu3>> start_script();
  static std::span<const Step<Ximu3>> stop_script() { return {}; }

  explicit Ximu3(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded& out) { joined_.give(out); }
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  enum class World : std::uint8_t { nwu, enu, ned };  // as the device numbers them

  struct Setting {
    const char* key;
    hal::Text<8> value;
    bool is_needed;         // else the device may not know it
    bool is_known = false;  // it was taken
  };

  bool ping(Request&);
  bool ask_world(Request&);
  bool write_next(Request&);
  bool apply(Request&);
  bool read_next(Request&);
  bool save(Request&);
  Reply take_ping(const Frame&);
  Reply take_world(const Frame&);
  Reply take_written(const Frame&);
  Reply take_applied(const Frame&);
  Reply take_read(const Frame&);
  Reply next_setting();

  inertial::Vector vector(const ximu3::Message&, std::size_t at, double unit) const;
  std::optional<inertial::Orientation> attitude(const inertial::Quaternion&) const;
  bool read(const ximu3::Message&, ImuSample& into) const;  // false: makes no sense
  bool is_in_time(std::int64_t us);
  void complain(char letter, Decoded& out);

  Framing framing_;
  const unsigned divisor_;  // of the rate at which it samples
  const bool configure_, save_;
  const std::optional<World> told_world_;
  World world_ = World::nwu;
  bool asks_by_old_name_ = false;
  std::array<Setting, 4> settings_;
  std::size_t at_ = 0;  // of the settings, which one is written or read
  hal::Text<96> about_{};

  // Of the data stream.
  JoinedSample joined_;
  std::optional<std::int64_t> newest_us_{}, doubtful_us_{};
  unsigned without_inertial_ = 0;  // messages of measurements in a row
};

}  // namespace drivers
