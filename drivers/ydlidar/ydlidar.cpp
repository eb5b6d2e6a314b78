#include "drivers/ydlidar/ydlidar.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr double kRadPerDeg = std::numbers::pi / 180;
constexpr std::size_t kHead = 10, kDescriptor = 7, kStamp = 8;
constexpr std::size_t kMostSamples = (YdlidarFraming::kMaxFrame - kHead) / 4;
constexpr int kMostMisses = 3;
constexpr double kMostTurnsHz = 16, kSlowestHz = 4;
constexpr unsigned kScan = 0x60, kStop = 0x65, kForceStop = 0x00, kInfo = 0x90, kHealth = 0x92,
                   kOldHealth = 0x91, kNextRate = 0xD0, kQueryRate = 0xD1, kSpeed = 0x0D,
                   kFaster = 0x09, kSlower = 0x0A, kMuchFaster = 0x0B, kMuchSlower = 0x0C;
constexpr unsigned kSettings = 0x04, kHealthReply = 0x06, kMeasurement = 0x81;
constexpr unsigned kMostChanges = 40;
constexpr int kUnstopped = 30;  // packets, about a quarter of a second
constexpr std::array kBauds{115'200, 128'000, 153'600, 230'400, 512'000};

enum class Talk : std::uint8_t { one_way, two_way };

}  // namespace

struct Ydlidar::Model {
  std::string_view name;
  unsigned code;  // as it names itself
  Talk talk;
  std::size_t sample;  // bytes
  unsigned intensity_bits;
  double mm;
  bool triangulates;
  std::array<double, 3> khz;  // [0] alone: fixed; else by the index that it tells
};

