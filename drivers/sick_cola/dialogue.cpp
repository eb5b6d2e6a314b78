// What is said to the scanner, step by step.
#include <algorithm>
#include <utility>

#include "drivers/sick_cola/sick_cola.h"

namespace drivers {
namespace {

using cola::Command;
using cola::Dialect;
using cola::Fields;
using Heard = cola::Question::Answer::Kind;

constexpr unsigned kBusyFor = 40, kReadyFor = 10;  // s

hal::Text<40> trimmed(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  return hal::Text<40>::of("%.*s", static_cast<int>(text.size()), text.data());
}

}  // namespace

std::span<const Step<SickCola>> SickCola::start_script() {
  using namespace std::chrono_literals;
  using D = SickCola;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array<Step<D>, 19> kSteps{{
      {"ask its state, in CoLa A and B", &D::ask_state, &D::take_dialect, 300ms, 6},
      {"log in", &D::log_in, &D::take_login, 500ms, 2},
      {"set dialect", &D::set_dialect, &D::take_set_dialect, 500ms, 2},
      {"ask its model", &D::ask_model, &D::take_model, 300ms, 1, kGoOn},
      {"ask its firmware", &D::ask_firmware, &D::take_firmware, 300ms, 1, kGoOn},
      {"ask its serial number", &D::ask_serial, &D::take_serial, 300ms, 1, kGoOn},
      {"ask frequency and resolution", &D::ask_pace, &D::take_pace, 500ms, 2},
      {"set frequency and resolution", &D::set_pace, &D::take_set_pace, 2000ms, 2},
      {"read frequency and resolution back", &D::ask_pace, &D::take_pace_back, 500ms, 2},
      {"ask its angles", &D::ask_field, &D::take_field, 500ms, 2, kGoOn},
      {"set angles", &D::set_field, &D::acknowledged, 1000ms, 2},
      {"read angles back", &D::ask_field, &D::take_field_back, 500ms, 2, kGoOn},
      {"set echoes", &D::set_echoes, &D::take_echoes, 500ms, 1, kGoOn},
      {"set content of scans", &D::set_content, &D::take_content, 500ms, 2},
      {"read content of scans back", &D::ask_content, &D::take_content_back, 500ms, 1, kGoOn},
      {"start measuring", &D::start_measuring, &D::take_started, 1000ms, 2},
      {"apply settings", &D::apply, &D::take_applied, 1000ms, 2},
      {"ask for scans", &D::send_scans, &D::acknowledged, 500ms, 3},
      {"wait for scans", &D::wait_for_scans, &D::take_first_scan, 1000ms, kBusyFor + 1},
  }};
  return kSteps;
}

// Measuring is stopped by whom is logged in, and "Run" logged out.
std::span<const Step<SickCola>> SickCola::stop_script() {
  using namespace std::chrono_literals;
  using D = SickCola;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array<Step<D>, 3> kSteps{{
      {"end scans", &D::stop_scans, &D::heard, 120ms, 1, kGoOn},
      {"log in", &D::log_in, &D::heard, 120ms, 1, kGoOn},
      {"stop measuring", &D::stop_measuring, &D::heard, 120ms, 1, kGoOn},
  }};
  return kSteps;
}

bool SickCola::say(Request& request, const Command& c) {
  question_.ask(c, request);
  return true;
}
bool SickCola::ask(Request& request, const char* name) {
  return say(request, command("sRN", name));
}

Reply SickCola::acknowledged(const Frame& frame) { return question_.acknowledged(frame.bytes); }

// A refusal is an answer, too.
Reply SickCola::heard(const Frame& frame) {
  return question_.answer_in(frame.bytes).kind == Heard::other ? Reply::not_mine() : Reply::done();
}

Reply SickCola::succeeded(const Frame& frame, unsigned good, const char* otherwise) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind != Heard::answered) return acknowledged(frame);
  const unsigned code = answer.fields.u8();
  if (answer.fields.ok() && code == good) return Reply::done();
  return Reply::refused(hal::Text<96>::of("%s (code %u)", otherwise, code));
}

// In the other dialect each time, until something comes that tells its own.
bool SickCola::ask_state(Request& request) {
  if (std::exchange(asked_, true) && !answered_) {
    dialect_ = dialect_ == Dialect::binary ? Dialect::ascii : Dialect::binary;
  }
  return ask(request, "SCdevicestate");
}

