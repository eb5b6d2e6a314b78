#include "drivers/sick_cola/sick_cola.h"

#include <algorithm>
#include <cmath>

namespace drivers {
namespace {

using cola::Command;
using cola::Dialect;
using cola::Fields;
using sick_cola::Scan;
using Heard = cola::Question::Answer::Kind;

constexpr std::int32_t kFront = 900'000;                   // 1e-4 deg in the device's frame
constexpr std::int64_t kWrap = std::int64_t{1'000} << 32;  // ns
constexpr std::size_t kUsualBeams = 1441;                  // a whole turn of a quarter degree
constexpr double kFastest = 100, kSlowest = 15;            // Hz, unless it is told
constexpr std::uint32_t kLongestHeld = 1'000'000;          // us from the stamp to the transmission
constexpr unsigned kBusyFor = 40, kReadyFor = 10;          // s

constexpr std::array kOptions{
    OptionSpec{.key = "dialect",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|binary|ascii",
               .help = "CoLa B or A; auto: as the device is set, else it is switched over"},
    OptionSpec{.key = "login",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|client|safety|service|none",
               .help = "user level, with its published password; auto: client, or that of safety "
                       "variants; none: nothing is set, scans are only asked for"},
    OptionSpec{.key = "frequency_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "0",
               .min = 0,
               .max = 100,
               .help = "scans per second, of models that can choose; 0: as it is set"},
    OptionSpec{.key = "resolution_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = 0,
               .max = 2,
               .help = "angle between two beams; 0: as it is set, at most 1441 beams a scan"},
    OptionSpec{.key = "start_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "-180",
               .min = -180,
               .max = 180,
               .help = "first angle that is sent, 0 is the front; -180: as it is set"},
    OptionSpec{.key = "end_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "180",
               .min = -180,
               .max = 180,
               .help = "last angle that is sent; 180: as it is set"},
    OptionSpec{.key = "echoes",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "first",
               .choices = "first|all|last",
               .help = "which returns of a beam are sent, of models that tell several"},
    OptionSpec{.key = "intensities",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "16",
               .choices = "16|8|off",
               .help = "bits of the intensities; 8 where a model has no 16"},
    OptionSpec{.key = "layer_deg",
               .type = OptionType::number,
               .unit = "deg",
               .fallback = "0",
               .min = -90,
               .max = 90,
               .help = "elevation of the layer that is used, of models with several"},
    OptionSpec{.key = "stamp",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|first_beam|last_beam",
               .help = "what the device's stamp is of; auto: of the first beam, or of the last "
                       "where it transmits too soon for that"},
};

std::uint32_t in_steps(double value, double per_unit) {
  return static_cast<std::uint32_t>(std::lround(value * per_unit));
}

std::optional<std::int32_t> limit(double deg) {
  if (std::abs(deg) >= 180) return std::nullopt;
  return static_cast<std::int32_t>(std::lround(deg * 1e4)) + kFront;
}

std::size_t room(const Options& options) {
  const double step = options.number("resolution_deg");
  if (step <= 0) return kUsualBeams;
  const double span = std::max(options.number("end_deg") - options.number("start_deg"), step);
  return std::min(static_cast<std::size_t>(std::ceil(span / step)) + 1,
                  sick_cola::ScanReader::kMostBeams);
}

hal::Text<40> trimmed(std::string_view text) {
  text = text.substr(0, text.find('\0'));
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  text = text.substr(0, text.find_last_not_of(' ') + 1);
  return hal::Text<40>::of("%.*s", static_cast<int>(text.size()), text.data());
}

template <class Choice>
Choice choice(const Options& options, std::string_view key,
              std::initializer_list<std::pair<std::string_view, Choice>> names) {
  const auto found =
      std::ranges::find(names, options.text(key), &std::pair<std::string_view, Choice>::first);
  return found == names.end() ? names.begin()->second : found->second;
}

bool near(std::int64_t a, std::int64_t b, std::int64_t by) { return std::abs(a - b) <= by; }

}  // namespace

std::span<const OptionSpec> SickCola::options() { return kOptions; }

// The rest of a turn passes before a scan is sent, and some milliseconds more.
Figures SickCola::figures(const Options& options, int) {
  const double told = options.number("frequency_hz"), hz = told > 0 ? told : kFastest;
  const std::size_t beams = room(options);
  const double values =
      (options.text("echoes") == "all" ? 5 : 1) * (options.text("intensities") == "off" ? 2 : 4);
  return {.packets_hz = hz,
          .turns_hz = hz,
          .beams_per_turn = beams,
          .bytes_per_s = hz * (200 + values * static_cast<double>(beams)),
          .delivery = hal::from_seconds(0.5 / (told > 0 ? told : kSlowest) + 0.01)};
}

Finding SickCola::finding() {
  static constexpr std::array<std::uint16_t, 2> kPorts{2112, 2111};
  return {.asks_first = true, .tcp = kPorts};
}

// A scan alone fills what there is to look at: the head of a telegram tells enough.
double SickCola::likeness(Bytes b) {
  std::size_t framed = 0;
  for (std::size_t at = 0; at < b.size();) {
    const Bytes rest = b.subspan(at);
    const std::size_t n = cola::measure(rest, Framing::kMaxFrame);
    if (n == kNeedMore) break;
    if (n != kNotAFrame && (n > rest.size() || cola::intact(rest.first(n)))) {
      framed += std::min(n, rest.size());
      at += n;
    } else {
      ++at;
    }
  }
  return static_cast<double>(framed) / static_cast<double>(b.size());
}

SickCola::SickCola(const Options& options)
    : wanted_dialect_(choice<std::optional<Dialect>>(
          options, "dialect",
          {{"auto", std::nullopt}, {"binary", Dialect::binary}, {"ascii", Dialect::ascii}})),
      login_(choice<Login>(options, "login",
                           {{"auto", Login::automatic},
                            {"client", Login::client},
                            {"safety", Login::safety},
                            {"service", Login::service},
                            {"none", Login::none}})),
      frequency_(in_steps(options.number("frequency_hz"), 100)),
      step_(in_steps(options.number("resolution_deg"), 1e4)),
      first_(limit(options.number("start_deg"))),
      last_(limit(options.number("end_deg"))),
      echoes_(
          choice<Echoes>(options, "echoes",
                         {{"first", Echoes::first}, {"all", Echoes::all}, {"last", Echoes::last}})),
      intensity_bits_(choice<unsigned>(options, "intensities", {{"16", 16}, {"8", 8}, {"off", 0}})),
      stamp_(choice<Stamp>(options, "stamp",
                           {{"auto", Stamp::automatic},
                            {"first_beam", Stamp::first_beam},
                            {"last_beam", Stamp::last_beam}})),
      layer_(static_cast<int>(std::lround(options.number("layer_deg") * 100))),
      most_beams_(room(options)) {}

void SickCola::restart() {
  asked_ = answered_ = as_safety_client_ = false;
  bits_ = intensity_bits_;
  polls_ = 0;
  model_.clear(), firmware_.clear(), serial_.clear();
  pace_ = {};
  field_ = {};
  scans_.forget();
}

ClockModel SickCola::clock_model() const { return {.modulus = hal::Duration(kWrap)}; }

hal::Duration SickCola::max_silence() const {
  const auto least = hal::Duration(std::chrono::milliseconds(400));
  return scans_hz_ > 0 ? std::max(least, hal::from_seconds(3 / scans_hz_)) : least;
}

hal::Text<96> SickCola::about() const {
  hal::Text<96> text;
  if (!answered_) return text;
  text.print("%s%s%s%s%s, CoLa %c", model_.empty() ? "SICK" : model_.c_str(),
             firmware_.empty() ? "" : " ", firmware_.c_str(), serial_.empty() ? "" : ", serial ",
             serial_.c_str(), dialect_ == Dialect::binary ? 'B' : 'A');
  if (scans_hz_ > 0) {
    text =
        hal::Text<96>::of("%s, %g Hz, %.4g deg", hal::Text<96>(text).c_str(), scans_hz_, step_deg_);
  }
  return text;
}

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

bool SickCola::ask_pace(Request& request) {
  return sets() && (frequency_ > 0 || step_ > 0) && ask(request, "LMPscancfg");
}

Reply SickCola::take_pace(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind == Heard::error && frequency_ > 0) {
    return Reply::refused(hal::Text<96>::of("this model has one speed: leave frequency_hz out"));
  }
  if (answer.kind != Heard::answered) return heard(frame);
  Fields& f = answer.fields;
  pace_.frequency = f.u32();
  f.u16();
  pace_.field.step = f.u32();
  pace_.field.first = f.i32();
  pace_.field.last = f.i32();
  if (!f.ok()) pace_ = {};
  return Reply::done();
}

SickCola::Pace SickCola::wanted_pace() const {
  Pace wanted = pace_;
  if (frequency_ > 0) wanted.frequency = frequency_;
  if (step_ > 0 && !near(step_, pace_.field.step, 1)) wanted.field.step = step_;
  return wanted;
}

bool SickCola::set_pace(Request& request) {
  const Pace wanted = wanted_pace();
  const bool as_it_is = wanted.frequency == pace_.frequency && wanted.field == pace_.field;
  if (pace_.frequency == 0 || as_it_is) return false;
  return say(request, command("sMN", "mLMPsetscancfg")
                          .u32(wanted.frequency)
                          .u16(1)
                          .u32(wanted.field.step)
                          .i32(wanted.field.first)
                          .i32(wanted.field.last));
}

Reply SickCola::take_set_pace(const Frame& frame) {
  return succeeded(frame, 0, "frequency and resolution do not go together, see its manual");
}

Reply SickCola::take_pace_back(const Frame& frame) {
  const Pace wanted = wanted_pace();
  const Reply reply = take_pace(frame);
  const bool same = pace_.frequency == wanted.frequency && pace_.field.step == wanted.field.step;
  if (reply.kind != Reply::Kind::done || wanted.frequency == 0 || same) return reply;
  return Reply::refused(hal::Text<96>::of("it has %g Hz and %g deg, not %g Hz and %g deg",
                                          pace_.frequency / 100.0, pace_.field.step * 1e-4,
                                          wanted.frequency / 100.0, wanted.field.step * 1e-4));
}

bool SickCola::ask_field(Request& request) { return ask(request, "LMPoutputRange"); }

Reply SickCola::take_field(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind != Heard::answered) return heard(frame);
  Fields& f = answer.fields;
  f.u16();
  field_.step = f.u32();
  field_.first = f.i32();
  field_.last = f.i32();
  if (!f.ok()) field_ = {};
  return Reply::done();
}

