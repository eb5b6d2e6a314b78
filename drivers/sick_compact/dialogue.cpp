// What is said to a picoScan or multiScan that has a control port.
#include "drivers/sick_compact/sick_compact.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;
using cola::Command;
using cola::Dialect;

using Answered = cola::Question::Answer::Kind;

constexpr unsigned kUnknownVariable = 3;
constexpr unsigned kCompact = 2;

Command write(const char* name) { return {Dialect::ascii, "sWN", name}; }
Command call(const char* name) { return {Dialect::ascii, "sMN", name}; }
Command query(const char* name) { return {Dialect::ascii, "sRN", name}; }

// Behind its length; cut where it is longer than there is room.
template <std::size_t N>
void take_text(cola::Fields& fields, hal::Text<N>& out) {
  const std::string_view text = fields.text(fields.u16());
  out.print("%.*s", static_cast<int>(text.size()), text.data());
}

}  // namespace

std::span<const Step<SickCompact>> SickCompact::start_script() {
  using S = SickCompact;
  using enum IfUnanswered;
  static constexpr Step<S> kSteps[] = {
      {"log in", &S::ask_login, &S::take_login, 1s, 2, fail, {}},
      {"device identity", &S::ask_identity, &S::take_identity, 500ms, 1, go_on, {}},
      {"serial number", &S::ask_serial, &S::take_serial, 500ms, 1, go_on, {}},
      {"echo filter", &S::ask_echoes, &S::take_if_known, 500ms, 2, fail, {}},
      {"address that scans go to", &S::ask_target, &S::take_done, 500ms, 2, fail, {}},
      {"Compact format", &S::ask_format, &S::take_done, 500ms, 2, fail, {}},
      {"preformatting", &S::ask_preformatting, &S::take_done, 500ms, 2, fail, {}},
      {"address that inertial data go to",
       &S::ask_motion_target,
       &S::take_motion,
       500ms,
       2,
       fail,
       {}},
      {"scans on", &S::ask_scans, &S::take_done, 500ms, 2, fail, {}},
      {"inertial data on", &S::ask_motion, &S::take_motion, 500ms, 2, fail, {}},
      {"start measuring", &S::ask_start, &S::take_start, 2s, 1, fail, {}},
      {"run", &S::ask_run, &S::take_done, 2s, 1, fail, {}},
  };
  return kSteps;
}

std::span<const Step<SickCompact>> SickCompact::stop_script() {
  using S = SickCompact;
  using enum IfUnanswered;
  static constexpr Step<S> kSteps[] = {
      {"log in", &S::ask_login, &S::take_any, 100ms, 1, go_on, {}},
      {"scans off", &S::ask_no_scans, &S::take_any, 80ms, 1, go_on, {}},
      {"inertial data off", &S::ask_no_motion, &S::take_any, 80ms, 1, go_on, {}},
      {"stop measuring", &S::ask_stop, &S::take_any, 80ms, 1, go_on, {}},
  };
  return kSteps;
}

// Without a control port it is listened to only.
bool SickCompact::ask(const Command& command, Request& request) {
  if (!request.own().has(Channel::control)) return false;
  question_.ask(command, request.to(Channel::control));
  return true;
}

bool SickCompact::ask_login(Request& request) {
  return ask(cola::login(Dialect::ascii, cola::kService), request);
}
Reply SickCompact::take_login(const Frame& frame) {
  return cola::logged_in(question_, frame.bytes);
}

bool SickCompact::ask_identity(Request& request) { return ask(query("DeviceIdent"), request); }
Reply SickCompact::take_identity(const Frame& frame) {
  auto answer = question_.answer_in(frame.bytes);
  if (answer.kind == Answered::answered) take_text(answer.fields, identity_);
  return answer.kind == Answered::other ? Reply::not_mine() : Reply::done();
}

bool SickCompact::ask_serial(Request& request) { return ask(query("SerialNumber"), request); }
Reply SickCompact::take_serial(const Frame& frame) {
  auto answer = question_.answer_in(frame.bytes);
  if (answer.kind == Answered::answered) take_text(answer.fields, serial_);
  return answer.kind == Answered::other ? Reply::not_mine() : Reply::done();
}

bool SickCompact::ask_echoes(Request& request) {
  return echo_filter_ >= 0 &&
         ask(write("FREchoFilter").u8(static_cast<unsigned>(echo_filter_)), request);
}

// Models without a filter do not know it.
Reply SickCompact::take_if_known(const Frame& frame) {
  const auto answer = question_.answer_in(frame.bytes);
  return answer.error == kUnknownVariable ? Reply::done() : question_.acknowledged(frame.bytes);
}

bool SickCompact::ask_to_send(const char* name, Channel channel, Request& request) {
  const OwnEnd& own = request.own();
  if (!own.has_ip()) return false;  // the device has been told where to send, or it never will
  Command command = write(name).u8(1);
  for (const unsigned part : own.ip) command.decimal(part, 1);
  return ask(command.decimal(own.port(channel), 2), request);
}

bool SickCompact::ask_target(Request& request) {
  if (!ask_to_send("ScanDataEthSettings", Channel::data, request)) return false;
  target_.print("%s:%u", request.own().host().c_str(), request.own().port(Channel::data));
  return true;
}
bool SickCompact::ask_format(Request& request) {
  return ask(write("ScanDataFormat").u8(kCompact), request);
}
bool SickCompact::ask_preformatting(Request& request) {
  return ask(write("ScanDataPreformatting").u8(1), request);
}
bool SickCompact::ask_motion_target(Request& request) {
  const bool apart = request.own().has(Channel::imu);
  return wants_motion_ &&
         ask_to_send("ImuDataEthSettings", apart ? Channel::imu : Channel::data, request);
}

// Some models have no inertial sensor.
Reply SickCompact::take_motion(const Frame& frame) {
  if (question_.answer_in(frame.bytes).error != kUnknownVariable) {
    return question_.acknowledged(frame.bytes);
  }
  has_motion_ = false;
  return Reply::done();
}

bool SickCompact::ask_scans(Request& request) {
  return ask(write("ScanDataEnable").u8(1), request);
}
bool SickCompact::ask_motion(Request& request) {
  return has_motion_ && ask(write("ImuDataEnable").u8(wants_motion_ ? 1 : 0), request);
}

bool SickCompact::ask_start(Request& request) { return ask(call("LMCstartmeas"), request); }
Reply SickCompact::take_start(const Frame& frame) {
  auto answer = question_.answer_in(frame.bytes);
  if (answer.kind != Answered::answered) return question_.acknowledged(frame.bytes);
  const unsigned status = answer.fields.u8();
  if (status == 0) return Reply::done();
  return Reply::refused(hal::Text<96>::of("status %u: look at its own page for an error", status));
}
bool SickCompact::ask_run(Request& request) { return ask(call("Run"), request); }
Reply SickCompact::take_done(const Frame& frame) { return question_.acknowledged(frame.bytes); }

bool SickCompact::ask_no_scans(Request& request) {
  return ask(write("ScanDataEnable").u8(0), request);
}
bool SickCompact::ask_no_motion(Request& request) {
  return has_motion_ && ask(write("ImuDataEnable").u8(0), request);
}
bool SickCompact::ask_stop(Request& request) { return ask(call("LMCstopmeas"), request); }

// At the end all is tried.
Reply SickCompact::take_any(const Frame& frame) {
  const bool other = question_.answer_in(frame.bytes).kind == Answered::other;
  return other ? Reply::not_mine() : Reply::done();
}

}  // namespace drivers
