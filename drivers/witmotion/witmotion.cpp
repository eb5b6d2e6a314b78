#include "drivers/witmotion/witmotion.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr unsigned kTime = 0x50, kAccel = 0x51, kGyro = 0x52, kAngles = 0x53, kPressure = 0x56,
                   kQuaternion = 0x59, kLastData = 0x5A, kRegisters = 0x5F;
// Bits of the content, in the order of the types.
constexpr unsigned kTimeBit = 0x01, kAccelBit = 0x02, kGyroBit = 0x04, kAnglesBit = 0x08,
                   kPressureBit = 0x40, kQuaternionBit = 0x200;
constexpr unsigned kContentRegister = 0x02, kRateRegister = 0x03, kSaveRegister = 0x00;
constexpr unsigned kReadRegister = 0x27, kKeyRegister = 0x69, kKey = 0xB588;
constexpr double kFullScale = 32768, kAccelRange = 16 * inertial::kGravity;
constexpr double kGyroRange = 2000 * inertial::kRadPerDeg;
constexpr double kAngleRange = 180 * inertial::kRadPerDeg;
constexpr double kAgrees = 0.999;    // of two attitudes: the half angle between them is 2.6 degrees
constexpr unsigned kSure = 10;       // in a row
constexpr unsigned kMostDiffer = 3;  // answers from before the settings were written

struct Rate {
  double hz;
  unsigned code;
};
constexpr std::array kRates{Rate{0.2, 1}, Rate{0.5, 2},  Rate{1, 3},   Rate{2, 4},
                            Rate{5, 5},   Rate{10, 6},   Rate{20, 7},  Rate{50, 8},
                            Rate{100, 9}, Rate{125, 10}, Rate{200, 11}};

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::number,
               .unit = "Hz",
               .fallback = "10",  // what 9600 baud carries with the attitude
               .min = 0.2,
               .max = 200,
               .help = "samples per second; of 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 125 and 200 the "
                       "next lower"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude: quaternion, and angles to hold it against"},
    OptionSpec{.key = "quaternion",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "auto",
               .choices = "auto|wxyz|xyzw",
               .help = "order of its quaternion; auto: w first unless the angles say otherwise"},
    OptionSpec{.key = "axes",
               .type = OptionType::choice,
               .unit = "",
               .fallback = "flu",
               .choices = "flu|rfu",
               .help = "axes on its case: x forward, y left; or x right, y forward"},
    OptionSpec{.key = "device_clock",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for its time of day, in ms, and stamp by it; else samples are counted"},
    OptionSpec{.key = "pressure",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "ask for the pressure where it has a barometer"},
    OptionSpec{.key = "save",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "keep what it is told in its flash, each time it is started"},
};

const Rate& rate_of(const Options& options) {
  const double asked = options.number("rate_hz");
  const auto above = std::ranges::find_if(kRates, [&](const Rate& r) { return r.hz > asked; });
  return *std::prev(above);
}

unsigned content_of(const Options& options) {
  return kAccelBit | kGyroBit | (options.flag("orientation") ? kAnglesBit | kQuaternionBit : 0) |
         (options.flag("device_clock") ? kTimeBit : 0) |
         (options.flag("pressure") ? kPressureBit : 0);
}

unsigned type_of(Bytes frame) { return wire::u8(frame, 1); }
double word(Bytes frame, std::size_t i) {
  return static_cast<std::int16_t>(wire::u16(frame, 2 + 2 * i));
}
inertial::Vector vector(Bytes frame, double range) {
  const double unit = range / kFullScale;
  return {word(frame, 0) * unit, word(frame, 1) * unit, word(frame, 2) * unit};
}

// Since 2000; empty: no date.
std::optional<std::int64_t> time_of(Bytes frame) {
  using namespace std::chrono;
  const auto part = [&](std::size_t i) { return unsigned{wire::u8(frame, 2 + i)}; };
  const year_month_day date{year(2000 + static_cast<int>(part(0))), month(part(1)), day(part(2))};
  const unsigned ms = wire::u16(frame, 8);
  if (!date.ok() || part(3) > 23 || part(4) > 59 || part(5) > 59 || ms > 999) return std::nullopt;
  const auto days = sys_days(date) - sys_days(year(2000) / January / 1);
  const auto time = days + hours(part(3)) + minutes(part(4)) + seconds(part(5)) + milliseconds(ms);
  return duration_cast<nanoseconds>(time).count();
}

double likeness_of(const inertial::Quaternion& a, const inertial::Quaternion& b) {
  return std::abs(a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z);
}
// Of four numbers that were taken as w first.
inertial::Quaternion w_last(const inertial::Quaternion& q) { return {q.z, q.w, q.x, q.y}; }

