#include "drivers/sbg/logs.h"

#include <algorithm>
#include <chrono>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers::sbg {
namespace {

constexpr double kAccelStep = 1.0 / (1 << 20), kGyroStep = 1.0 / (1 << 26);  // m/s^2, rad/s
constexpr double kFastGyroStep = 1.0 / 12'304'174;  // of IMU_SHORT, when the status says so
constexpr unsigned kHighScale = 1U << 10;
constexpr unsigned kAttitudeValid = 1U << 4;
constexpr std::size_t kStatusAt = 4;

template <class Number>
inertial::Vector vector(Number&& number, double step) {
  return inertial::from_frd({number(0U) * step, number(1U) * step, number(2U) * step});
}

}  // namespace

std::size_t Framing::measure(Bytes b) {
  if (wire::u8(b, 0) != 0xFF || (b.size() > 1 && wire::u8(b, 1) != 0x5A)) return kNotAFrame;
  if (b.size() < 6) return kNeedMore;
  const unsigned log = log_of(b), cls = class_of(b);
  const std::size_t n = wire::u16(b, 4), known = size_of(log, cls);
  if ((cls & 0x7F) > kCommands || n > kMaxFrame - 9) return kNotAFrame;
  return known == 0 || n <= known + kMostAppended ? n + 9 : kNotAFrame;
}

bool Framing::intact(Bytes frame) {
  const std::size_t n = frame.size() - 3;
  return wire::u8(frame, n + 2) == 0x33 &&
         wire::crc16_reflected(frame.subspan(2, n - 2)) == wire::u16(frame, n);
}

std::size_t size_of(unsigned log, unsigned cls) {
  if (cls == kFastLogs) return log == kFastImu ? 18 : 0;
  if (cls != kLogs) return 0;
  switch (log) {
    case kUtc:
      return 21;
    case kImuData:
      return 58;
    case kEuler:
      return 32;
    case kQuaternion:
      return 36;
    case kImuShort:
      return 32;
    default:
      return 0;
  }
}

// The mean acceleration and rate of IMU_DATA are over an interval that is not told: they are left
// out.
Inertial inertial_in(Bytes data, unsigned log, unsigned cls) {
  Inertial out;
  out.status = wire::u16(data, kStatusAt);
  const auto f32 = [&](std::size_t at) {
    return [&, at](std::size_t i) { return double{wire::f32(data, at + 4 * i)}; };
  };
  const auto i32 = [&](std::size_t at) {
    return [&, at](std::size_t i) { return double{1.0 * wire::i32(data, at + 4 * i)}; };
  };
  const auto i16 = [&](std::size_t at) {
    return [&, at](std::size_t i) { return double{1.0 * wire::i16(data, at + 2 * i)}; };
  };
  ImuSample& s = out.sample;
  if (cls == kFastLogs) {
    s.accel = vector(i16(6), 0.01);
    s.gyro = vector(i16(12), 0.001);
  } else if (log == kImuData) {
    s.accel = vector(f32(6), 1);
    s.gyro = vector(f32(18), 1);
    s.temperature = wire::f32(data, 30);
  } else {
    s.accel = vector(i32(6), kAccelStep);
    s.gyro = vector(i32(18), (out.status & kHighScale) != 0 ? kFastGyroStep : kGyroStep);
    s.temperature = wire::i16(data, 30) / 256.0;
  }
  return out;
}

hal::Text<96> words_for(unsigned status) {
  const auto lacks = [status](unsigned mask) { return (status & mask) != mask; };
  const char* const what = lacks(kUnitAnswers) ? "its inertial unit does not answer"
                           : lacks(0x002)      ? "its inertial unit failed its test"
                           : lacks(0x01C)      ? "an accelerometer failed"
                           : lacks(0x0E0)      ? "a gyroscope failed"
                           : lacks(0x100)      ? "an acceleration is beyond its range"
                           : lacks(0x200)      ? "a rate of turn is beyond its range"
                                               : nullptr;
  if (what == nullptr) return {};
  return hal::Text<96>::of("%s (status 0x%03X)", what, status & 0x3FF);
}

std::optional<std::array<double, 4>> attitude_in(Bytes data, unsigned log) {
  const std::size_t status = log == kQuaternion ? 32 : 28;
  if ((wire::u32(data, status) & kAttitudeValid) == 0) return std::nullopt;
  const auto f = [&](std::size_t i) { return double{wire::f32(data, 4 + 4 * i)}; };
  return inertial::from_ned_frd(log == kQuaternion ? inertial::Quaternion{f(0), f(1), f(2), f(3)}
                                                   : inertial::from_euler(f(0), f(1), f(2)));
}

std::optional<std::int64_t> unix_in(Bytes data) {
  const unsigned status = wire::u16(data, kStatusAt);
  const unsigned clock = status >> 1 & 15, utc = status >> 6 & 15;
  constexpr unsigned kSteering = 2, kValid = 3, kInitialised = 2;
  if ((clock != kSteering && clock != kValid) || utc != kInitialised) return std::nullopt;
  using namespace std::chrono;
  const year_month_day date{year(wire::u16(data, 6)), month(wire::u8(data, 8)),
                            day(wire::u8(data, 9))};
  const unsigned hour = wire::u8(data, 10), minute = wire::u8(data, 11),
                 second = wire::u8(data, 12);
  const std::int32_t ns = wire::i32(data, 13);
  const bool makes_sense = date.ok() && date.year() >= year(2000) && date.year() < year(2100) &&
                           hour < 24 && minute < 60 && second <= 60 && ns > -1'000'000'000 &&
                           ns < 1'000'000'000;
  if (!makes_sense) return std::nullopt;
  const auto time = sys_days(date) + hours(hour) + minutes(minute) + seconds(second);
  return duration_cast<nanoseconds>(time.time_since_epoch()).count() + ns;
}

}  // namespace drivers::sbg
