#include "drivers/hipnuc/hipnuc.h"

#include <array>

#include "drivers/inertial.h"
#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr std::array kOptions{
    OptionSpec{.key = "message",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "as_set",
               .choices = "as_set|HI91|HI92|HI81",
               .help = "what it is told to send, and nothing else; as_set: it is not told"},
    OptionSpec{.key = "rate_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "100",  // as they are delivered
               .min = 1,
               .max = 1000,
               .help = "samples per second; with message: as_set, what it was set to"},
    OptionSpec{.key = "save",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "keep the message in its flash, each time it is started"},
    OptionSpec{.key = "gravity",
               .type = OptionType::number,
               .unit = "m/s^2",
               .fallback = "9.80665",  // the standard's; its maker uses both
               .min = 9.7,
               .max = 9.9,
               .help = "what HI91 calls 1 g; tools of its maker take 9.80665 or 9.8"},
};

constexpr std::array kBauds{115'200, 921'600, 9600, 460'800, 230'400, 256'000};
constexpr std::array<std::string_view, 4> kMessages{"HI91", "HI92", "HI81", "HI83"};

// An own copy would not live as long as the options do not.
std::string_view message_in(const Options& options) {
  for (const std::string_view message : kMessages) {
    if (options.text("message") == message) return message;
  }
  return {};
}

bool is_line(const Frame& frame) { return wire::u8(frame.bytes, 1) != 0xA5; }
bool is_ok(std::string_view line) { return line.ends_with("OK"); }
bool is_error(std::string_view line) { return line.find("ERR") != std::string_view::npos; }

}  // namespace

std::span<const OptionSpec> Hipnuc::options() { return kOptions; }

Finding Hipnuc::finding() { return {.bauds = kBauds, .asks_first = true}; }

Figures Hipnuc::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  const std::string_view message = message_in(options);
  const int payload = message == "HI92" ? 48 : message == "HI81" ? 104 : 76;
  return {.packets_hz = rate,
          .bytes_per_s = rate * (static_cast<int>(hipnuc::Framing::kHead) + payload)};
}

Hipnuc::Hipnuc(const Options& options)
    : message_(message_in(options)),
      gravity_(options.number("gravity")),
      save_(options.flag("save")),
      period_(hal::from_seconds(1 / options.number("rate_hz"))) {}

void Hipnuc::restart() {
  about_.clear();
  answers_ = false;
  counted_ns_ = 0;
  steps_.forget();
}

// Milliseconds in 32 bits. Where they are microseconds, or those of the GPS, that changes nothing.
ClockModel Hipnuc::clock_model() const {
  using std::chrono::milliseconds;
  if (is_counted()) return {.period = period_, .max_skew = kCountedSkew};
  return {.modulus = milliseconds(std::int64_t{1} << 32),
          .quantum = milliseconds(1),
          .period = period_};
}

hal::Duration Hipnuc::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), 3 * period_);
}

// What it sends, or a line of its, tells that it is there. It prints nothing to what it does not
// know.
std::span<const Step<Hipnuc>> Hipnuc::start_script() {
  using namespace std::chrono_literals;
  using D = Hipnuc;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array<Step<D>, 8> kSteps{{
      {"look for it", &D::look, &D::take_any, 150ms, 2, kGoOn, kBauds},
      {"stop output", &D::disable, &D::take_ok, 150ms, 2, kGoOn},
      {"get version", &D::ask_version, &D::take_version, 150ms, 2, kGoOn},
      {"turn other messages off", &D::silence_others, nullptr, 100ms},
      {"choose message", &D::choose_message, &D::take_chosen, 300ms, 3},
      {"save", &D::save, &D::take_chosen, 1s, 1},
      {"start output", &D::enable, &D::take_ok, 150ms, 2, kGoOn},
      {"start output of an older model", &D::enable_old, nullptr, 20ms},
  }};
  return kSteps;
}