void command(Request& request, unsigned reg, unsigned value) {
  request.u8(0xFF).u8(0xAA).u8(reg).u16(value);
}

}  // namespace

std::size_t wit::Framing::measure(Bytes b) {
  if (b[0] != std::byte{0x55}) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  const unsigned type = type_of(b);
  return (type >= kTime && type <= kLastData) || type == kRegisters ? kMaxFrame : kNotAFrame;
}

bool wit::Framing::intact(Bytes frame) {
  return (wire::sum_of(frame.first(10)) & 0xFF) == wire::u8(frame, 10);
}

Finding Witmotion::finding() {
  static constexpr std::array kBauds{9600};
  return {.bauds = kBauds, .asks_first = true};
}

std::span<const OptionSpec> Witmotion::options() { return kOptions; }

Figures Witmotion::figures(const Options& options, int) {
  const double rate = rate_of(options).hz;
  return {.packets_hz = rate, .bytes_per_s = rate * 11 * std::popcount(content_of(options))};
}

Witmotion::Witmotion(const Options& options)
    : content_(content_of(options)),
      rate_code_(rate_of(options).code),
      rate_hz_(rate_of(options).hz),
      save_(options.flag("save")),
      by_clock_(options.flag("device_clock")),
      is_rfu_(options.text("axes") == "rfu"),
      finds_order_(options.text("quaternion") == "auto"),
      order_(options.text("quaternion") == "xyzw" ? Order::w_last : Order::w_first) {}

void Witmotion::restart() {
  about_.clear();
  heard_ = differed_ = 0;
  has_first_ = is_confirmed_ = false;
  set_ = {};
  newest_ = ended_ = ends_with_ = 0;
  counted_ = 0;
  doubts_ = 0;
}

ClockModel Witmotion::clock_model() const {
  if (by_clock_) return {.quantum = std::chrono::milliseconds(1), .period = period()};
  return {.period = period(), .max_skew = kCountedSkew};
}

hal::Duration Witmotion::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), 3 * period());
}

// Models that do not answer are told, and not asked: any frame shows that one is there.
std::span<const Step<Witmotion>> Witmotion::start_script() {
  using namespace std::chrono_literals;
  using D = Witmotion;
  constexpr auto kGoOn = IfUnanswered::go_on;
  static constexpr std::array kBauds{9600,    115'200, 230'400, 921'600,
                                     460'800, 57'600,  38'400,  19'200};
  static constexpr std::array<Step<D>, 6> kSteps{{
      {"get settings", &D::ask, &D::take_anything, 250ms, 2, IfUnanswered::fail, kBauds},
      {"unlock", &D::unlock, nullptr, 50ms},
      {"set content", &D::set_content, nullptr, 50ms},
      {"set rate", &D::set_rate, nullptr, 50ms},
      {"read settings back", &D::ask, &D::take_settings, 300ms, 4, kGoOn},
      {"save settings", &D::save, nullptr, 100ms},
  }};
  return kSteps;
}

// A read tells four registers from this one on.
bool Witmotion::ask(Request& request) {
  command(request, kReadRegister, kContentRegister);
  return true;
}
bool Witmotion::unlock(Request& request) {
  command(request, kKeyRegister, kKey);
  return true;
}
bool Witmotion::set_content(Request& request) {
  command(request, kContentRegister, content_);
  return true;
}
bool Witmotion::set_rate(Request& request) {
  command(request, kRateRegister, rate_code_);
  return true;
}
bool Witmotion::save(Request& request) {
  if (save_) command(request, kSaveRegister, 0);
  return save_;
}

// Two frames, as one may be garbage whose sum agrees.
Reply Witmotion::take_anything(const Frame& frame) {
  heard_ = frame.skipped == 0 || heard_ == 0 ? heard_ + 1 : 1;
  return heard_ > 1 || type_of(frame.bytes) == kRegisters ? Reply::done() : Reply::not_mine();
}

Reply Witmotion::take_settings(const Frame& frame) {
  if (type_of(frame.bytes) != kRegisters) return Reply::not_mine();
  const unsigned content = wire::u16(frame.bytes, 2), rate = wire::u16(frame.bytes, 4);
  if (content == content_ && rate == rate_code_) {
    about_.print("%g Hz", rate_hz_);
    return Reply::done();
  }
  if (++differed_ < kMostDiffer) return Reply::not_mine();
  return Reply::refused(
      hal::Text<96>::of("content and rate read 0x%X, 0x%X; 0x%X, 0x%X was written", content, rate,
                        content_, rate_code_));
}