SickCola::Field SickCola::wanted_field() const {
  Field wanted = field_;
  if (step_ > 0 && !near(step_, field_.step, 1)) wanted.step = step_;
  if (first_) wanted.first = *first_;
  if (last_) wanted.last = *last_;
  return wanted;
}

bool SickCola::set_field(Request& request) {
  const Field wanted = wanted_field();
  if (!sets() || wanted == field_) return false;
  return say(
      request,
      command("sWN", "LMPoutputRange").u16(1).u32(wanted.step).i32(wanted.first).i32(wanted.last));
}

Reply SickCola::take_field_back(const Frame& frame) {
  const Field wanted = wanted_field();
  const Reply reply = take_field(frame);
  if (reply.kind != Reply::Kind::done || field_.step == 0) return reply;
  const auto step = static_cast<std::int64_t>(field_.step);
  const bool same = near(wanted.step, step, 1) && near(wanted.first, field_.first, step) &&
                    near(wanted.last, field_.last, step);
  if (same || !sets()) return check_room();
  return Reply::refused(hal::Text<96>::of(
      "it sends %g to %g deg by %g, not %g to %g by %g", (field_.first - kFront) * 1e-4,
      (field_.last - kFront) * 1e-4, field_.step * 1e-4, (wanted.first - kFront) * 1e-4,
      (wanted.last - kFront) * 1e-4, wanted.step * 1e-4));
}

