// Xsens (Movella) MTi inertial sensors: 1-, 10-, 100- and 600-series, MTi-G-710. The messages are
// in mtdata2.h.
//
// They are brought to their config state, asked who they are and what they are set to send, told
// otherwise where that differs (they keep that by themselves, so it is not written without need)
// and sent back to measure. They may lower a rate: what they acknowledge counts.
//
// In doubt: the magnetometer is told in parts of the field where it was calibrated (`field_ut`);
// which counter wraps after a day follows from the length of the device's number (`wrap`).
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/sequence.h"
#include "drivers/xsens/mtdata2.h"
#include "drivers/xsens/outputs.h"

namespace drivers {

class Xsens {
 public:
  using Framing = xsens::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Xsens>> start_script();
  static std::span<const Step<Xsens>> stop_script();

  explicit Xsens(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return {}; }
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  bool say(Request&, unsigned kind);
  bool go_to_config(Request&);
  bool ask_number(Request& r) { return say(r, 0x00); }
  bool ask_product(Request& r) { return say(r, 0x1C); }
  bool ask_firmware(Request& r) { return say(r, 0x12); }
  bool ask_outputs(Request& r) { return say(r, 0xC0); }
  bool set_outputs(Request&);
  bool measure(Request& r) { return say(r, 0x10); }

  // Whether a message answers the newest request; refused: by its words.
  std::optional<Reply> refusal_in(const Frame&) const;
  Reply answered(const Frame&) const;
  Reply take_config(const Frame&);
  Reply take_number(const Frame&);
  Reply take_product(const Frame&);
  Reply take_firmware(const Frame&);
  Reply take_outputs(const Frame&);
  Reply take_set(const Frame&);
  Reply take_measuring(const Frame&);

  Reply settle(Bytes list);
  void describe();
  bool is_defective(const ImuSample&);
  Timing timing_of(const Frame&, const xsens::Measurement&);

  Framing framing_;
  unsigned asked_ = 0;  // kind of the newest request
  const double field_;  // T of what the magnetometer calls 1; 0: left out
  const xsens::Ticks::Wrap told_wrap_;
  const xsens::Outputs all_;

  // What the dialogue found out.
  xsens::Outputs wanted_;  // of what was asked, what it does not refuse
  bool woke_ = false;      // it has just got power, and waits to be told so
  bool is_set_ = false;    // it sends what is wanted
  double rate_hz_;
  xsens::Ticks::Wrap wrap_;
  hal::Text<32> product_{}, number_{}, firmware_{};
  hal::Text<96> about_{};

  // Of the data stream.
  xsens::Ticks ticks_;
  Sequence sequence_{16};
  std::optional<std::uint16_t> newest_counter_{};
  unsigned young_ = 0;  // measurements since it began
};

}  // namespace drivers
