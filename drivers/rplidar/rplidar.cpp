#include "drivers/rplidar/rplidar.h"

#include <cctype>
#include <cmath>

#include "drivers/recognise.h"
#include "drivers/wire.h"

namespace drivers {

using namespace rplidar;

namespace {

constexpr std::array kOptions{
    OptionSpec{.key = "mode",
               .type = OptionType::text,
               .unit = "",
               .fallback = "typical",
               .help = "scan mode: typical, or a name the device knows, such as Standard, Express, "
                       "Boost, Sensitivity, Stability, DenseBoost"},
    OptionSpec{.key = "motor",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|dtr|pwm|rpm|none",
               .help = "how the motor is switched; auto: by model; none: not by us"},
    OptionSpec{.key = "rpm",
               .type = OptionType::integer,
               .unit = "1/min",
               .fallback = "0",
               .min = 0,
               .max = 1500,
               .help = "speed of a motor set by rpm (S and T models); 0: the device's own"},
    OptionSpec{.key = "pwm",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0",
               .min = 0,
               .max = 1023,
               .help = "speed of a motor on an accessory board (A2, A3); 0: the device's own"},
    OptionSpec{.key = "answer",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0x82",
               .min = 0x81,
               .max = 0x86,
               .help = "recordings: format of measurements before the first descriptor"},
    OptionSpec{.key = "sample_us",
               .type = OptionType::number,
               .unit = "us",
               .fallback = "0",
               .min = 0,
               .max = 2000,
               .help = "time between two samples; 0: what the device tells, or usual for the "
                       "format"},
    OptionSpec{.key = "max_beams",
               .type = OptionType::integer,
               .unit = "",
               .fallback = "0",
               .min = 0,
               .max = 16384,
               .help = "room for the beams of one turn; 0: what the line can carry at the usual "
                       "motor speeds"},
};

constexpr unsigned kMostModes = 32;
// 25 turns per second; 8000 nodes; of the capsules with most samples, 96, the slowest typical mode
// is that of the A1: 127 us a sample.
constexpr double kMostTurnsHz = 25, kMostNodesHz = 8000, kSlowestUs = 127;
constexpr double kMostSamplesHz = 32'000, kDensestSamples = 96, kDensestBytes = 132;
constexpr double kSlowestNodeUs = 508;
constexpr double kLeastSamples = 32;  // of a capsule
constexpr int kSlowLine = 256'000;    // up to here the A series and S1

// A name up to its NUL, as far as it can be printed.
hal::Text<24> text_of(Bytes b) {
  std::size_t n = 0;
  while (n < b.size() && wire::u8(b, n) >= ' ' && wire::u8(b, n) <= '~') ++n;
  std::array<char, 24> chars{};
  std::memcpy(chars.data(), b.data(), std::min(n, chars.size() - 1));
  return hal::Text<24>::of("%s", chars.data());
}

// Microseconds between two samples, 0 when a device says nonsense.
double believable_us(double us) { return us >= 1 && us <= 5000 ? us : 0; }

// As printed on it: A1M8 is 0x18.
hal::Text<16> name_of(unsigned code) {
  const unsigned major = code >> 4, minor = code & 15;
  if (major >= 12) return hal::Text<16>::of("M%uM%u", major - 11, minor);
  if (major >= 9) return hal::Text<16>::of("T%uM%u", major - 8, minor);
  if (major >= 6) return hal::Text<16>::of("S%uM%u", major - 5, minor);
  if (major == 4) return hal::Text<16>::of("C1M%u", minor);
  return hal::Text<16>::of("A%uM%u", major, minor);
}

bool same_name(std::string_view a, std::string_view b) {
  return std::ranges::equal(
      a, b, [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

}  // namespace

Finding Rplidar::finding() {
  static constexpr std::array kBauds{115'200, 256'000, 460'800, 1'000'000};
  static constexpr std::array<std::uint16_t, 1> kUdp{8089}, kTcp{20108};
  return {.bauds = kBauds, .asks_first = true, .udp = kUdp, .tcp = kTcp};
}

std::span<const OptionSpec> Rplidar::options() { return kOptions; }

// Only the device knows its rates: bounds that hold for all models on such a line. Each fits its
// own line, so no load is given for that. The last beam of a cloud may be the first of its
// capsule, which waits for its successor, which takes no longer on the line than to measure: three
// capsules.
Figures Rplidar::figures(const Options& options, int baud) {
  const double line_hz = baud / 10.0 / kDensestBytes * kDensestSamples;
  const double samples_hz = baud > 0 ? std::min(line_hz, kMostSamplesHz) : kMostSamplesHz;
  const double slowest_hz = baud > 0 && baud <= kSlowLine ? 5 : 8;  // turns
  const int asked = options.integer("max_beams");
  const double beams = asked > 0 ? asked : std::ceil(samples_hz / slowest_hz);
  const double sample_us = options.number("sample_us");
  const bool nodes = same_name(options.text("mode"), "Standard");
  const double nodes_us =
      static_cast<double>(kGathered) * (sample_us > 0 ? sample_us : kSlowestNodeUs);
  const double capsule_us =
      static_cast<double>(kMostSamples) * (sample_us > 0 ? sample_us : kSlowestUs);
  return {.packets_hz = nodes ? kMostNodesHz : samples_hz / kLeastSamples,
          .turns_hz = kMostTurnsHz,
          .beams_per_turn = static_cast<std::size_t>(beams),
          .bytes_per_s = 0,
          .delivery = hal::from_seconds(nodes ? 1e-6 * nodes_us : 3e-6 * capsule_us)};
}

Rplidar::Rplidar(const Options& options)
    : mode_(options.text("mode")),
      fixed_sample_us_(options.number("sample_us")),
      motor_(options),
      framing_(static_cast<unsigned>(options.integer("answer"))),
      measurement_(fixed_sample_us_) {}

void Rplidar::restart() {
  framing_.forget();
  motor_.forget();
  about_.clear();
  is_ill_ = was_reset_ = has_conf_ = knows_mode_ = is_started_ = false;
  mode_id_ = mode_count_ = mode_answer_ = 0;
  mode_names_.clear();
  mode_us_ = standard_us_ = express_us_ = 0;
  measurement_.forget();
  measurement_.begin(fixed_sample_us_);
}

std::span<const Step<Rplidar>> Rplidar::start_script() {
  using namespace std::chrono_literals;
  using R = Rplidar;
  constexpr auto go_on = IfUnanswered::go_on;
  static constexpr std::array kSteps{
      Step<R>{"stop", &R::send_stop, nullptr, 20ms},
      Step<R>{"get info", &R::ask_info, &R::take_info, 250ms, 2},
      Step<R>{"get health", &R::ask_health, &R::take_health, 250ms, 2},
      Step<R>{"reset", &R::send_reset, &R::take_banner, 1200ms, 1, go_on},
      Step<R>{"wait after reset", &R::wait_after_reset, nullptr, 20ms},
      Step<R>{"get health after reset", &R::ask_health_again, &R::take_health, 250ms, 4},
      Step<R>{"get board flags", &R::ask_board, &R::take_board, 250ms, 2, go_on},
      Step<R>{"get usual speed", &R::ask_usual_speed, &R::take_usual_speed, 250ms, 2, go_on},
      Step<R>{"get typical mode", &R::ask_typical, &R::take_typical, 250ms, 2, go_on},
      Step<R>{"count modes", &R::ask_count, &R::take_count, 250ms, 2},
      Step<R>{"find mode", &R::ask_name, &R::take_name, 250ms, 2},
      Step<R>{"get answer type", &R::ask_answer, &R::take_answer, 250ms, 2, go_on},
      Step<R>{"get sample time", &R::ask_sample_time, &R::take_sample_time, 250ms, 2, go_on},
      Step<R>{"get sample rate", &R::ask_sample_rate, &R::take_sample_rate, 250ms, 2, go_on},
      Step<R>{"start motor", &R::start_motor, nullptr, 10ms},
      Step<R>{"start", &R::start_mode, &R::take_start, 500ms, 3},
      Step<R>{"try express", &R::try_express, &R::take_start, 500ms, 2, go_on},
      Step<R>{"start", &R::start_legacy, &R::take_start, 500ms, 3},
  };
  return kSteps;
}

std::span<const Step<Rplidar>> Rplidar::stop_script() {
  using namespace std::chrono_literals;
  static constexpr std::array kSteps{
      Step<Rplidar>{"stop", &Rplidar::send_stop, nullptr, 10ms},
      Step<Rplidar>{"stop motor", &Rplidar::stop_motor, nullptr, 10ms},
  };
  return kSteps;
}

bool Rplidar::send_stop(Request& request) {
  command(request, kStop);
  return true;
}

bool Rplidar::ask_info(Request& request) {
  command(request, kGetInfo);
  return true;
}

// u8 model | u8 firmware minor | u8 firmware major | u8 hardware | 16 bytes serial number
Reply Rplidar::take_info(const Frame& frame) {
  if (!is(frame, kInfo)) return Reply::not_mine();
  const Bytes info = payload(frame);
  const unsigned major = wire::u8(info, 0) >> 4;
  const unsigned firmware = wire::u8(info, 2) * 256u + wire::u8(info, 1);
  has_conf_ = firmware >= 0x118 || major >= 4;  // 1.24
  motor_.learn_model(major);
  hal::Text<40> serial;
  for (std::size_t i = 0; i < 16; ++i) {
    serial = hal::Text<40>::of("%s%02X", serial.c_str(), unsigned{wire::u8(info, 4 + i)});
  }
  about_.print("%s, firmware %u.%02u, hardware %u, serial %s", name_of(wire::u8(info, 0)).c_str(),
               firmware >> 8, firmware & 255, unsigned{wire::u8(info, 3)}, serial.c_str());
  if (!has_conf_ && !is_typical() && !is_legacy_mode()) {
    return Reply::refused(
        hal::Text<96>::of("firmware %u.%u has only Standard and Express, not '%s'", firmware >> 8,
                          firmware & 255, mode_.c_str()));
  }
  return Reply::done();
}

bool Rplidar::is_typical() const { return same_name(mode_, "typical"); }

bool Rplidar::is_legacy_mode() const {
  return same_name(mode_, "Standard") || same_name(mode_, "Express");
}

bool Rplidar::ask_health(Request& request) {
  command(request, kGetHealth);
  return true;
}

// u8 status, 0 good, 1 warning, 2 error | u16 code. One reset is worth a try.
Reply Rplidar::take_health(const Frame& frame) {
  if (!is(frame, kHealth)) return Reply::not_mine();
  is_ill_ = wire::u8(payload(frame), 0) >= 2;
  if (is_ill_ && was_reset_) {
    return Reply::refused(hal::Text<96>::of(
        "its health is bad, code 0x%04X, also after a reset: obstructed, or broken?",
        unsigned{wire::u16(payload(frame), 1)}));
  }
  return Reply::done();
}

bool Rplidar::send_reset(Request& request) {
  if (!is_ill_) return false;
  was_reset_ = true;
  command(request, kReset);
  return true;
}

Reply Rplidar::take_banner(const Frame&) {
  return framing_.part() == Framing::Part::banner ? Reply::done() : Reply::not_mine();
}

bool Rplidar::ask_health_again(Request& request) { return was_reset_ && ask_health(request); }

bool Rplidar::ask_board(Request& request) {
  if (!motor_.may_have_board()) return false;
  command(request, kGetBoard, 4, [](Request& r) { r.u32(0); });
  return true;
}

Reply Rplidar::take_board(const Frame& frame) {
  if (!is(frame, kBoard)) return Reply::not_mine();
  if (wire::u8(payload(frame), 0) & 1) motor_.found_board();
  return Reply::done();
}

bool Rplidar::ask_conf(Request& request, std::uint32_t type, bool of_mode) const {
  if (!has_conf_) return false;
  command(request, kGetConf, of_mode ? 6 : 4, [&](Request& r) {
    r.u32(type);
    if (of_mode) r.u16(mode_id_);
  });
  return true;
}

bool Rplidar::ask_usual_speed(Request& request) {
  return motor_.lacks_speed() && ask_conf(request, kUsualSpeed, false);
}

Reply Rplidar::take_usual_speed(const Frame& frame) {
  const auto value = conf_value(frame, kUsualSpeed);
  if (!value) return Reply::not_mine();
  motor_.take_usual_speed(*value);
  return Reply::done();
}

bool Rplidar::ask_typical(Request& request) {
  return is_typical() && ask_conf(request, kTypicalMode, false);
}

Reply Rplidar::take_typical(const Frame& frame) {
  const auto value = conf_value(frame, kTypicalMode);
  if (!value) return Reply::not_mine();
  knows_mode_ = value->size() >= 2;
  if (knows_mode_) mode_id_ = wire::u16(*value, 0);
  return Reply::done();
}

bool Rplidar::ask_count(Request& request) {
  return !is_typical() && ask_conf(request, kModeCount, false);
}

Reply Rplidar::take_count(const Frame& frame) {
  const auto value = conf_value(frame, kModeCount);
  if (!value) return Reply::not_mine();
  mode_count_ = value->size() >= 2 ? std::min<unsigned>(wire::u16(*value, 0), kMostModes) : 0;
  if (mode_count_ > 0 || is_legacy_mode()) return Reply::done();
  return Reply::refused(
      hal::Text<96>::of("it lists no modes, so '%s' is not known", mode_.c_str()));
}

bool Rplidar::ask_name(Request& request) {
  return mode_id_ < mode_count_ && ask_conf(request, kModeName, true);
}

Reply Rplidar::take_name(const Frame& frame) {
  const auto value = conf_value(frame, kModeName);
  if (!value) return Reply::not_mine();
  const hal::Text<24> name = text_of(*value);
  knows_mode_ = same_name(name.view(), mode_);
  if (knows_mode_) return Reply::done();
  mode_names_ =
      hal::Text<64>::of("%s%s%s", mode_names_.c_str(), mode_id_ == 0 ? "" : ", ", name.c_str());
  if (++mode_id_ < mode_count_) return Reply::again();
  return Reply::refused(
      hal::Text<96>::of("no mode '%.20s'; it has %s", mode_.c_str(), mode_names_.c_str()));
}

bool Rplidar::ask_answer(Request& request) {
  return knows_mode_ && ask_conf(request, kModeAnswer, true);
}

Reply Rplidar::take_answer(const Frame& frame) {
  const auto value = conf_value(frame, kModeAnswer);
  if (!value) return Reply::not_mine();
  if (!value->empty()) mode_answer_ = wire::u8(*value, 0);
  return Reply::done();
}

bool Rplidar::ask_sample_time(Request& request) {
  return knows_mode_ && ask_conf(request, kModeSampleTime, true);
}

Reply Rplidar::take_sample_time(const Frame& frame) {
  const auto value = conf_value(frame, kModeSampleTime);
  if (!value) return Reply::not_mine();
  if (value->size() >= 4) mode_us_ = believable_us(wire::u32(*value, 0) / 256.0);
  return Reply::done();
}

bool Rplidar::ask_sample_rate(Request& request) {
  if (mode_us_ > 0) return false;
  command(request, kGetRate);
  return true;
}

Reply Rplidar::take_sample_rate(const Frame& frame) {
  if (!is(frame, kRate)) return Reply::not_mine();
  standard_us_ = believable_us(wire::u16(payload(frame), 0));
  express_us_ = believable_us(wire::u16(payload(frame), 2));
  return Reply::done();
}

bool Rplidar::start_mode(Request& request) {
  if (!knows_mode_) return false;
  if (mode_answer_ == static_cast<unsigned>(Answer::standard)) {
    command(request, kScan);
  } else {
    start_express(request, mode_id_);
  }
  return true;
}

// Firmware that does not tell its modes: Express where there is one, else Standard.
bool Rplidar::try_express(Request& request) {
  if (knows_mode_ || !is_typical()) return false;
  start_express(request, 0);
  return true;
}

bool Rplidar::start_legacy(Request& request) {
  if (is_started_) return false;
  if (same_name(mode_, "Express")) {
    start_express(request, 0);
  } else {
    command(request, kScan);
  }
  return true;
}

Reply Rplidar::take_start(const Frame&) {
  if (framing_.part() != Framing::Part::loop) return Reply::not_mine();
  is_started_ = true;
  begin_measurement();
  return Reply::done();
}

void Rplidar::begin_measurement() {
  const Answer answer = framing_.format()->answer;
  double us = fixed_sample_us_ > 0 ? fixed_sample_us_ : mode_us_;
  if (us == 0 && answer == Answer::standard) us = standard_us_;
  if (us == 0 && answer == Answer::express) us = express_us_;
  measurement_.begin(us);
}

void Rplidar::decode(const Frame& frame, Decoded& out) {
  switch (framing_.part()) {
    case Framing::Part::reply:
      return;
    case Framing::Part::loop:
      return begin_measurement();
    case Framing::Part::banner:
      measurement_.begin(fixed_sample_us_);
      return out.restarted();
    case Framing::Part::measurement:
      return measurement_.take(*framing_.format(), frame, framing_.saw_damage(), out);
  }
}

double Rplidar::likeness(Bytes b) {
  // Nodes have no check, so the same one again and again is nothing.
  const bool same = b.size() > 5 && std::ranges::equal(b.subspan(5), b.first(b.size() - 5));
  double most = same ? 0 : likeness_of(RplidarFraming(0x81), b);
  for (unsigned answer = 0x82; answer <= 0x86; ++answer) {
    most = std::max(most, likeness_of(RplidarFraming(answer), b));
  }
  return most;
}

}  // namespace drivers