// The sum is weak: at first a frame counts when another follows at once.
void Witmotion::decode(const Frame& frame, Decoded& out) {
  if (!is_confirmed_) {
    if (has_first_ && frame.skipped == 0) {
      is_confirmed_ = true;
      take(first_, first_at_, out);
    } else {
      std::ranges::copy(frame.bytes, first_.begin());
      first_at_ = frame.last_at;
      has_first_ = true;
      return;
    }
  }
  take(frame.bytes, frame.last_at, out);
}

void Witmotion::finish(Decoded& out) { give(out); }

// A set ends where the types begin again, or with the type that ended the two before.
void Witmotion::take(Bytes frame, hal::Time arrival, Decoded& out) {
  const unsigned type = type_of(frame);
  if (type == kRegisters) return;
  if (type <= newest_) {
    give(out);
    ends_with_ = newest_ == ended_ ? newest_ : ends_with_;
    ended_ = newest_;
  }
  newest_ = type;
  if (set_.is_empty) set_.timing = {.arrival = arrival, .bytes = frame.size()};
  if (!add(frame, set_)) return out.undecodable();
  set_.is_empty = false;
  if (type == ends_with_) give(out);
}

bool Witmotion::add(Bytes frame, Set& to) {
  ImuSample part;
  switch (type_of(frame)) {
    case kTime:
      to.clock_ns = time_of(frame);
      return to.clock_ns.has_value();
    case kAccel:
      part.accel = vector(frame, kAccelRange);
      if (is_rfu_) part.accel = inertial::from_rfu(*part.accel);
      if (!inertial::is_sensible(part, {})) return false;
      to.sample.accel = part.accel;
      to.sample.temperature = word(frame, 3) / 100;
      return true;
    case kGyro:
      part.gyro = vector(frame, kGyroRange);
      to.sample.gyro = is_rfu_ ? inertial::from_rfu(*part.gyro) : part.gyro;
      return true;
    case kAngles: {
      const inertial::Vector rpy = vector(frame, kAngleRange);
      to.angles = inertial::from_euler(rpy[0], rpy[1], rpy[2]);
      return true;
    }
    case kPressure:
      to.sample.pressure = static_cast<std::int32_t>(wire::u32(frame, 2));
      return *to.sample.pressure >= 0;
    case kQuaternion:
      to.first = {word(frame, 0) / kFullScale, word(frame, 1) / kFullScale,
                  word(frame, 2) / kFullScale, word(frame, 3) / kFullScale};
      return true;
    default:
      return true;
  }
}

void Witmotion::give(Decoded& out) {
  if (set_.is_empty) return;
  ImuSample& s = set_.sample;
  s.orientation = attitude(out);
  if (s.accel || s.gyro || s.orientation || s.pressure) {
    Timing& timing = set_.timing;
    if (by_clock_ && set_.clock_ns) {
      timing.source = Timing::Source::clock;
      timing.raw_ns = *set_.clock_ns;
    } else if (by_clock_) {
      timing.source = Timing::Source::previous;
    } else {
      timing.source = Timing::Source::counter;
      timing.raw_ns = counted_ += period().count();
    }
    out.add(s, timing);
  }
  set_ = {};
}

std::optional<inertial::Orientation> Witmotion::attitude(Decoded& out) {
  if (set_.first && set_.angles) hold_against_angles(*set_.first, out);
  if (!set_.first && !set_.angles) return std::nullopt;
  const inertial::Quaternion q = !set_.first                ? *set_.angles
                                 : order_ == Order::w_first ? *set_.first
                                                            : w_last(*set_.first);
  return is_rfu_ ? inertial::from_enu_rfu(q) : inertial::from_enu_flu(q);
}

// Both come from one filter: what they say must agree.
void Witmotion::hold_against_angles(const inertial::Quaternion& first, Decoded& out) {
  const bool is_first = likeness_of(first, *set_.angles) > kAgrees;
  const bool is_last = likeness_of(w_last(first), *set_.angles) > kAgrees;
  if (order_ == Order::w_first ? is_first : is_last) {
    doubts_ = 0;
    return;
  }
  if (++doubts_ < kSure) return;
  if (finds_order_ && (is_first || is_last)) {
    order_ = is_first ? Order::w_first : Order::w_last;
    doubts_ = 0;
  } else if (is_first || is_last) {
    out.fault(hal::Text<96>::of("its angles say that the option is quaternion: %s",
                                is_first ? "wxyz" : "xyzw"));
  } else {
    out.fault(hal::Text<96>::of("its quaternion and its angles contradict each other"));
  }
}

}  // namespace drivers
