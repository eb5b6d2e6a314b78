#include "drivers/hokuyo_scip/hokuyo_scip.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace std::chrono_literals;

constexpr hal::Duration kModulus = std::chrono::milliseconds(1 << 24);
constexpr std::size_t kStatusLine = 4, kStampLine = 6, kFullLine = 66, kOnLine = 64;
constexpr std::size_t kMostBeams = 1536, kMostInfo = 1024, kMostRemark = 17;
constexpr int kExchanges = 8;
constexpr std::array kBauds{19'200, 115'200, 57'600, 38'400, 250'000, 500'000, 750'000};

// What follows the status 00, or 99 of a stream.
enum class Body : std::uint8_t { none, info, time, polled, streamed };

struct Symbol {
  std::string_view name;
  std::size_t digits;
  Body body;
  std::size_t characters = 0;  // of a step
};
constexpr std::array kSymbols{
    Symbol{"MD", 13, Body::streamed, 3}, Symbol{"MS", 13, Body::streamed, 2},
    Symbol{"ME", 13, Body::streamed, 6}, Symbol{"GD", 10, Body::polled, 3},
    Symbol{"GS", 10, Body::polled, 2},   Symbol{"GE", 10, Body::polled, 6},
    Symbol{"QT", 0, Body::none},         Symbol{"BM", 0, Body::none},
    Symbol{"RS", 0, Body::none},         Symbol{"RT", 0, Body::none},
    Symbol{"RB", 0, Body::none},         Symbol{"SS", 6, Body::none},
    Symbol{"CR", 2, Body::none},         Symbol{"VV", 0, Body::info},
    Symbol{"PP", 0, Body::info},         Symbol{"II", 0, Body::info},
    Symbol{"TM0", 0, Body::none},        Symbol{"TM1", 0, Body::time},
    Symbol{"TM2", 0, Body::none},        Symbol{"SCIP2.0", 0, Body::none},
};

std::string_view text(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

char check_of(std::string_view line) {
  unsigned sum = 0;
  for (const char c : line) sum += static_cast<unsigned char>(c);
  return static_cast<char>((sum & 0x3F) + 0x30);
}

// A line without its LF that ends in its check.
bool agrees(std::string_view line) {
  return !line.empty() && check_of(line.substr(0, line.size() - 1)) == line.back();
}

bool info_agrees(std::string_view line) {
  if (agrees(line)) return true;
  const std::size_t n = line.size();
  return n >= 2 && line[n - 2] == ';' && check_of(line.substr(0, n - 2)) == line.back();
}

// A line of numbers: only characters of 6 bits.
bool numbers_agree(std::string_view line) {
  unsigned sum = 0, strange = 0;
  for (const char c : line.substr(0, line.size() - 1)) {
    const unsigned v = static_cast<unsigned char>(c) - 0x30U;
    sum += v + 0x30;
    strange |= v;
  }
  return strange < 64 && static_cast<char>((sum & 0x3F) + 0x30) == line.back();
}

template <std::size_t kCharacters>
unsigned number_at(const std::byte* b) {
  unsigned value = 0;
  for (std::size_t i = 0; i < kCharacters; ++i) {
    value = value << 6 | ((std::to_integer<unsigned>(b[i]) - 0x30U) & 0x3F);
  }
  return value;
}

int decimal(std::string_view digits) { return number_in<int>(digits).value_or(0); }

// Echo and status.
struct Head {
  std::size_t size = kNotAFrame;  // of both lines; kNotAFrame; kNeedMore
  const Symbol* symbol = nullptr;
  std::string_view parameters{}, status{};  // status: one character of SCIP 1.1, else two

  bool has(Body body) const {
    return symbol->body == body && status == (body == Body::streamed ? "99" : "00");
  }
  bool has_scan() const { return has(Body::streamed) || has(Body::polled); }
  bool is(std::string_view name) const { return symbol->name == name; }
};

bool is_word(char c) { return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z'); }

Head head_of(Bytes b) {
  const std::string_view all = text(b.first(std::min<std::size_t>(b.size(), 48)));
  const std::string_view start = all.substr(0, 2);
  const auto found = std::ranges::find_if(kSymbols, [&](const Symbol& s) {
    return s.name.starts_with(start) && (all.starts_with(s.name) || s.name.starts_with(all));
  });
  if (found == kSymbols.end()) return {};
  Head head{kNeedMore, &*found};
  std::size_t at = found->name.size();
  const std::size_t parameters = at;
  for (; at < parameters + found->digits; ++at) {
    if (at >= all.size()) return head;
    if (all[at] < '0' || all[at] > '9') return {};
  }
  if (at >= all.size()) return head;
  head.parameters = all.substr(parameters, found->digits);
  if (all[at] == ';') {  // a remark that comes back
    const std::size_t end = all.find('\n', at);
    if (end == all.npos) return all.size() - at > kMostRemark ? Head{} : head;
    if (end - at > kMostRemark) return {};
    at = end;
  }
  if (all[at] != '\n') return {};
  const std::string_view status = all.substr(++at, kStatusLine);
  const std::size_t end = status.find('\n');
  if (!std::ranges::all_of(status.substr(0, std::min<std::size_t>(end, 2)), is_word)) return {};
  if (end == status.npos) return status.size() < kStatusLine ? head : Head{};
  if (end != 1 && end != 3) return {};
  head.status = status.substr(0, std::min<std::size_t>(end, 2));
  head.size = at + end + 1;
  return head;
}

struct Steps {
  int first = 0, group = 1;
  std::size_t n = 0;           // values
  std::size_t characters = 0;  // of all

  std::size_t lines() const { return (characters + kOnLine - 1) / kOnLine; }
  std::size_t size() const { return characters + 2 * lines(); }
};

// n = 0: it makes no sense.
Steps steps_of(const Head& head) {
  Steps steps;
  steps.first = decimal(head.parameters.substr(0, 4));
  const int last = decimal(head.parameters.substr(4, 4));
  steps.group = std::max(1, decimal(head.parameters.substr(8, 2)));
  if (last < steps.first) return steps;
  const auto n = static_cast<std::size_t>((last - steps.first) / steps.group) + 1;
  if (n > kMostBeams) return steps;
  steps.n = n;
  steps.characters = n * head.symbol->characters;
  return steps;
}

// Are the ends of lines, as far as they have come, where they belong? The newest tell.
bool lines_fit(Bytes b, std::size_t from, const Steps& steps) {
  if (b.size() >= from + kStampLine && wire::u8(b, from + kStampLine - 1) != '\n') return false;
  const std::size_t begin = from + kStampLine;
  if (b.size() <= begin) return text(b).find('\n', from) >= begin - 1;
  const std::size_t end = begin + steps.size();
  if (b.size() > end) return wire::u8(b, end - 1) == '\n' && wire::u8(b, end) == '\n';
  const std::size_t line = begin + (b.size() - begin) / kFullLine * kFullLine;
  const bool is_last = line >= end;
  if (line > begin && !is_last && text(b).find('\n', line - kFullLine) != line - 1) return false;
  const std::size_t newline = text(b).find('\n', is_last ? line - kFullLine : line);
  return newline == std::string_view::npos || newline == end - 1;
}

std::size_t measure_info(Bytes b, std::size_t at) {
  const std::string_view all = text(b.first(std::min(b.size(), kMostInfo)));
  while (at < all.size()) {
    if (all[at] == '\n') return at + 1;
    const std::string_view line = all.substr(at, all.find('\n', at) - at);
    if (line.size() > 4 && line[4] != ':') return kNotAFrame;
    if (std::ranges::any_of(line, [](char c) { return c < ' ' || c > '~'; })) return kNotAFrame;
    at += line.size() + 1;
    if (at > all.size()) break;
  }
  return all.size() < kMostInfo ? kNeedMore : kNotAFrame;
}

// The lines of an information reply; calls each(line without LF).
template <class Each>
void for_each_info(Bytes frame, std::size_t at, Each&& each) {
  std::string_view rest = text(frame.subspan(at));
  while (!rest.empty()) {
    if (const std::string_view line = take_field(rest, '\n'); !line.empty()) each(line);
  }
}

}  // namespace

std::size_t ScipFraming::measure(Bytes b) {
  const Head head = head_of(b);
  if (head.size == kNotAFrame || head.size == kNeedMore) return head.size;
  if (head.has(Body::info)) return measure_info(b, head.size);
  std::size_t end = head.size;
  if (head.has(Body::time)) end += kStampLine;
  if (head.has_scan()) {
    const Steps steps = steps_of(head);
    if (steps.n == 0 || !lines_fit(b, head.size, steps)) return kNotAFrame;
    end += kStampLine + steps.size();
  }
  if (b.size() <= end) return end + 1;
  return wire::u8(b, end) == '\n' && wire::u8(b, end - 1) == '\n' ? end + 1 : kNotAFrame;
}

bool ScipFraming::intact(Bytes frame) {
  const Head head = head_of(frame);
  const std::string_view all = text(frame);
  const bool old = head.status.size() == 1;
  if (!old && !agrees(all.substr(head.size - kStatusLine, kStatusLine - 1))) return false;
  if (head.has(Body::info)) {
    // Serial numbers came with a wrong check from real URG-04LX.
    bool good = true;
    for_each_info(frame, head.size, [&](std::string_view line) {
      good &= info_agrees(line) || (head.is("VV") && line.starts_with("SERI:"));
    });
    return good;
  }
  if (!head.has(Body::time) && !head.has_scan()) return true;
  const auto line = [&all](std::size_t at, std::size_t n) {
    return all[at + n - 1] == '\n' && numbers_agree(all.substr(at, n - 1));
  };
  std::size_t at = head.size;
  if (!line(at, kStampLine)) return false;
  if (head.has(Body::time)) return true;
  for (at += kStampLine; at + 1 < frame.size();) {
    const std::size_t n = std::min(kFullLine, frame.size() - 1 - at);
    if (n < 3 || !line(at, n)) return false;
    at += n;
  }
  return true;
}

namespace {

using Geometry = HokuyoScip::Geometry;

struct Model {
  std::string_view name;
  Geometry geometry;
};
constexpr std::array kModels{
    Model{"URG-04LX", {1024, 44, 725, 384, 600, 20, 5600}},
    Model{"UTM-30LX", {1440, 0, 1080, 540, 2400, 23, 60'000}},
};

const Geometry* geometry_of(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &Model::name);
  return found == kModels.end() ? nullptr : &found->geometry;
}

std::size_t characters_of(std::string_view mode) {
  return std::ranges::find(kSymbols, mode, &Symbol::name)->characters;
}

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|URG-04LX|UTM-30LX",
               .help = "for the budgets, and for recorded bytes without PP; what the device tells "
                       "counts"},
    OptionSpec{.key = "mode",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "MD",
               .choices = "MD|MS|ME|GD|GS|GE",
               .help = "M: a stream, G: scan by scan; S: to 4095 mm in fewer bytes, E: with "
                       "intensities"},
    OptionSpec{.key = "skip",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0",
               .min = 0,
               .max = 9,
               .help = "scans to leave out between two, for slow lines"},
    OptionSpec{.key = "group",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "1",
               .min = 1,
               .max = 99,
               .help = "steps of which only the nearest is sent, for slow lines"},
    OptionSpec{.key = "time_sync",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "read the device's clock before the start, which bounds the latency"},
    OptionSpec{.key = "stamp",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "first",
               .choices = "first|rear|last",
               .help =
                   "where the device stamps its turn: at its first step, at the rear before it, "
                   "at the last step"},
};

double turn_s(const Geometry& g) { return 60 / g.turns_per_minute; }

}  // namespace

Finding HokuyoScip::finding() {
  static constexpr std::array<std::uint16_t, 1> kTcp{10940};
  return {.bauds = kBauds, .asks_first = true, .sets_baud = true, .tcp = kTcp};
}

std::span<const OptionSpec> HokuyoScip::options() { return kOptions; }

// Of a model that is not known: the most beams and turns, and what the line carries.
Figures HokuyoScip::figures(const Options& options, int) {
  constexpr Geometry kMost{0, 0, static_cast<int>(kMostBeams) - 1, 0, 2400, 0, 0};
  const Geometry* const known = geometry_of(options.text("model"));
  const Geometry& g = known ? *known : kMost;
  const auto beams = static_cast<std::size_t>((g.last - g.first) / options.integer("group")) + 1;
  const double hz = 1 / turn_s(g) / (1 + options.integer("skip"));
  const std::string_view mode = options.text("mode");
  const Steps steps{0, 0, beams, beams * characters_of(mode)};
  const double bytes = 16 + kStatusLine + kStampLine + static_cast<double>(steps.size()) + 1;
  // A polled scan waits for as long as a turn.
  return {.packets_hz = hz,
          .turns_hz = hz,
          .beams_per_turn = beams,
          .bytes_per_s = known ? bytes * hz : 0,
          .delivery = mode[0] == 'G' ? hal::from_seconds(turn_s(g)) : hal::Duration{}};
}

// The share of what lies in lines whose check agrees, echoes and empty lines not counted: replies
// are longer than what there is to look at.
double HokuyoScip::likeness(Bytes b) {
  std::string_view rest = text(b);
  take_field(rest, '\n');  // may be cut off
  std::size_t good = 0, lines = 0, counted = 0;
  while (rest.find('\n') != rest.npos) {
    const std::string_view line = take_field(rest, '\n');
    const bool echo = std::ranges::any_of(kSymbols, [&](const Symbol& s) {
      return line.size() == s.name.size() + s.digits && line.starts_with(s.name);
    });
    if (line.empty() || echo) continue;
    counted += line.size();
    if (line.size() < 3 || !(numbers_agree(line) || info_agrees(line))) continue;
    good += line.size();
    ++lines;
  }
  return lines < 2 ? 0
                   : static_cast<double>(good) /
                         static_cast<double>(counted + rest.size() / kFullLine * kFullLine);
}

HokuyoScip::HokuyoScip(const Options& options)
    : mode_(std::ranges::find(kSymbols, options.text("mode"), &Symbol::name)->name),
      skip_(options.integer("skip")),
      group_(options.integer("group")),
      synchronises_(options.flag("time_sync")),
      stamp_(options.text("stamp") == "rear"   ? StampAt::rear
             : options.text("stamp") == "last" ? StampAt::last
                                               : StampAt::first),
      configured_(geometry_of(options.text("model"))),
      two_way_(kModulus, 1ms) {
  restart();
}

void HokuyoScip::restart() {
  is_scip1_ = is_adjusting_ = changes_rate_ = was_reset_ = false;
  baud_ = exchanges_ = 0;
  two_way_.forget();
  model_.clear(), firmware_.clear(), serial_.clear(), state_.clear();
  knows_geometry_ = configured_ != nullptr;
  if (configured_) geometry_ = *configured_;
  stamp_ms_ = -1;
  turn_ = {};
}

ClockModel HokuyoScip::clock_model() const { return {.modulus = kModulus, .quantum = 1ms}; }

// Three scans, and on a slow line as long as two of them need.
hal::Duration HokuyoScip::max_silence() const {
  if (!knows_geometry_) return 1s;
  const double beams = geometry_.last - geometry_.first + 1;
  const double bytes = beams / group_ * static_cast<double>(characters_of(mode_));
  const double line_s = baud_ > 0 ? bytes * 10 / baud_ : 0;
  return std::max<hal::Duration>(
      300ms, hal::from_seconds(std::max(3 * turn_s(geometry_) * (1 + skip_), 2 * line_s)));
}

hal::Text<96> HokuyoScip::about() const {
  hal::Text<96> text;
  if (model_.empty()) return text;
  text.print("%s, firmware %s, serial %s, %g Hz", model_.c_str(), firmware_.c_str(),
             serial_.c_str(), 1 / turn_s(geometry_));
  if (!two_way_.has_exchanged()) return text;
  return hal::Text<96>::of("%s, clock known to %.1f ms", text.c_str(),
                           1e3 * hal::to_seconds(two_way_.uncertainty()));
}

std::span<const Step<HokuyoScip>> HokuyoScip::start_script() {
  using H = HokuyoScip;
  constexpr auto go_on = IfUnanswered::go_on;
  static constexpr std::array kSteps{
      Step<H>{"stop", &H::ask_quiet, &H::take_quiet, 200ms, 2, IfUnanswered::fail, kBauds},
      Step<H>{"set SCIP 2", &H::ask_scip2, &H::take_scip2, 300ms, 2, go_on},
      Step<H>{"leave time adjustment", &H::ask_leave_adjusting, &H::take_leave_adjusting, 200ms, 2,
              go_on},
      Step<H>{"reset", &H::ask_reset, &H::take_reset, 500ms, 1, go_on},
      Step<H>{"stop after reset", &H::ask_quiet_again, &H::take_quiet, 200ms, 3, IfUnanswered::fail,
              kBauds},
      Step<H>{"set baud rate", &H::ask_rate, &H::take_rate, 300ms, 2, go_on},
      Step<H>{"change baud rate", &H::change_rate, nullptr, 150ms},
      Step<H>{"get version", &H::ask_version, &H::take_version, 300ms, 3},
      Step<H>{"get parameters", &H::ask_parameters, &H::take_parameters, 300ms, 3},
      Step<H>{"get state", &H::ask_state, &H::take_state, 300ms, 2, go_on},
      Step<H>{"adjust time", &H::ask_adjusting, &H::take_adjusting, 200ms, 2, go_on},
      Step<H>{"get time", &H::ask_time, &H::take_time, 100ms, 2, go_on},
      Step<H>{"end time adjustment", &H::ask_leave_adjusting, &H::take_leave_adjusting, 200ms, 2,
              go_on},
      Step<H>{"turn laser on", &H::ask_laser, &H::take_laser, 500ms, 3},
      Step<H>{"start scan", &H::ask_stream, &H::take_stream, 500ms, 4},
  };
  return kSteps;
}

std::span<const Step<HokuyoScip>> HokuyoScip::stop_script() {
  static constexpr std::array kSteps{Step<HokuyoScip>{
      "stop", &HokuyoScip::ask_quiet, &HokuyoScip::take_quiet, 150ms, 2, IfUnanswered::go_on}};
  return kSteps;
}

std::span<const Routine<HokuyoScip>> HokuyoScip::routines() const {
  return std::span(routine_).first(polls() ? 1 : 0);
}

namespace {

hal::Text<96> in_words(std::string_view status) {
  const int n = number_in<int>(status).value_or(-1);
  const char* words = "";
  if (status.size() == 1) words = ", which is SCIP 1.1: its firmware does not speak SCIP 2";
  if (status == "0E") words = ", it does not know the command: choose another mode";
  if (status == "0C" || status == "0D" || (n >= 1 && n <= 9)) words = ", wrong parameters";
  if (status == "0F") words = ", not supported";
  if (status == "0I") words = ", it is in firmware update mode";
  if (status == "0L") words = ", abnormal: it needs a repair if that stays after power was off";
  if (status == "0M") words = ", it is not stable yet";
  if (n == 10) words = ", the laser is off or the command denied";
  if (n >= 21 && n <= 49) words = ", it paused to verify an error";
  if (n >= 50 && n <= 97) words = ", hardware trouble (laser, motor): switch it off and on";
  return hal::Text<96>::of("status %.*s%s", static_cast<int>(status.size()), status.data(), words);
}

// Of the device's own, none of the request.
bool is_trouble(std::string_view status) {
  const int n = number_in<int>(status).value_or(-1);
  return (n >= 21 && n <= 97) || status == "0L" || status == "0M";
}

}  // namespace

// What becomes stable is asked again. What is broken is reset at the next attempt.
Reply HokuyoScip::refusal(std::string_view status) {
  if (status == "0M") return Reply::not_mine();
  needs_reset_ |= is_trouble(status);
  hal::Text<96> words = in_words(status);
  if (is_trouble(status) && !state_.empty()) {
    words = hal::Text<96>::of("%s; it says \"%s\"", words.c_str(), state_.c_str());
  }
  return Reply::refused(words);
}

bool HokuyoScip::ask_quiet(Request& request) {
  request.text("QT\n");
  return true;
}

Reply HokuyoScip::take_quiet(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is("QT")) return Reply::not_mine();
  is_scip1_ = head.status.size() == 1;
  is_adjusting_ = head.status == "0E";
  return Reply::done();
}