namespace {

using Model = Ydlidar::Model;

constexpr auto kOne = Talk::one_way, kTwo = Talk::two_way;
constexpr bool kTri = true, kNone = false;
constexpr std::array kModels{
    Model{"X2", 6, kOne, 2, 0, 0.25, kTri, {3}},
    Model{"X3", 6, kOne, 2, 0, 0.25, kTri, {3}},
    Model{"X4", 6, kTwo, 2, 0, 0.25, kTri, {5}},
    Model{"X4Pro", 6, kOne, 2, 0, 0.25, kTri, {5}},
    Model{"S2", 12, kOne, 2, 0, 0.25, kTri, {3}},
    Model{"S4", 4, kTwo, 2, 0, 0.25, kTri, {4}},
    Model{"S4B", 11, kTwo, 3, 8, 0.25, kTri, {4}},
    Model{"F4", 1, kTwo, 2, 0, 0.25, kTri, {4}},
    Model{"R2", 9, kTwo, 2, 0, 0.25, kTri, {5}},
    Model{"G1", 19, kTwo, 2, 0, 0.25, kTri, {9}},
    Model{"G2", 15, kTwo, 3, 8, 0.25, kTri, {5}},
    Model{"G2A", 14, kTwo, 2, 0, 0.25, kTri, {5}},
    Model{"G2C", 16, kTwo, 2, 0, 0.25, kTri, {4}},
    Model{"G4", 5, kTwo, 2, 0, 0.25, kTri, {4, 8, 9}},
    Model{"G4B", 17, kTwo, 3, 10, 0.25, kTri, {10}},
    Model{"G6", 13, kTwo, 2, 0, 0.5, kTri, {8, 16, 18}},
    Model{"TG15", 100, kTwo, 2, 0, 1, kNone, {10, 18, 20}},
    Model{"TG30", 101, kTwo, 2, 0, 1, kNone, {10, 18, 20}},
    Model{"TG50", 102, kTwo, 2, 0, 1, kNone, {10, 18, 20}},
    Model{"TX", 100, kOne, 2, 0, 1, kNone, {4}},
    Model{"TminiPro", 150, kTwo, 3, 8, 0.25, kNone, {4}},
    Model{"TminiPlus", 151, kTwo, 3, 8, 0.25, kNone, {4}},
    Model{"TminiPlusSH", 152, kTwo, 4, 16, 1, kNone, {4}},
};

const Model* find_model(std::string_view name) {
  const auto found = std::ranges::find(kModels, name, &Model::name);
  return found == kModels.end() ? nullptr : &*found;
}

// That answers with this code, since it was asked.
const Model* find_model(unsigned code) {
  const auto found = std::ranges::find_if(
      kModels, [code](const Model& m) { return m.code == code && m.talk == kTwo; });
  return found == kModels.end() ? nullptr : &*found;
}

// What samples of this size are most likely of, where nobody told.
const Model& usual_model(std::size_t sample) {
  return *find_model(sample == 2 ? "X4Pro" : sample == 3 ? "TminiPro" : "TminiPlusSH");
}

double most_khz(const Model& model) { return std::ranges::max(model.khz); }

constexpr std::array kOptions{
    OptionSpec{.key = "model",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|X2|X3|X4|X4Pro|S2|S4|S4B|F4|R2|G1|G2|G2A|G2C|G4|G4B|G6|TG15|TG30|TG50|"
                          "TX|TminiPro|TminiPlus|TminiPlusSH",
               .help = "auto: as the device tells; of one that does not answer, X4Pro, or TminiPro "
                       "where it sends intensities"},
    OptionSpec{.key = "scan_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "0",
               .min = 0,
               .max = 16,
               .help = "turns per second to ask for; 0: as it is; not for models that only talk"},
    OptionSpec{.key = "sample_khz",
               .type = OptionType::number,
               .unit = "kHz",
               .fallback = "0",
               .min = 0,
               .max = 20,
               .help = "samples to ask a G4, G6 or TG for; 0: as it is"},
    OptionSpec{.key = "unit_mm",
               .type = OptionType::number,
               .unit = "mm",
               .fallback = "0",
               .min = 0,
               .max = 1,
               .help = "a step of distance, where firmware differs from its model; 0: the model's"},
};

std::uint16_t xor_words(Bytes b) {
  std::uint16_t x = 0;
  for (std::size_t i = 0; i + 1 < b.size(); i += 2) x ^= wire::u16(b, i);
  return x;
}

bool agrees(Bytes packet, std::size_t sample) {
  std::uint16_t x = xor_words(packet.first(8));
  const Bytes samples = packet.subspan(kHead);
  if (sample == 3) {
    for (std::size_t i = 0; i + 2 < samples.size(); i += 3) {
      x ^= wire::u8(samples, i);
      x ^= wire::u16(samples, i + 1);
    }
  } else {
    x ^= xor_words(samples);
  }
  return x == wire::u16(packet, 8);
}

std::size_t measure_reply(Bytes b) {
  if (b.size() < kDescriptor) return kNeedMore;
  const std::uint32_t length = wire::u32(b, 2) & 0x3FFFFFFF;
  switch (wire::u8(b, 6)) {
    case kMeasurement:
      return kDescriptor;  // packets follow, whatever its length says
    case kHealthReply:
      return length == 3 ? kDescriptor + 3 : kNotAFrame;
    case kSettings:
      return length >= 1 && length <= 20 ? kDescriptor + length : kNotAFrame;
    default:
      return kNotAFrame;
  }
}

bool is_reply(const Frame& frame, unsigned type, std::size_t size) {
  return YdlidarFraming::kind_of(frame.bytes) == YdlidarFraming::Kind::reply &&
         wire::u8(frame.bytes, 6) == type && frame.bytes.size() == kDescriptor + size;
}

// Degrees. A series does below a quarter of a radian, which is from 60 mm on.
double shift_of(double mm) {
  const double x = 21.8 / mm - 21.8 / 155.3;
  if (std::abs(x) > 0.25) return std::atan(x) / kRadPerDeg;
  const double s = x * x;
  return x * (1 - s * (1.0 / 3 - s * (1.0 / 5 - s * (1.0 / 7 - s / 9)))) / kRadPerDeg;
}

double wrapped(double deg) { return deg >= 360 ? deg - 360 : deg < 0 ? deg + 360 : deg; }

}  // namespace

std::size_t YdlidarFraming::measure(Bytes b, bool last) const {
  const unsigned first = wire::u8(b, 0);
  if (first != 0xAA && first != 0xA5) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  const unsigned second = wire::u8(b, 1);
  if (first == 0xA5) return second == 0x5A ? measure_reply(b) : kNotAFrame;
  if (second == 0x66) return kStamp;
  if (second != 0x55) return kNotAFrame;
  if (b.size() < kHead) return kNeedMore;
  const std::size_t n = wire::u8(b, 3);
  if (n == 0 || n > kMostSamples) return kNotAFrame;
  if ((wire::u8(b, 4) & wire::u8(b, 6) & 1) == 0) return kNotAFrame;
  if (learnt_ > 0) return kHead + n * learnt_;
  // A zero packet without a return agrees in any kind: the longest that does is meant.
  std::size_t agreed = 0;
  for (std::size_t sample = 2; sample <= 4 && (agreed == 0 || n == 1); ++sample) {
    const std::size_t size = kHead + n * sample;
    if (b.size() < size && !last) return kNeedMore;
    if (b.size() >= size && agrees(b.first(size), sample)) agreed = size;
  }
  return agreed > 0 ? agreed : kHead + n * 4;  // damaged
}

