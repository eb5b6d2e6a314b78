#include "drivers/ydlidar/ydlidar.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr std::size_t kHead = YdlidarFraming::kHead, kDescriptor = YdlidarFraming::kDescriptor;
constexpr double kMostTurnsHz = 16, kSlowestHz = 4;
constexpr unsigned kScan = 0x60, kStop = 0x65, kForceStop = 0x00, kInfo = 0x90, kHealth = 0x92,
                   kOldHealth = 0x91, kNextRate = 0xD0, kQueryRate = 0xD1, kSpeed = 0x0D,
                   kFaster = 0x09, kSlower = 0x0A, kMuchFaster = 0x0B, kMuchSlower = 0x0C;
constexpr unsigned kMostChanges = 40;
constexpr int kUnstopped = 30;             // packets, about a quarter of a second
constexpr std::size_t kMostOfCoinD4 = 25;  // samples
constexpr int kManyShort = 60;             // packets, about half a second
constexpr std::array kBauds{115'200, 128'000, 153'600, 230'400, 512'000};

// rad. A series does below a quarter of a radian, which is from 60 mm on.
double shift_of(double mm) {
  const double x = 21.8 / mm - 21.8 / 155.3;
  if (std::abs(x) > 0.25) return std::atan(x);
  const double s = x * x;
  return x * (1 - s * (1.0 / 3 - s * (1.0 / 5 - s * (1.0 / 7 - s * (1.0 / 9)))));
}

}  // namespace

// Those that only talk do not tell what they are: of these, by sample and rate.
Finding Ydlidar::finding() {
  return {.bauds = kBauds, .asks_first = true, .advise = YdlidarModel::advise};
}

std::span<const OptionSpec> Ydlidar::options() { return YdlidarModel::options(); }

// Of a model that is not known: the most that the line carries.
Figures Ydlidar::figures(const Options& options, int baud) {
  const YdlidarModel* const model = YdlidarModel::find(options.text("model"));
  const double asked = options.number("scan_hz");
  double samples_hz = 20'000, bytes = 0;
  if (model) {
    samples_hz = model->most_khz() * 1000;
    bytes = samples_hz * (static_cast<double>(model->sample) + kHead / 40.0) + 12 * kMostTurnsHz;
  } else if (baud > 0) {
    samples_hz = std::min(samples_hz, baud / 10.0 / 2.25);
  }
  const double slowest = asked > 0 ? std::min(asked, kSlowestHz * 2) / 2 : kSlowestHz;
  return {.packets_hz = samples_hz / 20 + kMostTurnsHz,
          .turns_hz = kMostTurnsHz,
          .beams_per_turn = static_cast<std::size_t>(std::ceil(samples_hz / slowest)),
          .bytes_per_s = bytes,
          .delivery = {}};
}

Ydlidar::Ydlidar(const Options& options)
    : configured_(YdlidarModel::find(options.text("model"))),
      asked_khz_(options.number("sample_khz")),
      asked_hz_(options.number("scan_hz")),
      fixed_mm_(options.number("unit_mm")),
      model_(configured_) {
  restart();
}

void Ydlidar::restart() {
  framing_.forget();
  model_ = nullptr;
  answers_ = is_started_ = is_guessed_ = false;
  firmware_ = code_ = asked_ = changes_ = 0;
  unstopped_ = 0;
  hz_ = 0;
  serial_.clear();
  short_ = 0;
  samples_.restart();
  if (configured_) adopt(*configured_);
}

void Ydlidar::adopt(const YdlidarModel& model) {
  model_ = &model;
  mm_ = fixed_mm_ > 0 ? fixed_mm_ : model.mm;
  const bool old = model.mm == 1 && model.sample == 2 && firmware_ > 0 && firmware_ <= 0x0102;
  if (fixed_mm_ == 0 && old) mm_ = 0.5;
  const double period_ns = 1e6 / model.most_khz();
  is_guessed_ ? samples_.assume_period(period_ns) : samples_.set_period(period_ns);
  describe();
}

void Ydlidar::describe() {
  const auto name = hal::Text<24>::of("%s%.*s", is_guessed_ ? YdlidarModel::kPerhaps.data() : "",
                                      static_cast<int>(model_->name.size()), model_->name.data());
  about_ = hal::Text<96>::of("%s, %g kHz", name.c_str(), khz());
  if (!answers_) return;
  about_.print("%s, model code %u, firmware %u.%u, serial %s, %g kHz", name.c_str(), code_,
               firmware_ >> 8, firmware_ & 0xFF, serial_.c_str(), khz());
}

