// Slamtec RPLIDAR 2D lidars: A1 to A3, S1 to S3, C1 (serial) and S2E, S3E, T1 (the same bytes over
// UDP or TCP). Source: Slamtec rplidar_sdk 2.1.0 and measurements on an A1M8.
//
// Requests: commands.h. Answers: framing.h. Measurements: formats.h.
#pragma once

#include <string>

#include "drivers/device_driver.h"
#include "drivers/registry.h"
#include "drivers/rplidar/framing.h"
#include "drivers/rplidar/measurement.h"
#include "drivers/rplidar/motor.h"

namespace drivers {

class Rplidar {
 public:
  using Framing = RplidarFraming;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<Rplidar>> start_script();
  static std::span<const Step<Rplidar>> stop_script();

  explicit Rplidar(const Options&);

  void restart();
  Framing& framing(Channel) { return framing_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded& out) { measurement_.finish(out); }
  hal::Duration patience() const { return measurement_.patience(); }
  // Model, firmware, hardware and serial number, once it told them.
  const hal::Text<96>& about() const { return about_; }
  // Recordings begin without a descriptor: of the format that fits best.
  static double likeness(Bytes);
  // Samples are counted: no source tells the unit of the stamps that some formats carry.
  ClockModel clock_model() const { return {.max_skew = kCountedSkew}; }
  hal::Duration max_silence() const { return std::chrono::milliseconds(300); }

 private:
  // In the order of the script; `ask` and `send` are false when the step is not needed.
  bool send_stop(Request&);
  bool ask_info(Request&);
  Reply take_info(const Frame&);
  bool ask_health(Request&);
  Reply take_health(const Frame&);
  bool send_reset(Request&);
  Reply take_banner(const Frame&);
  bool wait_after_reset(Request&) { return was_reset_; }
  bool ask_health_again(Request&);
  bool ask_board(Request&);
  Reply take_board(const Frame&);
  bool ask_usual_speed(Request&);
  Reply take_usual_speed(const Frame&);
  bool start_motor(Request& r) { return motor_.write(r, true); }
  bool ask_typical(Request&);
  Reply take_typical(const Frame&);
  bool ask_count(Request&);
  Reply take_count(const Frame&);
  bool ask_name(Request&);
  Reply take_name(const Frame&);
  bool ask_answer(Request&);
  Reply take_answer(const Frame&);
  bool ask_sample_time(Request&);
  Reply take_sample_time(const Frame&);
  bool ask_sample_rate(Request&);
  Reply take_sample_rate(const Frame&);
  bool start_mode(Request&);
  bool try_express(Request&);
  bool start_legacy(Request&);
  Reply take_start(const Frame&);
  bool stop_motor(Request& r) { return motor_.write(r, false); }

  bool is_typical() const;
  bool is_legacy_mode() const;
  bool ask_conf(Request&, std::uint32_t type, bool of_mode) const;
  void begin_measurement();

  // As configured.
  const std::string mode_;
  const double fixed_sample_us_;

  // What the device told.
  hal::Text<96> about_{};
  rplidar::Motor motor_;
  bool is_ill_ = false, was_reset_ = false;
  bool has_conf_ = false;  // it can be asked for its modes
  bool knows_mode_ = false, is_started_ = false;
  unsigned mode_id_ = 0, mode_count_ = 0, mode_answer_ = 0;
  hal::Text<64> mode_names_{};
  double mode_us_ = 0, standard_us_ = 0, express_us_ = 0;  // between two samples; 0: not told

  RplidarFraming framing_;
  rplidar::Measurement measurement_;
};

}  // namespace drivers
