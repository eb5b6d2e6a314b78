#include "drivers/ximu3/ximu3.h"

#include <algorithm>
#include <cmath>

#include "drivers/json_text.h"
#include "drivers/ximu3/command.h"

namespace drivers {
namespace {

using inertial::kGravity;
using inertial::kRadPerDeg;
using ximu3::answer_in;
using ximu3::Message;
using ximu3::say;

constexpr double kSampleHz = 400;
constexpr std::int64_t kFarAway = 10'000'000;  // us; a time that is further away needs a second one
constexpr unsigned kMostWithout = 100;         // messages
// Beyond any sensor of it: nothing else guards its messages.
constexpr inertial::Limits kLimits{.accel = 40 * kGravity, .gyro = 5000 * kRadPerDeg};

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "100",  // with the attitude 54 % of 115200 baud
               .min = 1,
               .max = 400,
               .help = "samples per second; where 400 is no multiple of it, the next lower rate"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude, as a quaternion"},
    OptionSpec{.key = "format",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "binary",
               .choices = "binary|ascii",
               .help = "what it is told to send; both are understood"},
    OptionSpec{.key = "world",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|nwu|enu|ned",
               .help = "axes of the world that its attitude is told in; auto: asked, and nwu where "
                       "it does not tell. ned: its body is taken as forward-right-down, too"},
    OptionSpec{.key = "configure",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "false: nothing is said to it, it is read as it streams"},
    OptionSpec{.key = "save",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "keep what it is told in its flash, each time it is started"},
};

unsigned divisor_of(const Options& options) {
  return static_cast<unsigned>(std::ceil(kSampleHz / options.number("rate_hz") - 1e-9));
}

double rate_of(unsigned divisor) { return kSampleHz / divisor; }

Reply refused(const char* key, std::string_view why) {
  return Reply::refused(hal::Text<96>::of(
      "%s: %.*s", key, static_cast<int>(std::min<std::size_t>(why.size(), 50)), why.data()));
}

}  // namespace

// Other rates than that it leaves the factory with are for who knows that it is there.
Finding Ximu3::finding() {
  static constexpr std::array<std::uint16_t, 2> kUdp{8000, 8001};
  static constexpr std::array<std::uint16_t, 1> kTcp{7000};
  return {.asks_first = true, .udp = kUdp, .tcp = kTcp};
}

std::span<const OptionSpec> Ximu3::options() { return kOptions; }

Figures Ximu3::figures(const Options& options, int) {
  const double rate = rate_of(divisor_of(options));
  const bool is_ascii = options.text("format") == "ascii";
  const int inertial = is_ascii ? 80 : 35, attitude = is_ascii ? 55 : 27;
  return {.packets_hz = rate,
          .bytes_per_s = rate * (inertial + (options.flag("orientation") ? attitude : 0))};
}

Ximu3::Ximu3(const Options& options)
    : divisor_(divisor_of(options)),
      configure_(options.flag("configure")),
      save_(options.flag("save")),
      told_world_([&]() -> std::optional<World> {
        if (options.text("world") == "auto") return std::nullopt;
        if (options.text("world") == "enu") return World::enu;
        return options.text("world") == "ned" ? World::ned : World::nwu;
      }()),
      settings_{{{"inertial_message_rate_divisor", hal::Text<8>::of("%u", divisor_), true},
                 {"ahrs_message_type", hal::Text<8>::of("0"), false},
                 {"ahrs_message_rate_divisor",
                  hal::Text<8>::of("%u", options.flag("orientation") ? divisor_ : 0), false},
                 {"binary_mode_enabled",
                  hal::Text<8>::of(options.text("format") == "binary" ? "true" : "false"), false}}},
      joined_(hal::from_seconds(0.5 / rate_of(divisor_))) {
  restart();
}

void Ximu3::restart() {
  world_ = told_world_.value_or(World::nwu);
  asks_by_old_name_ = false;
  about_.clear();
  joined_.forget();
  newest_us_.reset();
  doubtful_us_.reset();
  without_inertial_ = 0;
}

