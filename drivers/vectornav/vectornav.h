// VectorNav VN-100, VN-200, VN-300 and relatives. Their messages are in vn_binary.h and vn_ascii.h.
//
// Output is paused, the sensor asked who it is, its texts turned off, one binary message set up and
// read back, and output resumed. The message goes out on its first serial port, and where nothing
// comes of that, on both. Other binary messages of the same port are turned off. Nothing is
// written to its flash unless `save` says so: it forgets with its power, sends texts again, and is
// set up anew.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/vectornav/vn_ascii.h"

namespace drivers {

namespace vn {

struct Framing {
  static constexpr std::size_t kMaxFrame = kMaxBinary;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

}  // namespace vn

class Vectornav {
 public:
  using Framing = vn::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Vectornav>> start_script();
  static std::span<const Step<Vectornav>> stop_script();

  explicit Vectornav(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const { return {}; }
  hal::Duration max_silence() const;
  const hal::Text<96>& about() const { return about_; }

 private:
  // Sends a command, of which the first `n` fields come back in its answer.
  bool say(Request&, const hal::Text<64>& command, unsigned n = 2);
  bool pause(Request&);
  bool ask_identity(Request&);
  bool reset_manners(Request&);
  bool texts_off(Request&);
  bool others_off(Request&);
  bool configure(Request&);
  bool read_back(Request&);
  bool resume(Request&);
  bool configure_both(Request&);
  bool save(Request&);

  // What follows the echo of the command; empty: not its answer. An error is one, too.
  struct Answer {
    std::string_view rest{};
    unsigned error = 0;
  };
  std::optional<Answer> answer(const Frame&) const;
  Reply acknowledged(const Frame&);
  Reply heard(const Frame&);  // a refusal is an answer
  Reply take_identity(const Frame&);
  Reply take_others(const Frame&);
  Reply take_configuration(const Frame&);
  Reply take_measurement(const Frame&);
  Reply take_both(const Frame&);

  hal::Text<64> command_for(unsigned port) const;
  unsigned divisor() const;
  void describe();
  void decode_text(const vn::TextMessage&, const Frame&, Decoded&);
  Timing timing_of(const Frame&, const vn::Measurement&);

  Framing framing_;
  const double asked_hz_;
  const unsigned fields_;  // of the common group
  const bool save_;

  // What the dialogue found out.
  hal::Text<64> asked_{};                    // what the answer begins with
  std::array<hal::Text<32>, 3> identity_{};  // model, serial number, firmware
  std::size_t identified_ = 0;               // of these
  hal::Text<96> about_{};
  unsigned base_hz_ = 800, port_ = 1;
  unsigned other_ = 76;                   // register of another message that is looked at
  std::optional<unsigned> other_port_{};  // that it is to be left on; empty: not read yet
  bool came_ = false, is_set_up_ = false;

  // Of the stream: the newest stamp of each kind of message.
  struct Kind {
    std::uint32_t of = 0;
    std::int64_t newest = 0;
  };
  std::array<Kind, 4> kinds_{};
  std::size_t kind_count_ = 0;
};

}  // namespace drivers