std::span<const Step<Hipnuc>> Hipnuc::stop_script() {
  using namespace std::chrono_literals;
  using D = Hipnuc;
  static constexpr std::array<Step<D>, 2> kSteps{{
      {"stop output", &D::disable, &D::take_ok, 100ms, 2, IfUnanswered::go_on},
      {"stop output of an older model", &D::disable_old, nullptr, 10ms},
  }};
  return kSteps;
}

bool Hipnuc::look(Request& r) { return r.text("LOG VERSION\r\n"), true; }
bool Hipnuc::disable(Request& r) { return r.text("LOG DISABLE\r\n"), true; }
bool Hipnuc::ask_version(Request& r) { return answers_ && look(r); }
bool Hipnuc::enable(Request& r) { return r.text("LOG ENABLE\r\n"), true; }
bool Hipnuc::enable_old(Request& r) { return !answers_ && (r.text("AT+EOUT=1\r\n"), true); }
bool Hipnuc::disable_old(Request& r) { return !answers_ && (r.text("AT+EOUT=0\r\n"), true); }
bool Hipnuc::save(Request& r) { return save_ && (r.text("SAVECONFIG\r\n"), true); }

bool Hipnuc::silence_others(Request& request) {
  if (message_.empty()) return false;
  for (const std::string_view message : kMessages) {
    if (message != message_) request.text("LOG ").text(message).text(" ONTIME 0\r\n");
  }
  return true;
}

bool Hipnuc::choose_message(Request& request) {
  if (message_.empty()) return false;
  const auto seconds = hal::Text<24>::of("%.6g", hal::to_seconds(period_));
  request.text("LOG ").text(message_).text(" ONTIME ").text(seconds.view()).text("\r\n");
  return true;
}

Reply Hipnuc::take_any(const Frame& frame) {
  return is_line(frame) ? take_ok(frame) : Reply::done();
}

Reply Hipnuc::take_ok(const Frame& frame) {
  if (!is_line(frame)) return Reply::not_mine();
  const std::string_view line = text_of(frame.bytes);
  if (!is_ok(line) && !is_error(line)) return Reply::not_mine();
  answers_ |= is_ok(line);
  return Reply::done();
}

// The first line that is neither what was asked nor the end of an answer.
Reply Hipnuc::take_version(const Frame& frame) {
  if (!is_line(frame)) return Reply::not_mine();
  const std::string_view line = text_of(frame.bytes);
  if (is_ok(line) || is_error(line)) return Reply::done();
  const bool echo = line.starts_with("LOG ");
  if (about_.empty() && !echo) about_.print("%.*s", static_cast<int>(line.size()), line.data());
  return Reply::not_mine();
}

Reply Hipnuc::take_chosen(const Frame& frame) {
  if (!is_line(frame)) return Reply::not_mine();
  const std::string_view line = text_of(frame.bytes);
  if (is_error(line)) {
    return Reply::refused(hal::Text<96>::of("%.*s", static_cast<int>(line.size()), line.data()));
  }
  return is_ok(line) ? Reply::done() : Reply::not_mine();
}

void Hipnuc::decode(const Frame& frame, Decoded& out) {
  if (is_line(frame)) return;
  hipnuc::Reading reading;
  if (!hipnuc::read(frame.bytes.subspan(Framing::kHead), gravity_, reading)) {
    return out.undecodable();
  }
  if (reading.measures) out.add(reading.sample, timing_of(frame, reading.clock_ns));
}

Timing Hipnuc::timing_of(const Frame& frame, const std::optional<std::int64_t>& clock_ns) {
  Timing timing{.arrival = frame.last_at, .bytes = frame.bytes.size()};
  if (is_counted()) {
    timing.source = Timing::Source::counter;
    timing.raw_ns = counted_ns_ += period_.count();
    return timing;
  }
  if (!clock_ns) return timing;
  timing.source = Timing::Source::clock;
  timing.raw_ns = *clock_ns;
  if (const auto period = steps_.step_to(*clock_ns)) {
    period_ = *period;
    timing.period = period_;
  }
  return timing;
}

}  // namespace drivers