ClockModel Ximu3::clock_model() const {
  return {.period = hal::from_seconds(1 / rate_of(divisor_))};
}

hal::Duration Ximu3::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250),
                                 hal::from_seconds(3 / rate_of(divisor_)));
}

std::span<const Step<Ximu3>> Ximu3::start_script() {
  using namespace std::chrono_literals;
  using D = Ximu3;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400, 57'600};
  static constexpr std::array<Step<D>, 6> kSteps{{
      {"ping", &D::ping, &D::take_ping, 250ms, 3, IfUnanswered::fail, kBauds},
      {"get axes convention", &D::ask_world, &D::take_world, 250ms, 2, kGoOn},
      {"write settings", &D::write_next, &D::take_written, 250ms, 3},
      {"apply", &D::apply, &D::take_applied, 500ms, 2, kGoOn},
      {"read settings", &D::read_next, &D::take_read, 250ms, 3},
      {"save", &D::save, &D::take_applied, 1000ms, 2},
  }};
  return kSteps;
}

bool Ximu3::ping(Request& request) {
  at_ = 0;
  for (Setting& setting : settings_) setting.is_known = false;
  return configure_ && say(request, "ping", "null");
}

Reply Ximu3::take_ping(const Frame& frame) {
  const auto answer = answer_in(frame, "ping");
  if (!answer) return Reply::not_mine();
  const JsonText told(answer->value);
  const auto text = [&](const char* key) { return told.find(key).value_or(std::string_view{}); };
  const std::string_view name = text("name"), serial = text("sn");
  about_.print("%.*s, serial %.*s", static_cast<int>(std::min<std::size_t>(name.size(), 40)),
               name.data(), static_cast<int>(std::min<std::size_t>(serial.size(), 30)),
               serial.data());
  return Reply::done();
}

// Its key differs by firmware.
bool Ximu3::ask_world(Request& request) {
  if (!configure_ || told_world_) return false;
  return say(request, asks_by_old_name_ ? "axes_convention" : "ahrs_axes_convention", "null");
}

Reply Ximu3::take_world(const Frame& frame) {
  const auto answer =
      answer_in(frame, asks_by_old_name_ ? "axes_convention" : "ahrs_axes_convention");
  if (!answer) return Reply::not_mine();
  if (!answer->error.empty()) {
    const bool is_last = asks_by_old_name_;
    asks_by_old_name_ = true;
    return is_last ? Reply::done() : Reply::again();
  }
  if (answer->value == "1") world_ = World::enu;
  if (answer->value == "2") world_ = World::ned;
  return Reply::done();
}

bool Ximu3::write_next(Request& request) {
  return configure_ && say(request, settings_[at_].key, settings_[at_].value.view());
}

Reply Ximu3::take_written(const Frame& frame) {
  Setting& setting = settings_[at_];
  const auto answer = answer_in(frame, setting.key);
  if (!answer) return Reply::not_mine();
  if (setting.is_needed && !answer->error.empty()) return refused(setting.key, answer->error);
  setting.is_known = answer->error.empty();
  return next_setting();
}

Reply Ximu3::next_setting() {
  at_ = (at_ + 1) % settings_.size();
  return at_ == 0 ? Reply::done() : Reply::again();
}

bool Ximu3::apply(Request& request) { return configure_ && say(request, "apply", "null"); }
bool Ximu3::save(Request& request) { return configure_ && save_ && say(request, "save", "null"); }

Reply Ximu3::take_applied(const Frame& frame) {
  const auto applied = answer_in(frame, "apply"), saved = answer_in(frame, "save");
  if (!applied && !saved) return Reply::not_mine();
  const std::string_view error = applied ? applied->error : saved->error;
  return error.empty() ? Reply::done() : refused(applied ? "apply" : "save", error);
}

bool Ximu3::read_next(Request& request) {
  while (at_ < settings_.size() && !settings_[at_].is_known) ++at_;
  return configure_ && at_ < settings_.size() && say(request, settings_[at_].key, "null");
}