bool HokuyoScip::ask_scip2(Request& request) {
  if (is_scip1_) request.text("SCIP2.0\n");
  return is_scip1_;
}

Reply HokuyoScip::take_scip2(const Frame& frame) {
  return head_of(frame.bytes).is("SCIP2.0") ? Reply::done() : Reply::not_mine();
}

bool HokuyoScip::ask_leave_adjusting(Request& request) {
  if (is_adjusting_) request.text("TM2\n");
  return is_adjusting_;
}

Reply HokuyoScip::take_leave_adjusting(const Frame& frame) {
  if (!head_of(frame.bytes).is("TM2")) return Reply::not_mine();
  is_adjusting_ = false;
  return Reply::done();
}

bool HokuyoScip::ask_reset(Request& request) {
  if (needs_reset_) request.text("RS\n");
  was_reset_ = needs_reset_;
  return needs_reset_;
}

Reply HokuyoScip::take_reset(const Frame& frame) {
  if (!head_of(frame.bytes).is("RS")) return Reply::not_mine();
  needs_reset_ = false;
  return Reply::done();
}

bool HokuyoScip::ask_quiet_again(Request& request) { return was_reset_ && ask_quiet(request); }

bool HokuyoScip::ask_rate(Request& request) {
  const LineRate& rate = request.rate();
  baud_ = rate.current;
  if (rate.current == rate.configured) return false;
  request.text(hal::Text<24>::of("SS%06d\n", rate.configured).view());
  return true;
}

