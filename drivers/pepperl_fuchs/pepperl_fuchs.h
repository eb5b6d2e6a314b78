// Pepperl+Fuchs R2000 and R2300: commands by HTTP (PFSDP), scan data over UDP or TCP (packet.h).
//
// Command: GET /cmd/NAME?key=value&... of HTTP/1.0; the answer is a JSON object that has always an
// error_code (0: done) and an error_text. One connection per command is usual.
//   get_protocol_info; get_parameter?list=a;b; set_parameter?name=value
//   request_handle_udp?address=&port=&packet_type=&start_angle=&watchdog=on&watchdogtimeout=
//   {handle} request_handle_tcp?packet_type=... {handle, port}: the host connects to that port
//   start_scanoutput, stop_scanoutput, feed_watchdog, release_handle, each ?handle=
// A handle whose watchdog is not fed in time is freed without a word; a device has three.
//
// In doubt: error codes but 110 and 120; the meaning of amplitudes below 32 (0 and 6: weak echo),
// taken as no return; everything of the R2300 has one source, and that its packet_type is named C1.
#pragma once

#include "drivers/device_driver.h"
#include "drivers/finding.h"
#include "drivers/json_text.h"
#include "drivers/pepperl_fuchs/packet_order.h"
#include "drivers/registry.h"

namespace drivers {

class PepperlFuchs {
 public:
  using Framing = pepperl::Framing;
  static constexpr bool kControlHangsUp = true;
  static constexpr bool kDataOpensLater = true;
  static std::span<const OptionSpec> options();
  static Figures figures(const Options&, int baud);
  static Finding finding();
  static std::span<const Step<PepperlFuchs>> start_script();
  static std::span<const Step<PepperlFuchs>> stop_script();

  explicit PepperlFuchs(const Options&);

  void restart();
  Framing& framing(Channel channel) { return channel == Channel::control ? http_ : data_; }
  void decode(const Frame&, Decoded&);
  void finish(Decoded&);
  ClockModel clock_model() const { return {}; }
  hal::Duration max_silence() const { return std::chrono::milliseconds(500); }
  std::span<const Routine<PepperlFuchs>> routines() const { return routines_; }
  hal::Text<96> about() const;

 private:
  static constexpr std::size_t kMostHandle = 32;
  // Of a turn of a device that is not asked for a number: there is room for so many.
  static constexpr double kUsualSamples = 12'600;

  bool ask_protocol(Request&);
  bool ask_parameters(Request&);
  bool set_samples_first(Request&);
  bool set_frequency(Request&);
  bool set_samples_then(Request&);
  bool ask_settings(Request&);
  bool ask_handle(Request&);
  bool connect(Request&);
  bool start_output(Request&);
  bool feed(Request&);
  bool stop_output(Request&);
  bool release(Request&);
  bool set(Request&, const char* name, double value);
  bool with_handle(Request&, const char* command);

  Reply done(const Frame&);
  Reply take_protocol(const Frame&);
  Reply take_parameters(const Frame&);
  Reply take_settings(const Frame&);
  Reply take_handle(const Frame&);
  // Null in place of an answer that succeeded: not for the control channel, or refused.
  struct Answer {
    std::optional<JsonText> json{};
    Reply otherwise = Reply::not_mine();
  };
  static Answer answer(const Frame&);
  void deliver(const pepperl::Arrived&, Decoded&) const;
  bool is_set(double wanted, double now) const;

  Framing data_{}, http_{.http = true};
  pepperl::PacketOrder order_;
  const std::string packet_type_;
  const double frequency_hz_;  // 0: as it is
  const int samples_, layer_;  // 0: as it is; -1: all
  const int watchdog_ms_;
  std::array<Routine<PepperlFuchs>, 1> routines_;

  hal::Text<48> product_{}, serial_{};
  int family_ = 0;
  double device_hz_ = 0, device_samples_ = 0;  // as the device has them
  hal::Text<kMostHandle> handle_{};
  std::uint16_t data_port_ = 0;  // of the device; 0: it sends datagrams
};

}  // namespace drivers
