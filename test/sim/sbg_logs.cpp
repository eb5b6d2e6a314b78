#include "test/sim/sbg_logs.h"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "test/sim/wire.h"

namespace sim::sbg {
namespace {

constexpr unsigned kStatus = 1, kUtc = 2, kImuData = 3, kEuler = 6, kQuaternion = 7, kShort = 44;
constexpr unsigned kFastImu = 0;
constexpr unsigned kAllWell = 0x03FF, kHighScale = 1U << 10U;
constexpr double kAccelUnit = 1048576.0, kGyroUnit = 67108864.0, kHighGyroUnit = 12304174.0;
constexpr double kFastestRate = 31.9;  // rad/s, in 32 bits of the fine unit
constexpr double kTemperature = 25.5;  // deg C
constexpr unsigned kAhrsValid = 0x32;  // mode AHRS, attitude and heading valid

std::uint64_t rounded(double value, double most) {
  return static_cast<std::uint64_t>(std::llround(std::clamp(value, -most - 1.0, most)));
}

void put_us(ByteVector& to, const Sample& s) {
  put_le(to, static_cast<std::uint64_t>(s.device_ns / 1000), 4);
}

void put_floats(ByteVector& to, const Vector3& v, double factor = 1.0) {
  for (const double part : v) put_le_f32(to, part * factor);
}

void put_imu_short(ByteVector& to, const Sample& s) {
  const Vector3 accel = flu_to_frd(s.motion.accel), gyro = flu_to_frd(s.motion.gyro);
  const bool is_fast =
      std::ranges::any_of(gyro, [](double rate) { return std::abs(rate) > kFastestRate; });
  put_le(to, kAllWell | (is_fast ? kHighScale : 0U), 2);
  constexpr double kMost = 2147483647.0;
  for (const double part : accel) put_le(to, rounded(part * kAccelUnit, kMost), 4);
  for (const double part : gyro)
    put_le(to, rounded(part * (is_fast ? kHighGyroUnit : kGyroUnit), kMost), 4);
  put_le(to, rounded(kTemperature * 256.0, 32767.0), 2);
}

void put_imu_data(ByteVector& to, const Sample& s) {
  const Vector3 accel = flu_to_frd(s.motion.accel), gyro = flu_to_frd(s.motion.gyro);
  put_le(to, kAllWell, 2);
  put_floats(to, accel);
  put_floats(to, gyro);
  put_le_f32(to, kTemperature);
  put_floats(to, accel);
  put_floats(to, gyro);
}

void put_fast_imu(ByteVector& to, const Sample& s) {
  put_le(to, kAllWell, 2);
  for (const double part : flu_to_frd(s.motion.accel)) put_le(to, rounded(part * 100.0, 32767), 2);
  for (const double part : flu_to_frd(s.motion.gyro)) put_le(to, rounded(part * 1000.0, 32767), 2);
}

void put_filter(ByteVector& to, const Sample& s) {
  put_floats(to, {0.01, 0.01, 0.02});
  put_le(to, s.has_settled ? kAhrsValid : 0U, 4);
  if (s.has_new_fields) put_floats(to, {0.02, 1.1, 0.0});
  if (s.has_new_fields) to.resize(to.size() - 4);  // declination and inclination
}

void put_euler(ByteVector& to, const Sample& s) {
  const auto [w, x, y, z] = to_ned_frd(s.motion.orientation);
  put_floats(to, {std::atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
                  std::asin(std::clamp(2.0 * (w * y - z * x), -1.0, 1.0)),
                  std::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))});
  put_filter(to, s);
}

void put_quaternion(ByteVector& to, const Sample& s) {
  Quaternion q{1.0, 0.0, 0.0, 0.0};
  if (s.has_settled) q = to_ned_frd(s.motion.orientation);
  for (const double part : q) put_le_f32(to, part);
  put_filter(to, s);
}

void put_utc(ByteVector& to, const Sample& s) {
  using namespace std::chrono;
  // Stable, state valid, in step with UTC, initialised; or running freely, no date.
  const bool is_known = s.unix_ns != 0;
  put_le(to, is_known ? 1U | 3U << 1U | 1U << 5U | 2U << 6U : 1U << 1U, 2);
  const sys_time<nanoseconds> now{nanoseconds(s.unix_ns)};
  const auto day = floor<days>(now);
  const year_month_day date(day);
  const hh_mm_ss time(now - day);
  put_le(to, static_cast<std::uint64_t>(int(date.year())), 2);
  put8(to, unsigned(date.month())), put8(to, unsigned(date.day()));
  put8(to, static_cast<std::uint64_t>(time.hours().count()));
  put8(to, static_cast<std::uint64_t>(time.minutes().count()));
  put8(to, static_cast<std::uint64_t>(time.seconds().count()));
  put_le(to, static_cast<std::uint64_t>(time.subseconds().count()), 4);
  put_le(to, 345'600'000, 4);  // GPS time of week, ms
  if (s.has_new_fields) put_floats(to, {1e-9, 1e-9, 0.0});
}

struct Log {
  unsigned id, cls;
  void (*put)(ByteVector&, const Sample&);  // behind the stamp
};

// The status names its own ports and sensors: its content is of no use to an inertial host.
constexpr Log kTable[] = {
    {kStatus, kLogs, [](ByteVector& to, const Sample&) { to.resize(to.size() + 22); }},
    {kUtc, kLogs, put_utc},
    {kImuData, kLogs, put_imu_data},
    {kEuler, kLogs, put_euler},
    {kQuaternion, kLogs, put_quaternion},
    {kShort, kLogs, put_imu_short},
    {kFastImu, kFastLogs, put_fast_imu},
};

const Log* find(unsigned id, unsigned cls) {
  const auto* const found =
      std::ranges::find_if(kTable, [&](const Log& log) { return log.id == id && log.cls == cls; });
  return found == std::end(kTable) ? nullptr : found;
}

}  // namespace

bool is_log(unsigned id, unsigned cls) { return find(id, cls) != nullptr; }

bool is_inertial(unsigned id, unsigned cls) {
  return cls == kLogs ? id == kImuData || id == kShort : cls == kFastLogs && id == kFastImu;
}

Message log(unsigned id, unsigned cls, const Sample& sample) {
  Message message{id, cls, {}};
  put_us(message.data, sample);
  find(id, cls)->put(message.data, sample);
  return message;
}

}  // namespace sim::sbg