// 03: it has that rate already; what cannot be set (USB, Ethernet) needs not be.
Reply HokuyoScip::take_rate(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is("SS")) return Reply::not_mine();
  changes_rate_ = head.status == "00" || head.status == "03";
  if (head.status == "01" || head.status == "02") {
    return Reply::refused(hal::Text<96>::of("it has no rate of %d baud: configure %d",
                                            decimal(head.parameters), baud_));
  }
  return Reply::done();
}

bool HokuyoScip::change_rate(Request& request) {
  if (changes_rate_) request.baud(baud_ = request.rate().configured);
  return changes_rate_;
}

bool HokuyoScip::ask_version(Request& request) {
  request.text("VV\n");
  return true;
}

Reply HokuyoScip::take_version(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is("VV")) return Reply::not_mine();
  if (!head.has(Body::info)) return refusal(head.status);
  learn(frame.bytes);
  return Reply::done();
}

bool HokuyoScip::ask_parameters(Request& request) {
  request.text("PP\n");
  return true;
}

Reply HokuyoScip::take_parameters(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is("PP")) return Reply::not_mine();
  if (!head.has(Body::info)) return refusal(head.status);
  learn(frame.bytes);
  if (!knows_geometry_)
    return Reply::refused(hal::Text<96>::of("its steps and speed make no sense"));
  return Reply::done();
}

