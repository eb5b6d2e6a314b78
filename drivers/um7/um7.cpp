#include "drivers/um7/um7.h"

#include <algorithm>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using namespace um7;

constexpr unsigned kFirmware = 0xAA, kCommit = 0xAB;
// Settings: rates of raw data, of temperature and all raw, of single processed ones, of all
// processed, of attitudes, of poses and health, of NMEA sentences; manners.
constexpr unsigned kFirstRate = 1, kProcessed = 4, kAttitude = 5, kHealthRate = 6, kManner = 8;
constexpr std::uint32_t kQuaternions = 0x2;  // of the manners: the filter computes these
constexpr std::uint32_t kHealthOnceASecond = 0x4 << 16;
// Data, each followed by its time.
constexpr unsigned kHealth = 85, kTemperature = 95, kGyro = 97, kAccel = 101, kQuaternion = 109;
constexpr unsigned kEuler = 112, kEulerTime = 116;
constexpr double kQuaternionUnit = 0.0000335693, kEulerUnit = 0.0109863;  // of a step; 1, deg
constexpr hal::Duration kMostApart = std::chrono::milliseconds(2);        // stamps of one instant
constexpr float kLongest = 1e9F;                                          // s: 31 years

constexpr std::array kOptions{
    OptionSpec{.key = "rate_hz",
               .type = OptionType::integer,
               .unit = "Hz",
               .fallback = "100",  // 64 % of 115200 baud
               .min = 1,
               .max = 255,
               .help = "samples per second"},
    OptionSpec{.key = "orientation",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "true",
               .help = "ask for the attitude, as a quaternion"},
    OptionSpec{.key = "save",
               .type = OptionType::flag,
               .unit = "",
               .fallback = "false",
               .help = "keep what it is told in its flash, each time it is started"},
};

um7::FloatClock period_clock(double rate_hz) {
  return um7::FloatClock(hal::from_seconds(1 / rate_hz));
}

hal::Text<96> words_for_health(std::uint32_t health) {
  const char* const part = (health & 8) != 0   ? "its accelerometer"
                           : (health & 4) != 0 ? "its gyroscope"
                           : (health & 2) != 0 ? "its magnetometer"
                                               : nullptr;
  if (part != nullptr) return hal::Text<96>::of("%s did not start (health 0x%X)", part, health);
  if ((health & 0x100) == 0) return {};
  return hal::Text<96>::of("it is told to send more than the line carries (health 0x%X)", health);
}

}  // namespace

Finding Um7::finding() { return {.asks_first = true}; }

std::span<const OptionSpec> Um7::options() { return kOptions; }

Figures Um7::figures(const Options& options, int) {
  const double rate = options.number("rate_hz");
  const int attitude = options.flag("orientation") ? 7 + 4 * 3 : 0;
  return {.packets_hz = rate, .bytes_per_s = rate * (7 + 4 * 12 + attitude) + 11};
}

Um7::Um7(const Options& options)
    : rate_hz_(options.number("rate_hz")),
      orientation_(options.flag("orientation")),
      save_(options.flag("save")),
      clocks_{period_clock(rate_hz_), period_clock(rate_hz_), period_clock(rate_hz_)},
      joined_(kMostApart) {}

void Um7::restart() {
  for (um7::FloatClock& clock : clocks_) clock.forget();
  joined_.forget();
  about_.clear();
}

ClockModel Um7::clock_model() const { return {.period = hal::from_seconds(1 / rate_hz_)}; }

hal::Duration Um7::max_silence() const {
  return std::max<hal::Duration>(std::chrono::milliseconds(250), hal::from_seconds(3 / rate_hz_));
}

std::span<const Step<Um7>> Um7::start_script() {
  using namespace std::chrono_literals;
  using D = Um7;
  static constexpr std::array kBauds{115'200, 921'600, 460'800, 230'400, 57'600, 38'400, 9600};
  static constexpr std::array<Step<D>, 5> kSteps{{
      {"get firmware", &D::ask_firmware, &D::take_firmware, 200ms, 3, IfUnanswered::fail, kBauds},
      {"get settings", &D::ask_manner, &D::take_manner, 200ms, 3},
      {"write settings", &D::write_next, &D::take_written, 200ms, 3},
      {"read settings", &D::read_next, &D::take_read, 200ms, 3},
      {"save settings", &D::commit, &D::take_commit, 1000ms, 2},
  }};
  return kSteps;
}

std::span<const Step<Um7>> Um7::stop_script() {
  using namespace std::chrono_literals;
  using D = Um7;
  static constexpr std::array<Step<D>, 1> kSteps{
      {{"stop broadcasts", &D::silence_next, &D::take_silenced, 100ms, 1, IfUnanswered::go_on}}};
  return kSteps;
}

bool Um7::ask_firmware(Request& request) {
  at_ = 0;
  say(request, 0, kFirmware, std::nullopt);
  return true;
}

// Four letters, as "U71C".
Reply Um7::take_firmware(const Frame& frame) {
  if (address_of(frame.bytes) != kFirmware || type_of(frame.bytes) != kHasData) {
    return Reply::not_mine();
  }
  std::array<char, 5> name{};
  std::memcpy(name.data(), &frame.bytes[5], 4);
  about_.print("UM7, firmware %s", name.data());
  return Reply::done();
}

bool Um7::ask_manner(Request& request) {
  say(request, 0, kManner, std::nullopt);
  return true;
}

