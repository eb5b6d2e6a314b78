// Hokuyo 2D lidars that speak SCIP 2: URG-04LX, URG-04LX-UG01, UBG-04LX, UTM-30LX and their
// relatives. Source: "Communication Protocol Specification for SCIP2.0" C-42-03320B; statuses of
// TCP models, stamps and reset: urg_library, urg_stamped.
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
//   MD MS ME ssss eeee cc i nn   stream of the steps s to e, c in a group, i scans left out, n
//   scans GD GS GE ssss eeee cc        the newest scan. D: 3 characters a step, S: 2, E: 3 and 3 of
//   intensity
// Scans: stamp, 4 characters, ms, wraps at 2^24 | distances in mm, cut into lines of 64 characters
//
// Doubts. The stamp is said to be the begin of the scan (urg_stamped), or the passage of the rear
// (urg_node): option `stamp`; by default of step 0, which is the first beam of a UTM-30LX and 4.3
// ms before that of a URG-04LX. Distances below DMIN and above DMAX are error codes: no return. A
// SCIP 1.1 device answers with a status of one character and is asked for SCIP 2. The clock can be
// read in standby only, so the two-way exchange is held before the start, and drift is followed
// one-way. The laser is turned off at the end; the motor has no command for that.
#pragma once

#include <array>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/two_way.h"

namespace drivers {

struct ScipFraming {
  static constexpr std::size_t kMaxFrame = 9600;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

class HokuyoScip {
 public:
  using Framing = ScipFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static double likeness(Bytes);
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

  // What PP tells. Steps count counter-clockwise; `front` is that at angle 0.
  struct Geometry {
    int steps_per_turn, first, last, front;
    double turns_per_minute;
    unsigned least_mm, most_mm;
  };

 private:
  enum class StampAt : std::uint8_t { first, rear, last };

  // In the order of the script.
  bool ask_quiet(Request&);
  Reply take_quiet(const Frame&);
  bool ask_reset(Request&);
  Reply take_reset(const Frame&);
  bool ask_quiet_again(Request&);
  bool ask_scip2(Request&);
  Reply take_scip2(const Frame&);
  bool ask_leave_adjusting(Request&);
  Reply take_leave_adjusting(const Frame&);
  bool ask_rate(Request&);
  Reply take_rate(const Frame&);
  bool change_rate(Request&);
  bool ask_version(Request&);
  Reply take_version(const Frame&);
  bool ask_parameters(Request&);
  Reply take_parameters(const Frame&);
  bool ask_state(Request&);
  Reply take_state(const Frame&);
  bool ask_adjusting(Request&);
  Reply take_adjusting(const Frame&);
  bool ask_time(Request&);
  Reply take_time(const Frame&);
  bool ask_laser(Request&);
  Reply take_laser(const Frame&);
  bool ask_stream(Request&);
  Reply take_stream(const Frame&);
  bool ask_scan(Request&);
  Reply take_scan(const Frame&);

  bool polls() const { return mode_[0] == 'G'; }
  Reply refusal(std::string_view status);
  void learn(Bytes info);
  void decode_scan(const Frame&, Decoded&);
  void assume_geometry(int last_step);
  hal::Duration per_step() const;
  int stamped_step() const;
  void measure_turn(std::int64_t stamp_ms);
  void fill_beams(int first, int group, std::size_t n, std::size_t characters);

  // As configured.
  const std::string_view mode_;
  const int skip_, group_;
  const bool synchronises_;
  const StampAt stamp_;
  const Geometry* const configured_;  // null: auto

  // Of the dialogue.
  Framing framing_;
  bool is_scip1_ = false, is_adjusting_ = false, changes_rate_ = false, was_reset_ = false;
  bool needs_reset_ = false;  // it reported trouble: survives a restart
  int baud_ = 0, exchanges_ = 0;
  hal::Time asked_at_{};
  TwoWay two_way_;
  hal::Text<32> model_{}, firmware_{}, serial_{}, state_{};
  std::array<Routine<HokuyoScip>, 1> routine_{};

  // Of the scans.
  Geometry geometry_{};
  bool knows_geometry_ = false;            // told, configured or assumed
  std::int64_t stamp_ms_ = -1;             // of the newest scan; -1: none yet
  std::int64_t since_ms_ = 0, turns_ = 0;  // counted for the length of a turn
  hal::Duration turn_{};                   // as told, or as the stamps show
  std::array<std::byte, ScipFraming::kMaxFrame> characters_{};
  std::array<Beam, 1536> beams_{};
};

}  // namespace drivers
