// x-io NGIMU: OSC over UDP, or on a serial line with SLIP around it; the packets are in osc.h.
//
// It is asked how often it sends rates and attitude, told how often to, and asked again. Read are
//   /sensors     f x 10: rates deg/s, accelerations g, field uT, each x y z; pressure hPa
//   /quaternion  f x 4, w x y z: of the earth (north-west-up) as the sensor sees it, so conjugated
// The time of a bundle is when it was sampled, of a clock that begins at any date. Messages of one
// instant become one sample; without a time there is only their arrival.
// Source: x-io's public decoders and one real log, which shows the axes and the conjugation.
// In doubt: what /temperature tells (not read), and whether settings outlive a loss of power. Where
// it sends to (/wifi/send) is left as it is set.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/joined_sample.h"
#include "drivers/ngimu/osc.h"
#include "drivers/registry.h"

namespace drivers {

class Ngimu {
 public:
  using Framing = osc::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Ngimu>> start_script();
  static std::span<const Step<Ngimu>> stop_script() { return {}; }

  explicit Ngimu(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded& out) { joined_.give(out); }
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  struct Setting {
    std::string_view address;
    float rate_hz;
  };

  bool ask(Request&);
  bool write_next(Request&);
  bool read_next(Request&);
  Reply take_answer(const Frame&);
  Reply take_written(const Frame&);
  Reply take_read(const Frame&);
  std::optional<double> told(const Frame&, std::string_view address) const;

  bool read(const osc::Message&, ImuSample& into) const;  // false: makes no sense
  void take(const osc::Message&, const Frame&, Decoded& out);

  Framing framing_;
  const double rate_hz_;
  const bool configure_;
  const std::array<Setting, 2> settings_;
  std::size_t at_ = 0;  // of the settings, which one is written or read
  hal::Text<96> about_{};

  // Of the data stream.
  JoinedSample joined_;
  unsigned without_inertial_ = 0;  // messages in a row
};

}  // namespace drivers