bool HokuyoScip::ask_state(Request& request) {
  request.text("II\n");
  return true;
}

Reply HokuyoScip::take_state(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is("II")) return Reply::not_mine();
  if (head.has(Body::info)) learn(frame.bytes);
  return Reply::done();
}

bool HokuyoScip::ask_adjusting(Request& request) {
  if (synchronises_) request.text("TM0\n");
  return synchronises_;
}

// 02: it is adjusting already.
Reply HokuyoScip::take_adjusting(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is("TM0")) return Reply::not_mine();
  is_adjusting_ = head.status == "00" || head.status == "02";
  return Reply::done();
}

bool HokuyoScip::ask_time(Request& request) {
  if (!is_adjusting_) return false;
  asked_at_ = request.now();
  request.text("TM1\n");
  return true;
}

Reply HokuyoScip::take_time(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is("TM1")) return Reply::not_mine();
  if (!head.has(Body::time)) return Reply::done();
  const unsigned ms = number_at<4>(&frame.bytes[head.size]);
  two_way_.exchange(std::chrono::milliseconds(ms), asked_at_, frame.first_at);
  return ++exchanges_ < kExchanges ? Reply::again() : Reply::done();
}

// A stream turns it on by itself.
bool HokuyoScip::ask_laser(Request& request) {
  if (polls()) request.text("BM\n");
  return polls();
}