std::span<const Step<Ydlidar>> Ydlidar::start_script() {
  using namespace std::chrono_literals;
  using Y = Ydlidar;
  constexpr auto go_on = IfUnanswered::go_on;
  static constexpr std::array kSteps{
      Step<Y>{"pause motor", &Y::pause_motor, nullptr, 20ms},
      Step<Y>{"wake motor", &Y::wake_motor, nullptr, 5ms},
      Step<Y>{"stop", &Y::send_stop, nullptr, 30ms},
      Step<Y>{"get device info", &Y::ask_info, &Y::take_info, 150ms, 3, go_on, kBauds},
      Step<Y>{"get health", &Y::ask_health, &Y::take_health, 150ms, 4, go_on},
      Step<Y>{"set sample rate", &Y::ask_rate, &Y::take_rate, 200ms, 2, go_on},
      Step<Y>{"set scan frequency", &Y::ask_speed, &Y::take_speed, 200ms, 2, go_on},
      Step<Y>{"start scan", &Y::send_start, &Y::take_start, 500ms, 3},
      Step<Y>{"listen", &Y::listen, &Y::heard, 700ms, 1, IfUnanswered::fail, kBauds},
  };
  return kSteps;
}

std::span<const Step<Ydlidar>> Ydlidar::stop_script() {
  using namespace std::chrono_literals;
  static constexpr std::array kSteps{
      Step<Ydlidar>{"stop", &Ydlidar::send_stop, nullptr, 10ms},
      Step<Ydlidar>{"halt motor", &Ydlidar::halt_motor, nullptr, 5ms},
  };
  return kSteps;
}

bool Ydlidar::may_answer() const { return !configured_ || configured_->answers(); }

// On adapter boards of X and S models the motor runs with DTR, and an X4 starts at its edge.
bool Ydlidar::halt_motor(Request& request) {
  request.dtr(false);
  return true;
}

bool Ydlidar::wake_motor(Request& request) {
  request.dtr(true);
  return true;
}

bool Ydlidar::send_stop(Request& request) {
  if (!may_answer()) return false;
  request.u8(0xA5).u8(kForceStop).u8(0xA5).u8(kStop);
  return true;
}

// A device that is still streaming is stopped again first.
bool Ydlidar::ask_info(Request& request) {
  if (!send_stop(request)) return false;
  request.u8(0xA5).u8(kInfo);
  return true;
}

// u8 model | u16 firmware | u8 hardware | 16 digits. A device that does not stop only talks.
Reply Ydlidar::take_info(const Frame& frame) {
  const bool packet = Framing::kind_of(frame.bytes) == Framing::Kind::packet;
  if (packet && ++unstopped_ >= kUnstopped) return Reply::measured();
  if (!Framing::is_reply(frame.bytes, Framing::kSettings, 20)) return Reply::not_mine();
  const Bytes info = frame.bytes.subspan(kDescriptor);
  answers_ = true;
  firmware_ = wire::u16(info, 1);
  std::array<char, 17> digits{};
  for (std::size_t i = 0; i < 16; ++i) {
    const unsigned digit = wire::u8(info, 4 + i);
    digits[i] = static_cast<char>(digit < 10 ? '0' + digit : digit);
  }
  serial_.print("%s", digits.data());
  code_ = wire::u8(info, 0);
  const YdlidarModel* const told = YdlidarModel::find(code_);
  if (told) is_guessed_ = false;
  if (configured_ || told) adopt(configured_ ? *configured_ : *told);
  return Reply::done();
}

bool Ydlidar::ask_health(Request& request) {
  if (!answers_) return false;
  asked_ = asked_ == kHealth ? kOldHealth : kHealth;
  request.u8(0xA5).u8(asked_);
  return true;
}

// u8 status, 0 good, 1 warning, 2 error | u16 code
Reply Ydlidar::take_health(const Frame& frame) {
  if (!Framing::is_reply(frame.bytes, Framing::kHealth, 3)) return Reply::not_mine();
  if (wire::u8(frame.bytes, kDescriptor) < 2) return Reply::done();
  return Reply::refused(hal::Text<96>::of("its health is bad, code 0x%04X",
                                          unsigned{wire::u16(frame.bytes, kDescriptor + 1)}));
}

// It only goes to the next rate: as often as needed.
bool Ydlidar::ask_rate(Request& request) {
  if (!answers_ || !model_ || !model_->has_rates()) return false;
  request.u8(0xA5).u8(changes_ == 0 ? kQueryRate : kNextRate);
  return true;
}

Reply Ydlidar::take_rate(const Frame& frame) {
  if (!Framing::is_reply(frame.bytes, Framing::kSettings, 1)) return Reply::not_mine();
  const std::size_t index = wire::u8(frame.bytes, kDescriptor);
  if (index < model_->khz.size()) samples_.set_period(1e6 / model_->khz[index]);
  const bool wrong = asked_khz_ > 0 && std::abs(khz() - asked_khz_) > 0.1;
  if (wrong && ++changes_ <= model_->khz.size()) return Reply::again();
  describe();
  changes_ = 0;
  if (!wrong) return Reply::done();
  return Reply::refused(hal::Text<96>::of("it has no sample rate of %g kHz, only %g, %g and %g",
                                          asked_khz_, model_->khz[0], model_->khz[1],
                                          model_->khz[2]));
}