Reply SickCola::check_room() const {
  const std::int64_t span = std::int64_t{field_.last} - field_.first;
  const std::int64_t beams = span / std::int64_t{field_.step} + 1;
  if (beams <= static_cast<std::int64_t>(most_beams_)) return Reply::done();
  return Reply::refused(hal::Text<96>::of(
      "it sends %lld beams a scan: set resolution_deg to %g, so that there is room",
      static_cast<long long>(beams), field_.step * 1e-4));
}

bool SickCola::set_echoes(Request& request) {
  const unsigned filter = echoes_ == Echoes::first ? 0 : echoes_ == Echoes::all ? 1 : 2;
  return sets() && say(request, command("sWN", "FREchoFilter").u8(filter));
}

// What has one echo only does not know the filter.
Reply SickCola::take_echoes(const Frame& frame) {
  return echoes_ == Echoes::all ? acknowledged(frame) : heard(frame);
}

unsigned SickCola::channels() const {
  if (echoes_ != Echoes::all) return 0x01;
  return model_.view().starts_with("LMS5") ? 0x1F : 0x07;
}

bool SickCola::set_content(Request& request) {
  if (!sets()) return false;
  Command c = command("sWN", "LMDscandatacfg");
  c.u8(channels()).u8(0).u8(bits_ > 0 ? 1 : 0).u8(bits_ > 8 ? 1 : 0).u8(0);
  c.u8(0).u8(0).u8(0).u8(0).u8(0).u8(1).u16(1);  // encoder, position, name, comment, time, each
  return say(request, c);
}

