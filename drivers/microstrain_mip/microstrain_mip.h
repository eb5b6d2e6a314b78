// MicroStrain inertial sensors: 3DM-GX5, CX5, CV5, CV7, GQ7, GV7, RQ1. The packets are in mip.h.
//
// They are made idle, asked what they can measure and how fast, told to send all of a sample in one
// packet, and resumed. Where only the filter's set has an attitude, that comes in a packet of its
// own, with the same reference time, and is joined. GX5 and older take commands of another shape
// and have no reference time.
#pragma once

#include <array>
#include <bitset>
#include <initializer_list>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/joined_sample.h"
#include "drivers/microstrain_mip/mip.h"
#include "drivers/registry.h"

namespace drivers {

class MicrostrainMip {
 public:
  using Framing = mip::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<MicrostrainMip>> start_script();
  static std::span<const Step<MicrostrainMip>> stop_script();

  explicit MicrostrainMip(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded& out) { joined_.give(out); }
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  bool say(Request&, unsigned set, unsigned command, std::initializer_list<unsigned> data = {});
  bool idle(Request& r) { return say(r, mip::kBaseSet, 0x02); }
  bool ask_info(Request& r) { return say(r, mip::kBaseSet, 0x03); }
  bool ask_descriptors(Request& r) { return say(r, mip::kBaseSet, 0x04); }
  bool ask_more(Request& r) { return more_ && say(r, mip::kBaseSet, 0x07); }
  bool ask_base_rate(Request&);
  bool set_format(Request&);
  bool enable(Request&);
  bool ask_filter_rate(Request&);
  bool set_filter_format(Request&);
  bool switch_filter(Request&);
  bool resume(Request& r) { return say(r, mip::kBaseSet, 0x06); }

  Reply acknowledged(const Frame&);
  Reply heard(const Frame&);
  Reply take_info(const Frame&);
  Reply take_descriptors(const Frame&);
  Reply take_base_rate(const Frame&);
  Reply take_format(const Frame&);
  Reply take_filter_rate(const Frame&);
  Reply take_filter_format(const Frame&);

  std::optional<unsigned> code_of(const Frame&) const;
  bool supported(unsigned descriptor) const { return !told_ || fields_[descriptor]; }
  bool chosen(unsigned descriptor) const;
  void choose();
  void choose_filter();
  bool has_attitude() const;
  void describe();
  double rate_hz() const { return base_hz_ == 0 ? asked_hz_ : 1.0 * base_hz_ / decimation_; }
  Timing timing_of(const Frame&, const mip::Measurement&);

  Framing framing_;
  const double asked_hz_;
  const bool orientation_, deltas_, mag_, pressure_, temperature_;

  // What the dialogue found out.
  unsigned asked_set_ = 0, asked_command_ = 0;  // of the command that waits for its answer
  hal::Text<64> name_{};
  hal::Text<96> about_{};
  std::bitset<256> fields_, filter_fields_, settings_;  // that it has, of the sets 0x80, 0x82, 0x0C
  bool told_ = false;    // by the device; else everything is worth asking
  bool more_ = false;    // it has a second list of descriptors
  bool legacy_ = false;  // GX5 and older
  unsigned base_hz_ = 0, decimation_ = 1;
  std::array<std::uint8_t, 12> message_{};  // descriptors, the dispensable ones last
  std::size_t message_size_ = 0;
  unsigned filter_attitude_ = 0;  // of the filter's set, where only that has one; 0: not asked for
  unsigned filter_decimation_ = 1;
  bool takes_other_attitude_ = false;  // angles or a matrix: there is no quaternion

  // Of the data stream.
  bool has_reference_ = false;  // one was seen: week times are of another clock
  std::array<std::optional<std::int64_t>, 2> newest_{};  // stamp of the sets 0x80 and 0x82
  JoinedSample joined_;  // of both sets, while the attitude is the filter's
};

}  // namespace drivers