Reply HokuyoScip::take_laser(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is("BM")) return Reply::not_mine();
  if (head.status == "00" || head.status == "02") return Reply::done();
  if (head.status != "01") return refusal(head.status);
  needs_reset_ = true;
  return Reply::refused(hal::Text<96>::of("status 01, the laser does not light"));
}

bool HokuyoScip::ask_stream(Request& request) {
  if (polls()) return false;
  request.text(hal::Text<24>::of("%.2s%04d%04d%02d%d00\n", mode_.data(), geometry_.first,
                                 geometry_.last, group_, skip_)
                   .view());
  return true;
}

// Its reply, or where that got lost what follows it.
Reply HokuyoScip::take_stream(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is(mode_)) return Reply::not_mine();
  if (head.status == "00") return Reply::done();
  return head.status == "99" ? Reply::measured() : refusal(head.status);
}

bool HokuyoScip::ask_scan(Request& request) {
  request.text(
      hal::Text<24>::of("%.2s%04d%04d%02d\n", mode_.data(), geometry_.first, geometry_.last, group_)
          .view());
  return true;
}

Reply HokuyoScip::take_scan(const Frame& frame) {
  const Head head = head_of(frame.bytes);
  if (!head.is(mode_)) return Reply::not_mine();
  return head.status == "00" ? Reply::measured() : refusal(head.status);
}