bool YdlidarFraming::intact(Bytes frame) {
  switch (kind_of(frame)) {
    case Kind::reply:
      return true;
    case Kind::stamp:
      return wire::xor8(frame) == 0;
    case Kind::packet: {
      const std::size_t sample = sample_size(frame);
      const bool good = agrees(frame, sample);
      misses_ = good ? 0 : misses_ + 1;
      if (good && wire::u8(frame, 3) > 1) learnt_ = sample;
      if (misses_ >= kMostMisses) forget();
      return good;
    }
  }
  return false;
}

YdlidarFraming::Kind YdlidarFraming::kind_of(Bytes frame) {
  if (wire::u8(frame, 0) == 0xA5) return Kind::reply;
  return wire::u8(frame, 1) == 0x66 ? Kind::stamp : Kind::packet;
}

std::size_t YdlidarFraming::sample_size(Bytes packet) {
  return (packet.size() - kHead) / wire::u8(packet, 3);
}

std::span<const OptionSpec> Ydlidar::options() { return kOptions; }

// Of a model that is not known: the most that the line carries.
Figures Ydlidar::figures(const Options& options, int baud) {
  const Model* const model = find_model(options.text("model"));
  const double asked = options.number("scan_hz");
  double samples_hz = 20'000, bytes = 0;
  if (model) {
    samples_hz = most_khz(*model) * 1000;
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
    : configured_(find_model(options.text("model"))),
      asked_khz_(options.number("sample_khz")),
      asked_hz_(options.number("scan_hz")),
      fixed_mm_(options.number("unit_mm")),
      model_(configured_),
      period_ns_(0) {
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
  next_ = -1;
  step_ = since_turn_ = 0;
  knows_turn_ = false;
  strange_ = 0;
  if (configured_) adopt(*configured_);
}

void Ydlidar::adopt(const Model& model) {
  model_ = &model;
  mm_ = fixed_mm_ > 0 ? fixed_mm_ : model.mm;
  const bool old = model.mm == 1 && model.sample == 2 && firmware_ > 0 && firmware_ <= 0x0102;
  if (fixed_mm_ == 0 && old) mm_ = 0.5;
  period_ns_ = 1e6 / most_khz(model);
  describe();
}

void Ydlidar::describe() {
  const auto name = hal::Text<24>::of("%s%.*s", is_guessed_ ? "perhaps " : "",
                                      static_cast<int>(model_->name.size()), model_->name.data());
  about_ = hal::Text<96>::of("%s, %g kHz", name.c_str(), 1e6 / period_ns_);
  if (!answers_) return;
  about_.print("%s, model code %u, firmware %u.%u, serial %s, %g kHz", name.c_str(), code_,
               firmware_ >> 8, firmware_ & 0xFF, serial_.c_str(), 1e6 / period_ns_);
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

bool Ydlidar::may_answer() const { return !configured_ || configured_->talk == kTwo; }

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
  if (!is_reply(frame, kSettings, 20)) return Reply::not_mine();
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
  const Model* const told = find_model(code_);
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
  if (!is_reply(frame, kHealthReply, 3)) return Reply::not_mine();
  if (wire::u8(frame.bytes, kDescriptor) < 2) return Reply::done();
  return Reply::refused(hal::Text<96>::of("its health is bad, code 0x%04X",
                                          unsigned{wire::u16(frame.bytes, kDescriptor + 1)}));
}

// It only goes to the next rate: as often as needed.
bool Ydlidar::ask_rate(Request& request) {
  if (!answers_ || !model_ || model_->khz[1] == 0) return false;
  request.u8(0xA5).u8(changes_ == 0 ? kQueryRate : kNextRate);
  return true;
}

Reply Ydlidar::take_rate(const Frame& frame) {
  if (!is_reply(frame, kSettings, 1)) return Reply::not_mine();
  const std::size_t index = wire::u8(frame.bytes, kDescriptor);
  if (index < model_->khz.size()) period_ns_ = 1e6 / model_->khz[index];
  const bool wrong = asked_khz_ > 0 && std::abs(1e6 / period_ns_ - asked_khz_) > 0.1;
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
  if (!is_reply(frame, kSettings, 4)) return Reply::not_mine();
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
  if (!is_reply(frame, kMeasurement, 0)) return Reply::not_mine();
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
    adopt(usual_model(sample));
  }

  const double step = step_of(first, last, n);
  if (step < 0) return out.undecodable();
  fill_beams(b, sample, n, first, step);

  // A gap of the angles is a loss; jitter may go back a little.
  const double gap = next_ < 0 ? 0 : wrapped(wrapped(first) - next_);
  const bool lost = step_ > 0 && gap > 2 * step_ + 1 && gap < 345;
  const double missing = lost ? std::round(gap / step_) : 0;
  raw_ns_ += (static_cast<double>(n) + missing) * period_ns_;
  const double span = step * static_cast<double>(n - 1);
  const double turned = (gap > 345 ? gap - 360 : gap) + span + (step_ > 0 ? step_ : 0);
  next_ = std::fmod(first + span + (step_ > 0 ? step_ : step), 360);

  const bool starts_turn = passes_turn((wire::u8(b, 2) & 1) != 0, turned);
  if (starts_turn) measure_period(frame.last_at);

  const auto per_beam = hal::Duration(std::llround(period_ns_));
  const Timing timing{.source = Timing::Source::counter,
                      .raw_ns = std::llround(raw_ns_),
                      .arrival = frame.last_at,
                      .bytes = b.size(),
                      .to_first = -per_beam * (static_cast<std::int64_t>(n) - 1)};
  out.add(ScanSlice{.step = per_beam,
                    .starts_turn = starts_turn,
                    .has_intensity = sample > 2,
                    .beams = std::span(beams_).first(n)},
          timing);
}

// Degrees between two samples; negative where the angles make no sense. Where the motor's jitter
// puts the last before the first, the usual step goes on.
double Ydlidar::step_of(double first, double last, std::size_t n) const {
  if (n == 1) return 0;
  const double span = last < first ? last - first + 360 : last - first;
  if (span <= 180) return span / static_cast<double>(n - 1);
  return step_ > 0 ? step_ : -1;
}

void Ydlidar::fill_beams(Bytes b, std::size_t sample, std::size_t n, double first, double step) {
  const bool flagged = sample == 3;  // the two lowest bits are not distance
  const bool long_intensity = sample == 3 && model_->intensity_bits == 10;
  for (std::size_t i = 0, at = kHead; i < n; ++i, at += sample) {
    const unsigned s = wire::u16(b, at + sample - 2);
    unsigned intensity = 0;
    if (sample == 3) intensity = wire::u8(b, at) | (long_intensity ? (s & 3) << 8 : 0);
    if (sample == 4) intensity = wire::u16(b, at);
    const double mm = (flagged ? s & 0xFFFC : s) * mm_;
    double deg = first + step * static_cast<double>(i);
    if (model_->triangulates && mm > 0) deg += shift_of(mm);
    beams_[i] = {static_cast<float>(-deg * kRadPerDeg), static_cast<float>(mm * 1e-3),
                 static_cast<float>(intensity)};
  }
  if (n > 1) step_ = step;
}

// The zero packet marks the boundary. One that comes twice is no second turn, and one that is lost
// is made up for by the angles.
bool Ydlidar::passes_turn(bool zero, double turned) {
  since_turn_ += turned;
  if (zero && (!knows_turn_ || since_turn_ > 180)) {
    since_turn_ = 0;
    return knows_turn_ = true;
  }
  if (since_turn_ < 390) return false;
  since_turn_ = std::fmod(since_turn_, 360);
  return knows_turn_;
}

// A turn takes as long as the samples in it, unless the rate is not what it was thought to be: then
// that of the arrivals is used.
void Ydlidar::measure_period(hal::Time arrival) {
  const double took = hal::to_seconds(arrival - std::exchange(turned_at_, arrival)) * 1e9;
  const double counted = raw_ns_ - std::exchange(turn_ns_, raw_ns_);
  const double ratio = counted > 0 ? took / counted : 1;
  const bool strange = ratio > 0.2 && ratio < 5 && std::abs(ratio - 1) > 0.1;
  strange_ = strange ? strange_ + 1 : 0;
  if (strange_ < 4) return;
  period_ns_ *= ratio;
  strange_ = 0;
}

}  // namespace drivers
