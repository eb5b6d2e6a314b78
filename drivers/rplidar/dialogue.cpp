// What is said to an RPLIDAR to find out what it is, to start it in the wanted mode and to stop it.
#include "drivers/rplidar/rplidar.h"
#include "drivers/wire.h"

namespace drivers {

using namespace rplidar;

namespace {

constexpr unsigned kMostModes = 32;

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

}  // namespace

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

}  // namespace drivers