// VV, PP and II have no key in common. Steps and speed count when all of them are there.
void HokuyoScip::learn(Bytes info) {
  Geometry told{};
  for_each_info(info, head_of(info).size, [&](std::string_view line) {
    std::string_view value = line;
    const std::string_view key = take_field(value, ':');
    value = value.substr(0, value.rfind(';'));
    const auto note = [value](hal::Text<32>& text, char end) {
      const std::string_view part = value.substr(0, value.find(end));
      text.print("%.*s", static_cast<int>(part.size()), part.data());
    };
    if (key == "MODL") note(model_, '(');
    if (key == "PROD" && model_.empty()) note(model_, '(');
    if (key == "FIRM") note(firmware_, '(');
    if (key == "SERI") note(serial_, ';');
    if (key == "STAT") note(state_, ';');
    const int n = number_in<int>(value).value_or(0);
    if (n < 0 || n > 1'000'000) return;
    if (key == "ARES") told.steps_per_turn = n;
    if (key == "AMIN") told.first = n;
    if (key == "AMAX") told.last = n;
    if (key == "AFRT") told.front = n;
    if (key == "SCAN") told.turns_per_minute = n;
    if (key == "DMIN") told.least_mm = static_cast<unsigned>(n);
    if (key == "DMAX") told.most_mm = static_cast<unsigned>(n);
  });
  const bool sane = told.steps_per_turn > 0 && told.last > told.first && told.last < 10'000 &&
                    told.last - told.first < told.steps_per_turn && told.turns_per_minute >= 60 &&
                    told.most_mm > told.least_mm &&
                    told.last - told.first < static_cast<int>(kMostBeams);
  if (!sane) return;
  geometry_ = told;
  knows_geometry_ = true;
  turn_ = {};
  static constexpr std::array kPoll{
      Step<HokuyoScip>{"get scan", &HokuyoScip::ask_scan, &HokuyoScip::take_scan, 1s, 2}};
  routine_[0] = {hal::from_seconds(turn_s(told) * (1 + skip_)), kPoll};
}