Reply SickCola::take_dialect(const Frame& frame) {
  const Dialect told = cola::dialect_of(frame.bytes);
  if (!std::exchange(answered_, true) && told != dialect_) {
    dialect_ = told;
    return Reply::again();
  }
  return heard(frame);
}

bool SickCola::log_in(Request& request) {
  const auto level = [this] {
    switch (login_) {
      case Login::automatic:
        return as_safety_client_ ? cola::kSafetyClient : cola::kAuthorisedClient;
      case Login::safety:
        return cola::kSafetyClient;
      case Login::service:
        return cola::kService;
      case Login::client:
      case Login::none:
        break;
    }
    return cola::kAuthorisedClient;
  };
  return sets() && say(request, cola::login(dialect_, level()));
}

Reply SickCola::take_login(const Frame& frame) {
  const Reply reply = cola::logged_in(question_, frame.bytes);
  const bool refused = reply.kind == Reply::Kind::refused;
  if (refused && login_ == Login::automatic && !std::exchange(as_safety_client_, true)) {
    return Reply::again();
  }
  return reply;
}

bool SickCola::set_dialect(Request& request) {
  if (!sets() || !wanted_dialect_ || *wanted_dialect_ == dialect_) return false;
  return say(request, command("sWN", "EIHstCola").u8(*wanted_dialect_ == Dialect::binary ? 1 : 0));
}

Reply SickCola::take_set_dialect(const Frame& frame) {
  const Reply reply = acknowledged(frame);
  if (reply.kind == Reply::Kind::done) dialect_ = *wanted_dialect_;
  return reply;
}

bool SickCola::ask_model(Request& request) { return ask(request, "DeviceIdent"); }

Reply SickCola::take_model(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind != Heard::answered) return heard(frame);
  Fields& f = answer.fields;
  model_ = trimmed(f.text(f.u16()));
  firmware_ = trimmed(f.text(f.u16()));
  if (model_.view().find("icoScan") != std::string_view::npos ||
      model_.view().find("ultiScan") != std::string_view::npos) {
    return Reply::refused(
        hal::Text<96>::of("it is a %s: its driver is sick_compact", model_.c_str()));
  }
  return Reply::done();
}

bool SickCola::ask_firmware(Request& request) {
  return firmware_.empty() && ask(request, "FirmwareVersion");
}

Reply SickCola::take_firmware(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind == Heard::answered) firmware_ = trimmed(answer.fields.text(answer.fields.u16()));
  return heard(frame);
}

bool SickCola::ask_serial(Request& request) { return ask(request, "SerialNumber"); }

Reply SickCola::take_serial(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind == Heard::answered) serial_ = trimmed(answer.fields.text(answer.fields.u16()));
  return heard(frame);
}

bool SickCola::start_measuring(Request& request) {
  return sets() && say(request, command("sMN", "LMCstartmeas"));
}

Reply SickCola::take_started(const Frame& frame) {
  return succeeded(frame, 0, "it does not measure: close its other clients, or restart it");
}

bool SickCola::apply(Request& request) { return sets() && say(request, command("sMN", "Run")); }

Reply SickCola::take_applied(const Frame& frame) {
  return succeeded(frame, 1, "it does not run: close its other clients, or restart it");
}

bool SickCola::send_scans(Request& request) {
  return say(request, command("sEN", "LMDscandata").u8(1));
}

bool SickCola::wait_for_scans(Request& request) { return ask(request, "SCdevicestate"); }

// It may take 15 s until its mirror turns as it should. It may call itself busy and send scans.
Reply SickCola::take_first_scan(const Frame& frame) {
  const cola::Telegram telegram = cola::telegram_in(frame.bytes);
  if (telegram.kind == "sSN" && telegram.name == "LMDscandata") return Reply::measured();
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind == Heard::other) return Reply::not_mine();
  const unsigned state = answer.kind == Heard::answered ? answer.fields.u8() : 1;
  if (state == 2) {
    return Reply::refused(
        hal::Text<96>::of("it reports an error: look at its display or restart it"));
  }
  if (++polls_ <= (state == 0 ? kBusyFor : kReadyFor)) return Reply::not_mine();
  return Reply::refused(hal::Text<96>::of("it is %s, but sends no scans: restart it",
                                          state == 0 ? "still busy" : "ready"));
}

bool SickCola::stop_scans(Request& request) {
  return say(request, command("sEN", "LMDscandata").u8(0));
}

bool SickCola::stop_measuring(Request& request) {
  return sets() && say(request, command("sMN", "LMCstopmeas"));
}

}  // namespace drivers