// Steps of 1 and 0.1 Hz, each answered by the speed that comes of it.
bool Ydlidar::ask_speed(Request& request) {
  if (!answers_ || asked_hz_ == 0) return false;
  const double missing = asked_hz_ - hz_;
  const unsigned code = hz_ == 0          ? kSpeed
                        : missing > 0.95  ? kMuchFaster
                        : missing > 0     ? kFaster
                        : missing < -0.95 ? kMuchSlower
                                          : kSlower;
  request.u8(0xA5).u8(code);
  return true;
}

Reply Ydlidar::take_speed(const Frame& frame) {
  if (!Framing::is_reply(frame.bytes, Framing::kSettings, 4)) return Reply::not_mine();
  hz_ = wire::u32(frame.bytes, kDescriptor) / 100.0;
  const bool wrong = hz_ > 0 && std::abs(hz_ - asked_hz_) > 0.051;
  if (wrong && ++changes_ <= kMostChanges) return Reply::again();
  changes_ = 0;
  if (!wrong) return Reply::done();
  return Reply::refused(hal::Text<96>::of("%g Hz asked for, it stays at %g", asked_hz_, hz_));
}

bool Ydlidar::send_start(Request& request) {
  if (!answers_) return false;
  request.u8(0xA5).u8(kScan);
  return true;
}

// Its reply, or where that got lost what follows it.
Reply Ydlidar::take_start(const Frame& frame) {
  const Reply packet = heard(frame);
  if (packet.kind != Reply::Kind::not_mine) return packet;
  if (!Framing::is_reply(frame.bytes, Framing::kMeasurement, 0)) return Reply::not_mine();
  is_started_ = true;
  return Reply::done();
}

Reply Ydlidar::heard(const Frame& frame) {
  if (Framing::kind_of(frame.bytes) != Framing::Kind::packet) return Reply::not_mine();
  is_started_ = true;
  return Reply::measured();
}

void Ydlidar::decode(const Frame& frame, Decoded& out) {
  if (Framing::kind_of(frame.bytes) == Framing::Kind::packet) decode_packet(frame, out);
}

void Ydlidar::decode_packet(const Frame& frame, Decoded& out) {
  const Bytes b = frame.bytes;
  const std::size_t n = wire::u8(b, 3), sample = Framing::sample_size(b);
  const double first = (wire::u16(b, 4) >> 1) / 64.0, last = (wire::u16(b, 6) >> 1) / 64.0;
  if (first > 360 || last > 360) return out.undecodable();
  if (!model_ || (is_guessed_ && n > 1 && model_->sample != sample)) {
    is_guessed_ = true;
    adopt(YdlidarModel::usual(sample));
  }

  const double step = samples_.step_of(first, last, n);
  if (step < 0) return out.undecodable();
  // A YDLIDAR with intensities sends 40 samples, and answers.
  short_ = answers_ || sample != 3 || n > kMostOfCoinD4 ? 0 : short_ + 1;
  if (short_ >= kManyShort) {
    out.fault(
        hal::Text<96>::of("it answers nothing and sends what a COIN-D4 does: driver 'coin_d4'?"));
  }
  fill_beams(b, sample, n, first, step);
  EvenSamples::Place at = samples_.next(frame, first, step, n, (wire::u8(b, 2) & 1) != 0);
  at.slice.has_intensity = sample > 2;
  at.slice.beams = std::span(beams_).first(n);
  out.add(at.slice, at.timing);
}

void Ydlidar::fill_beams(Bytes b, std::size_t sample, std::size_t n, double first, double step) {
  const bool triangulates = model_->triangulates;
  const bool flagged = sample == 3;  // the two lowest bits are not distance
  const bool long_intensity = sample == 3 && model_->intensity_bits == 10;
  for (std::size_t i = 0, at = kHead; i < n; ++i, at += sample) {
    const unsigned s = wire::u16(b, at + sample - 2);
    unsigned intensity = 0;
    if (sample == 3) intensity = wire::u8(b, at) | (long_intensity ? (s & 3) << 8 : 0);
    if (sample == 4) intensity = wire::u16(b, at);
    const double mm = (flagged ? s & 0xFFFC : s) * mm_;
    double angle = (first + step * static_cast<double>(i)) * kRadPerDeg;
    if (triangulates && mm > 0) angle += shift_of(mm);
    beams_[i] = {static_cast<float>(-angle), static_cast<float>(mm * 1e-3),
                 static_cast<float>(intensity)};
  }
}

}  // namespace drivers