void HokuyoScip::decode(const Frame& frame, Decoded& out) {
  const Head head = head_of(frame.bytes);
  if (head.has(Body::info)) return learn(frame.bytes);
  if (head.has_scan()) return decode_scan(frame, out);
  if (is_trouble(head.status)) out.fault(in_words(head.status));
}

void HokuyoScip::decode_scan(const Frame& frame, Decoded& out) {
  const Head head = head_of(frame.bytes);
  const Steps steps = steps_of(head);
  const std::int64_t ms = number_at<4>(&frame.bytes[head.size]);
  const bool again = head.symbol->body == Body::polled && ms == stamp_ms_;
  if (again) return;  // it has not measured since
  if (!knows_geometry_) assume_geometry(steps.first + static_cast<int>(steps.n) * steps.group - 1);

  const Bytes data = frame.bytes.subspan(head.size + kStampLine);
  for (std::size_t i = 0; i < steps.lines(); ++i) {
    const std::size_t n = std::min(kOnLine, steps.characters - i * kOnLine);
    std::memcpy(&characters_[i * kOnLine], &data[i * kFullLine], n);
  }
  fill_beams(steps.first, steps.group, steps.n, head.symbol->characters);
  measure_turn(ms);

  const hal::Duration step = per_step() * steps.group;
  const hal::Duration length = step * (static_cast<std::int64_t>(steps.n) - 1);
  const hal::Duration to_first = per_step() * (steps.first - stamped_step());
  const hal::Duration raw = std::chrono::milliseconds(ms);
  Timing timing{.source = Timing::Source::clock,
                .raw_ns = raw.count(),
                .arrival = frame.last_at,
                .bytes = frame.bytes.size(),
                .to_first = to_first,
                .held = std::max(to_first + length, hal::Duration{}),
                .period = turn_};
  two_way_.arrived(raw, frame.last_at);
  if (two_way_.knows_latency()) timing.least = two_way_.least(), timing.most = two_way_.most();
  out.add(ScanSlice{.step = step,
                    .starts_turn = true,
                    .has_intensity = head.symbol->characters == 6,
                    .beams = std::span(beams_).first(steps.n)},
          timing);
}