Reply Um7::take_manner(const Frame& frame) {
  const Registers all(frame.bytes);
  if (!all.has(kManner) || (type_of(frame.bytes) & kBatch) != 0) return Reply::not_mine();
  const auto rate = static_cast<std::uint32_t>(rate_hz_);
  for (unsigned i = 0; i + 1 < settings_.size(); ++i) settings_[i] = {kFirstRate + i, 0};
  settings_[kProcessed - kFirstRate].value = rate;
  settings_[kAttitude - kFirstRate].value = orientation_ ? rate << 24 : 0;
  settings_[kHealthRate - kFirstRate].value = kHealthOnceASecond;
  settings_.back() = {kManner, all.u32(kManner) | (orientation_ ? kQuaternions : 0)};
  return Reply::done();
}

bool Um7::write_next(Request& request) {
  say(request, kHasData, settings_[at_].address, settings_[at_].value);
  return true;
}

// The device answers with the register's address and nothing else.
Reply Um7::take_written(const Frame& frame) {
  const unsigned type = type_of(frame.bytes), address = settings_[at_].address;
  if (address_of(frame.bytes) != address || (type & kHasData) != 0) return Reply::not_mine();
  if ((type & kFailed) != 0) {
    return Reply::refused(hal::Text<96>::of("it cannot write register %u", address));
  }
  at_ = (at_ + 1) % settings_.size();
  return at_ == 0 ? Reply::done() : Reply::again();
}

bool Um7::read_next(Request& request) {
  say(request, 0, settings_[at_].address, std::nullopt);
  return true;
}

Reply Um7::take_read(const Frame& frame) {
  const Setting& wanted = settings_[at_];
  if (address_of(frame.bytes) != wanted.address) return Reply::not_mine();
  if (type_of(frame.bytes) != kHasData) return Reply::not_mine();
  const std::uint32_t found = wire::u32be(frame.bytes, 5);
  if (found != wanted.value) {
    return Reply::refused(hal::Text<96>::of("register %u reads 0x%08X, 0x%08X was written",
                                            wanted.address, found, wanted.value));
  }
  at_ = (at_ + 1) % settings_.size();
  return at_ == 0 ? Reply::done() : Reply::again();
}

bool Um7::commit(Request& request) {
  if (save_) say(request, 0, kCommit, std::nullopt);
  return save_;
}

Reply Um7::take_commit(const Frame& frame) {
  if (address_of(frame.bytes) != kCommit) return Reply::not_mine();
  if ((type_of(frame.bytes) & kFailed) == 0) return Reply::done();
  return Reply::refused(hal::Text<96>::of("it cannot write its flash"));
}

bool Um7::silence_next(Request& request) {
  static constexpr std::array kRates{kProcessed, kAttitude, kHealthRate};
  for (const unsigned address : kRates) {
    Request one;
    say(one, kHasData, address, 0);
    request.bytes(one.view());
  }
  return true;
}

Reply Um7::take_silenced(const Frame& frame) {
  const bool last = address_of(frame.bytes) == kHealthRate && type_of(frame.bytes) == 0;
  return last ? Reply::done() : Reply::not_mine();
}

bool Um7::read(const Frame& frame, ImuSample& s, std::optional<float>& seconds) {
  const Registers all(frame.bytes);
  const auto time = [&](unsigned address) {
    if (all.has(address) && !seconds) seconds = all.f32(address);
  };
  if (all.has(kAccel, 3)) {
    s.accel = all.vector(kAccel, inertial::kGravity);
    time(kAccel + 3);
  }
  if (all.has(kGyro, 3)) {
    s.gyro = all.vector(kGyro, inertial::kRadPerDeg);
    time(kGyro + 3);
  }
  if (all.has(kQuaternion, 2)) {
    const auto part = [&](unsigned i) {
      return all.half(kQuaternion + i / 2, i % 2) * kQuaternionUnit;
    };
    s.orientation = inertial::from_ned_frd({part(0), part(1), part(2), part(3)});
    time(kQuaternion + 2);
  } else if (all.has(kEuler, 2)) {
    const double unit = kEulerUnit * inertial::kRadPerDeg;
    s.orientation = inertial::from_ned_frd(inertial::from_euler(
        all.half(kEuler, 0) * unit, all.half(kEuler, 1) * unit, all.half(kEuler + 1, 0) * unit));
    time(kEulerTime);
  }
  if (all.has(kTemperature)) s.temperature = all.f32(kTemperature);
  return inertial::is_sensible(s, {}) && (!seconds || (*seconds >= 0 && *seconds < kLongest));
}

void Um7::decode(const Frame& frame, Decoded& out) {
  if ((type_of(frame.bytes) & kHasData) == 0) return;
  const Registers all(frame.bytes);
  if (all.has(kHealth)) {
    const hal::Text<96> words = words_for_health(all.u32(kHealth));
    if (!words.empty()) out.fault(words);
  }
  ImuSample sample;
  std::optional<float> seconds;
  if (!read(frame, sample, seconds)) return out.undecodable();
  Timing timing{.arrival = frame.last_at, .bytes = frame.bytes.size()};
  if (seconds) {
    um7::FloatClock& clock = clocks_[sample.accel ? 0 : sample.gyro ? 1 : 2];
    timing.source = Timing::Source::clock;
    timing.raw_ns = clock.stamp_of(*seconds);
    joined_.put(sample, timing, out);
  } else if (sample.accel || sample.gyro || sample.orientation || sample.temperature) {
    joined_.give(out);
    timing.source = Timing::Source::previous;
    out.add(sample, timing);
  }
}

}  // namespace drivers
