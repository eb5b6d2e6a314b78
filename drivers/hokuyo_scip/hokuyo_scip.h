// Hokuyo 2D lidars that speak SCIP 2: URG-04LX, URG-04LX-UG01, UBG-04LX, UTM-30LX on a serial line
// or USB; UST-10LX, UST-20LX, UTM-30LX-EW over TCP, port 10940; and their relatives. Source:
// "Communication Protocol Specification for SCIP2.0" C-42-03320B; statuses of TCP models, further
// echoes, sleep, stamps and reset: urg_library, urg_stamped.
//
// Text in lines that end in LF. A request is a symbol of two letters with decimal parameters; its
// answer, one frame here:
//   echo of the request LF | status, 2 characters, check LF | lines of data, each with a check, LF
//   | LF
// Check: the sum of the line's characters, its lower 6 bits plus 0x30; an information line
// "KEY:VALUE;c" leaves the ';' out (some firmware does not). The echo has none. Numbers are groups
// of 6 bits, the highest first, each plus 0x30.
//   VV, PP, II  version, parameters, state       QT  laser off, streams end     RS  reset
//   BM  laser on   SSnnnnnn  bit rate, answered at the old one     TM0 TM1 TM2  time adjustment
//   %SL sleep: the motor stops until the next QT
//   MD MS ME ND NE ssss eeee cc i nn  stream of the steps s to e, c in a group, i scans left out, n
//   GD GS GE HD HE ssss eeee cc       the newest scan
// D: 3 characters a return, S: 2, E: 3 and 3 of intensity; N, H: up to two further returns of a
// step follow it, each behind '&'.
// Scans: stamp, 4 characters, ms, wraps at 2^24 | distances in mm, cut into lines of 64 characters
//
// Doubts. The stamp is said to be the begin of the scan (urg_stamped), or the passage of the rear
// (urg_node): option `stamp`; by default of step 0, which is the first beam of a UTM-30LX and 4.3
// ms before that of a URG-04LX. Distances below DMIN and above DMAX are error codes: no return. A
// SCIP 1.1 device answers with a status of one character and is asked for SCIP 2. TM reads the
// clock in standby only, so that two-way exchange is held before the start; while it streams, II
// tells the time, too (urg_stamped reads it; six hexadecimal digits or four characters): every 30 s
// it may narrow the bounds of the latency. Which models know %SL is not told: others refuse it, and
// their motor turns on.
#pragma once

#include <algorithm>

#include "drivers/device_driver.h"
#include "drivers/hokuyo_scip/scip_scan.h"
#include "drivers/registry.h"
#include "drivers/two_way.h"

namespace drivers {

// A text as a template's argument.
template <std::size_t kSize>
struct Literal {
  constexpr Literal(const char (&s)[kSize]) { std::copy_n(s, kSize, text); }  // NOLINT: implicit
  constexpr std::string_view view() const { return {text, kSize - 1}; }
  char text[kSize]{};
};

class HokuyoScip {
 public:
  using Framing = ScipFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static double likeness(Bytes b) { return scip::likeness(b); }
  static std::span<const Step<HokuyoScip>> start_script();
  static std::span<const Step<HokuyoScip>> stop_script();
  std::span<const Routine<HokuyoScip>> routines() const;

  explicit HokuyoScip(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  hal::Text<96> about() const;

 private:
  using Head = scip::Head;
  enum class StampAt : std::uint8_t { first, rear, last };

  // What is said: a text, always or if; a reply to it, by its echo.
  template <Literal kText>
  bool say(Request&);
  template <Literal kText, auto kIf>
  bool say_if(Request&);
  template <Literal kSymbol, Reply (HokuyoScip::*kTake)(const Head&, const Frame&)>
  Reply answer(const Frame&);

  bool ask_rate(Request&);
  bool change_rate(Request&);
  bool ask_version(Request&);
  bool ask_time(Request&);
  bool ask_state_again(Request&);
  bool ask_stream(Request&);
  bool ask_scan(Request&);
  Reply take_scan(const Frame&);

  // In the order of the script.
  Reply accept(const Head&, const Frame&) { return Reply::done(); }
  Reply take_quiet(const Head&, const Frame&);
  Reply take_left_adjusting(const Head&, const Frame&);
  Reply take_reset(const Head&, const Frame&);
  Reply take_rate(const Head&, const Frame&);
  Reply take_info(const Head&, const Frame&);
  Reply take_parameters(const Head&, const Frame&);
  Reply take_state(const Head&, const Frame&);
  Reply take_adjusting(const Head&, const Frame&);
  Reply take_time(const Head&, const Frame&);
  Reply take_state_again(const Head&, const Frame&);
  Reply take_laser(const Head&, const Frame&);
  Reply refusal(std::string_view status);

  hal::Text<24> scan_range() const;
  void plan_routines();
  void learn(const Head&, Bytes frame);
  void decode_scan(const Head&, const Frame&, Decoded&);
  Timing timing_of(std::int64_t ms, const scip::Steps&, const Frame&);
  int stamped_step() const;

  // As configured.
  const scip::Symbol& mode_;
  const bool polls_, synchronises_;
  const int skip_, group_;
  const StampAt stamp_;
  const scip::Geometry* const configured_;  // null: auto

  // Of the dialogue.
  Framing framing_;
  bool is_scip1_ = false, is_adjusting_ = false, changes_rate_ = false, was_reset_ = false;
  bool needs_reset_ = false;  // it reported trouble: survives a restart
  int baud_ = 0, exchanges_ = 0;
  hal::Time asked_at_{};
  TwoWay two_way_;
  hal::Text<32> model_{}, firmware_{}, serial_{}, state_{};
  std::optional<hal::Duration> told_time_{};       // of the newest II
  std::array<Routine<HokuyoScip>, 2> routines_{};  // the clock; polled scans

  // Of the scans.
  scip::Geometry geometry_{};
  bool knows_geometry_ = false;  // told, configured or assumed
  std::int64_t polled_ms_ = -1;  // stamp of the newest scan; -1: none yet
  scip::TurnLength turn_;
  scip::ScanReader reader_;
};

}  // namespace drivers