Reply Ximu3::take_read(const Frame& frame) {
  const Setting& setting = settings_[at_];
  const auto answer = answer_in(frame, setting.key);
  if (!answer) return Reply::not_mine();
  if (answer->value != setting.value.view()) {
    return Reply::refused(
        hal::Text<96>::of("%s is %.*s, %s was written", setting.key,
                          static_cast<int>(std::min<std::size_t>(answer->value.size(), 20)),
                          answer->value.data(), setting.value.c_str()));
  }
  return ++at_ == settings_.size() ? Reply::done() : Reply::again();
}

inertial::Vector Ximu3::vector(const Message& m, std::size_t at, double unit) const {
  const inertial::Vector v{m.values[at] * unit, m.values[at + 1] * unit, m.values[at + 2] * unit};
  return world_ == World::ned ? inertial::from_frd(v) : v;
}

std::optional<inertial::Orientation> Ximu3::attitude(const inertial::Quaternion& q) const {
  switch (world_) {
    case World::nwu:
      return inertial::from_nwu_flu(q);
    case World::enu:
      return inertial::from_enu_flu(q);
    case World::ned:
      return inertial::from_ned_frd(q);
  }
  return std::nullopt;
}

// Accelerations without gravity are left out.
bool Ximu3::read(const Message& m, ImuSample& s) const {
  const auto& v = m.values;
  switch (m.letter) {
    case 'I':
      s.gyro = vector(m, 0, kRadPerDeg);
      s.accel = vector(m, 3, kGravity);
      break;
    case 'Q':
    case 'L':
    case 'E':
      s.orientation = attitude({v[0], v[1], v[2], v[3]});
      break;
    case 'A':
      s.orientation =
          attitude(inertial::from_euler(v[0] * kRadPerDeg, v[1] * kRadPerDeg, v[2] * kRadPerDeg));
      break;
    case 'T':
      s.temperature = v[0];
      break;
    default:
      break;
  }
  if (s.orientation && !inertial::is_unit(*s.orientation)) return false;
  return inertial::is_sensible(s, kLimits);
}

// A bit that turned over may stand in a time: one that is far from the others needs another one
// near it.
bool Ximu3::is_in_time(std::int64_t us) {
  const auto near = [us](std::optional<std::int64_t> other) {
    return other && std::abs(us - *other) <= kFarAway;
  };
  const bool fits = !newest_us_ || near(newest_us_) || near(doubtful_us_);
  (fits ? newest_us_ : doubtful_us_) = us;
  if (fits) doubtful_us_.reset();
  return fits;
}

// It was not told, or did not keep, what to send.
void Ximu3::complain(char letter, Decoded& out) {
  if (letter != 'I' && without_inertial_ < kMostWithout) ++without_inertial_;
  if (letter == 'I') without_inertial_ = 0;
  if (without_inertial_ < kMostWithout) return;
  out.fault(hal::Text<96>::of(
      "it sends '%c', but no inertial messages: set inertial_message_rate_divisor", letter));
}

void Ximu3::decode(const Frame& frame, Decoded& out) {
  const Message m = ximu3::message_in(frame.bytes);
  if (m.letter == 0) return;  // an answer that came late, or an announcement
  if (m.letter == 'F') {
    const auto n = static_cast<int>(std::min<std::size_t>(m.text.size(), 80));
    return out.fault(plain(hal::Text<96>::of("%.*s", n, m.text.data())));
  }
  complain(m.letter, out);
  ImuSample sample;
  if (!read(m, sample)) return out.undecodable();
  if (!sample.accel && !sample.orientation && !sample.temperature) return;
  if (!is_in_time(m.us)) return out.undecodable();
  joined_.put(sample,
              {.source = Timing::Source::clock,
               .raw_ns = m.us * 1000,
               .arrival = frame.last_at,
               .bytes = frame.bytes.size()},
              out);
}

}  // namespace drivers
