// SICK scanners that speak CoLa over TCP: TiM5xx, 7xx, 8xx, LMS1xx, LMS5xx, LRS, and one layer of
// an MRS1xxx. Ports 2111 and 2112 speak the same; each may be set to CoLa A or B (cola.h), and the
// driver goes on in the dialect that answers. Telegrams of scans: scan.h. Sources: recorded
// dialogues and streams of LMS111, LMS511, TiM781, MRS1104; SICK's published CoLa documents.
//
//   sRN SCdevicestate      0 busy, 1 ready, 2 error: asked in both dialects until one is answered
//   sMN SetAccessMode      level, password: until "Run", which logs out
//   sWN EIHstCola          1 B, 0 A: takes effect at once
//   sRN LMPscancfg, sMN mLMPsetscancfg   u32 1/100 Hz, u16 1, u32 step, i32 first, i32 last, 1e-4
//   deg sRN/sWN LMPoutputRange  u16 1, u32 step, i32 first, i32 last sWN FREchoFilter       0
//   first, 1 all, 2 last sRN/sWN LMDscandatacfg  channels, remission, its width, unit, encoder,
//   position, name, comment,
//                          time, u16 each how manyth scan
//   sMN LMCstartmeas, sMN Run, sEN LMDscandata 1; sMN LMCstopmeas
// Angles: the device's x axis points to the right, its front is at 90 degrees.
//
// Doubts. The stamp is said to be of the scan's begin, but a TiM7xx transmits 6 ms after it, when
// its last beam cannot have been measured: there it is taken for the last beam (option `stamp`).
// The date that may follow the beams is not used: in recordings it is up to 0.3 s away from the
// stamp. Layers are told apart by their angle, which other devices leave 0. What the device status
// means is not told. LMCstopmeas needs the login; no source says whether the motor halts.
#pragma once

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/sequence.h"
#include "drivers/sick_cola/scan.h"

namespace drivers {

class SickCola {
 public:
  using Framing = cola::Framing;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static double likeness(Bytes);
  static std::span<const Step<SickCola>> start_script();
  static std::span<const Step<SickCola>> stop_script();

  explicit SickCola(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  ClockModel clock_model() const;
  hal::Duration max_silence() const;
  hal::Text<96> about() const;

 private:
  static constexpr std::int32_t kFront = 900'000;  // 1e-4 deg, in the device's frame
  // What a scan covers, as the device tells it: 1e-4 deg, in its own frame.
  struct Field {
    std::uint32_t step = 0;  // 0: not known
    std::int32_t first = 0, last = 0;
    bool operator==(const Field&) const = default;
  };
  struct Pace {
    std::uint32_t frequency = 0;  // 1/100 Hz; 0: not known
    Field field{};
  };
  enum class Login : std::uint8_t { automatic, client, safety, service, none };
  enum class Echoes : std::uint8_t { first, all, last };
  enum class Stamp : std::uint8_t { automatic, first_beam, last_beam };

  cola::Command command(const char* kind, const char* name) const { return {dialect_, kind, name}; }
  bool say(Request&, const cola::Command&);
  bool ask(Request&, const char* name);
  Reply acknowledged(const Frame&);
  Reply heard(const Frame&);
  Reply succeeded(const Frame&, unsigned good, const char* otherwise);

  // In the order of the script.
  bool ask_state(Request&);
  Reply take_dialect(const Frame&);
  bool log_in(Request&);
  Reply take_login(const Frame&);
  bool set_dialect(Request&);
  Reply take_set_dialect(const Frame&);
  bool ask_model(Request&);
  Reply take_model(const Frame&);
  bool ask_firmware(Request&);
  Reply take_firmware(const Frame&);
  bool ask_serial(Request&);
  Reply take_serial(const Frame&);
  bool ask_pace(Request&);
  Reply take_pace(const Frame&);
  bool set_pace(Request&);
  Reply take_set_pace(const Frame&);
  Reply take_pace_back(const Frame&);
  bool ask_field(Request&);
  Reply take_field(const Frame&);
  bool set_field(Request&);
  Reply take_field_back(const Frame&);
  bool set_echoes(Request&);
  Reply take_echoes(const Frame&);
  bool set_content(Request&);
  Reply take_content(const Frame&);
  bool ask_content(Request&);
  Reply take_content_back(const Frame&);
  bool start_measuring(Request&);
  Reply take_started(const Frame&);
  bool apply(Request&);
  Reply take_applied(const Frame&);
  bool send_scans(Request&);
  bool wait_for_scans(Request&);
  Reply take_first_scan(const Frame&);
  // Of the stop.
  bool stop_scans(Request&);
  bool stop_measuring(Request&);

  bool sets() const { return login_ != Login::none; }
  Pace wanted_pace() const;
  Field wanted_field() const;
  Reply check_room() const;
  unsigned channels() const;
  Timing timing_of(const Frame&, const sick_cola::Scan&) const;

  // As configured.
  const std::optional<cola::Dialect> wanted_dialect_;  // empty: as it answers
  const Login login_;
  const std::uint32_t frequency_, step_;            // 1/100 Hz, 1e-4 deg; 0: as it is
  const std::optional<std::int32_t> first_, last_;  // 1e-4 deg, device frame; empty: as it is
  const Echoes echoes_;
  const unsigned intensity_bits_;  // 0: none
  const Stamp stamp_;
  const int layer_;               // 1/100 deg
  const std::size_t most_beams_;  // for which there is room

  // Of the dialogue.
  Framing framing_;
  cola::Question question_;
  cola::Dialect dialect_ = cola::Dialect::binary;  // outlives a restart: it is tried first
  bool asked_ = false, answered_ = false;          // for its state; an answer told the dialect
  bool as_safety_client_ = false;                  // the usual password was refused
  unsigned bits_ = 0;                              // of intensities, as asked for now
  unsigned polls_ = 0;
  hal::Text<40> model_{}, firmware_{}, serial_{};
  Pace pace_{};
  Field field_{};

  // Of the scans.
  sick_cola::ScanReader reader_;
  Sequence scans_{16};
  double scans_hz_ = 0, step_deg_ = 0;  // of the newest; 0: none yet
};

}  // namespace drivers