// Nobody told: the URG has the fewest steps.
void HokuyoScip::assume_geometry(int last_step) {
  geometry_ = kModels[last_step <= 768 ? 0 : 1].geometry;
  knows_geometry_ = true;
}

int HokuyoScip::stamped_step() const {
  switch (stamp_) {
    case StampAt::first:
      return geometry_.first;
    case StampAt::rear:
      return geometry_.front - geometry_.steps_per_turn / 2;
    case StampAt::last:
      return geometry_.last;
  }
  return 0;
}

hal::Duration HokuyoScip::per_step() const { return turn_ / geometry_.steps_per_turn; }

// The nominal length of a turn, as long as the stamps agree.
void HokuyoScip::measure_turn(std::int64_t stamp_ms) {
  constexpr std::int64_t kWrap = kModulus / 1ms;
  constexpr std::int64_t kEnough = 32, kMost = 512;
  const double nominal_ms = 1e3 * turn_s(geometry_);
  const std::int64_t last = std::exchange(stamp_ms_, stamp_ms);
  const std::int64_t moved = (stamp_ms - last + kWrap) % kWrap;
  const auto turns = std::llround(static_cast<double>(moved) / nominal_ms);
  const bool begins = turn_ == hal::Duration{} || last < 0 || turns < 1 || turns > 20;
  if (begins || turns_ > kMost) since_ms_ = turns_ = 0;
  if (begins) {
    turn_ = hal::from_seconds(turn_s(geometry_));
    return;
  }
  since_ms_ += moved;
  turns_ += turns;
  if (turns_ < kEnough) return;
  const double shown_ms = static_cast<double>(since_ms_) / static_cast<double>(turns_);
  const double off_ms = (shown_ms - nominal_ms) * static_cast<double>(turns_);
  turn_ = hal::from_seconds((std::abs(off_ms) > 1.5 ? shown_ms : nominal_ms) * 1e-3);
}

void HokuyoScip::fill_beams(int first, int group, std::size_t n, std::size_t characters) {
  const double rad = 2 * std::numbers::pi / geometry_.steps_per_turn;
  const auto fill = [&](auto&& range, auto&& intensity) {
    for (std::size_t i = 0; i < n; ++i) {
      const int step = first + static_cast<int>(i) * group - geometry_.front;
      const unsigned mm = range(i);
      const bool is_return = mm >= geometry_.least_mm && mm <= geometry_.most_mm;
      beams_[i] = {static_cast<float>(step * rad),
                   is_return ? static_cast<float>(mm) * 1e-3f : 0.0f, intensity(i)};
    }
  };
  const std::byte* const at = characters_.data();
  const auto none = [](std::size_t) { return 0.0f; };
  switch (characters) {
    case 2:
      return fill([at](std::size_t i) { return number_at<2>(at + 2 * i); }, none);
    case 3:
      return fill([at](std::size_t i) { return number_at<3>(at + 3 * i); }, none);
    default:
      return fill([at](std::size_t i) { return number_at<3>(at + 6 * i); },
                  [at](std::size_t i) { return static_cast<float>(number_at<3>(at + 6 * i + 3)); });
  }
}

}  // namespace drivers
