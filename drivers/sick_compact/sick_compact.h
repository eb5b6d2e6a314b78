// SICK picoScan150 and picoScan120, and one layer of a multiScan, in Compact format over UDP, set
// up by CoLa A over TCP. Sources: recorded datagrams of a picoScan150 and a multiScan; the maker's
// sick_scan_xd and ScanSegmentAPI, which are separate implementations and agree with them; for the
// dialogue sick_scan_xd alone. The layout stands in telegram.h.
//
// A turn comes in segments of one datagram each, which are counted. Segments of a picoScan150 have
// 240 beams, so the last one runs over the end of the field at 138 deg: what lies beyond is no
// measurement, and its last beam's time is that of the field's end. So beams are timed by the speed
// of the head, which the other segments tell (but the first of a turn, which seems a beam longer).
// What comes out of order waits for the datagram that is missing, until three wait; then that is
// lost. What comes twice, or later, is stale.
//
// In doubt:
// * Speeds lie on whole turns a second: what the microseconds of a segment show is rounded to them.
// * The field of a picoScan that was narrowed: what it sends beyond has no return, and is kept.
// * Clock: us since power-on, or Unix time when the device is kept by PTP or NTP.
// * The stop: ScanDataEnable 0, LMCstopmeas; no source says whether the motor halts.
// * How long the head takes to its speed; when nothing comes, it is told to start again.
// * The axes of the inertial data are taken as forward-left-up, its orientation as in a world
//   east-north-up: gravity in the recordings agrees.
#pragma once

#include <array>
#include <optional>
#include <span>

#include "drivers/device_driver.h"
#include "drivers/in_order.h"
#include "drivers/registry.h"
#include "drivers/sick_compact/telegram.h"

namespace drivers {

class SickCompact {
 public:
  using Framing = CompactFraming;
  static constexpr std::size_t kOutputs = 2;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<SickCompact>> start_script();
  static std::span<const Step<SickCompact>> stop_script();

  explicit SickCompact(const Options&);

  void restart();
  Framing& framing(Channel c) { return c == Channel::control ? cola_ : telegrams_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded&);
  ClockModel clock_model() const { return {}; }
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }
  hal::Text<96> about() const;

 private:
  static constexpr std::size_t kMostBeams = 2048, kMostFurther = 4096;  // of a segment
  static constexpr std::size_t kMostWaiting = 3;

  // What a datagram gave. One that waits has a place of its own.
  struct Segment {
    std::uint64_t counter = 0, frame = 0, number = 0, sent_us = 0;
    ScanSlice slice{};
    Timing timing{};
    std::array<Beam, kMostBeams> beams;
    std::array<Echo, kMostFurther> further;
  };
  struct Line {
    compact::Module module;
    std::size_t number = 0;
  };

  // In the order of the script.
  bool ask_login(Request&);
  Reply take_login(const Frame&);
  bool ask_identity(Request&);
  Reply take_identity(const Frame&);
  bool ask_serial(Request&);
  Reply take_serial(const Frame&);
  bool ask_echoes(Request&);
  bool ask_target(Request&);
  bool ask_format(Request&);
  bool ask_preformatting(Request&);
  bool ask_motion_target(Request&);
  Reply take_motion(const Frame&);
  bool ask_scans(Request&);
  bool ask_motion(Request&);
  bool ask_start(Request&);
  Reply take_start(const Frame&);
  bool ask_run(Request&);
  Reply take_done(const Frame&);
  Reply take_if_known(const Frame&);
  bool ask_no_scans(Request&);
  bool ask_no_motion(Request&);
  bool ask_stop(Request&);
  Reply take_any(const Frame&);

  bool ask(const cola::Command&, Request&);
  bool ask_to_send(const char* name, Channel, Request&);

  void decode_motion(const Frame&, Decoded&);
  bool read(Bytes telegram, Segment&);
  std::optional<Line> line_in(Bytes telegram);
  bool fill(const Line&, Segment&);
  std::size_t within_field(const Line&, std::span<const Beam>) const;
  void measure_speed(double angle, std::uint64_t us);
  void put_in_order(Segment&, bool makes_sense, Decoded&);
  void deliver(Segment&, Decoded&);

  // As configured.
  enum class Family : std::uint8_t { unknown, picoscan, multiscan };
  const Family family_;
  const int echo_filter_;   // as FREchoFilter has it; -1: as it is set
  const double elevation_;  // rad
  const bool wants_motion_;

  // Of the dialogue.
  CompactFraming telegrams_, cola_{.speaks_cola = true};
  cola::Question question_;
  bool has_motion_ = true;
  hal::Text<32> identity_{};
  hal::Text<16> serial_{};
  hal::Text<24> target_{};

  // Of the datagrams.
  std::optional<double> nearest_{};  // elevation of the layer, rad, of those that were seen
  bool has_layers_ = false;
  double turns_hz_ = 0;        // 0: not known yet
  unsigned other_speeds_ = 0;  // segments in a row that seem faster
  std::uint64_t newest_us_ = 0;
  std::optional<std::uint64_t> frame_{};  // that was delivered last
  hal::Time now_{};                       // arrival of the newest datagram
  InOrder<Segment, kMostWaiting> segments_;
};

}  // namespace drivers