Reply SickCola::take_content(const Frame& frame) {
  const Reply reply = acknowledged(frame);
  if (reply.kind != Reply::Kind::refused || bits_ <= 8) return reply;
  bits_ = 8;
  return Reply::again();
}

bool SickCola::ask_content(Request& request) { return sets() && ask(request, "LMDscandatacfg"); }

// How wide intensities are stands in each scan.
Reply SickCola::take_content_back(const Frame& frame) {
  cola::Question::Answer answer = question_.answer_in(frame.bytes);
  if (answer.kind != Heard::answered) return heard(frame);
  Fields& f = answer.fields;
  const unsigned mask = f.u8();
  f.u8();
  const unsigned intensities = f.u8();
  f.skip(8, 1);
  const unsigned each = f.u16();
  if (!f.ok()) return Reply::done();
  if ((mask & channels()) == channels() && (intensities > 0 || bits_ == 0) && each == 1) {
    return Reply::done();
  }
  return Reply::refused(
      hal::Text<96>::of("it sends channels 0x%02X, %s, each %u. scan, not 0x%02X, %s, each scan",
                        mask, intensities > 0 ? "intensities" : "none", each, channels(),
                        bits_ > 0 ? "intensities" : "none"));
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
  if (telegram.kind == "sSN" && telegram.name == "LMDscandata") return Reply::done();
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

void SickCola::decode(const Frame& frame, Decoded& out) {
  const cola::Telegram telegram = cola::telegram_in(frame.bytes);
  if (telegram.name != "LMDscandata" || (telegram.kind != "sSN" && telegram.kind != "sRA")) return;
  const std::optional<Scan> scan = reader_.read(telegram.fields);
  if (!scan) return out.undecodable();
  out.lost(scans_.missing_before(scan->scans));
  const bool may_have_layers = model_.empty() || model_.view().starts_with("MRS");
  if (scan->beams.empty() || (may_have_layers && scan->layer != layer_)) return;
  scans_hz_ = scan->scans_hz;
  step_deg_ = scan->step_deg;
  out.add(ScanSlice{.step = scan->step(),
                    .starts_turn = true,
                    .has_intensity = scan->has_intensity,
                    .beams = scan->beams,
                    .echoes = scan->echoes},
          timing_of(frame, *scan));
}

Timing SickCola::timing_of(const Frame& frame, const Scan& scan) const {
  const std::uint32_t held = scan.transmitted - scan.since_power_up;
  const bool told = held <= kLongestHeld;
  const hal::Duration until_sent = told ? std::chrono::microseconds(held) : hal::Duration{};
  const bool of_last = stamp_ == Stamp::last_beam ||
                       (stamp_ == Stamp::automatic && told && until_sent < scan.span());
  Timing timing{.source = Timing::Source::clock,
                .raw_ns = std::int64_t{scan.since_power_up} * 1'000,
                .arrival = frame.last_at};
  timing.to_first = of_last ? -scan.span() : hal::Duration{};
  timing.held = of_last ? until_sent : std::max(until_sent, scan.span());
  return timing;
}

}  // namespace drivers
