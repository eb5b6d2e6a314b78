#include "test/sim/wit_frames.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::witmotion {
namespace {

constexpr double kFullScale = 32768.0;
constexpr double kAccelUnit = 16.0 * kStandardGravity / kFullScale;  // m/s^2
constexpr double kGyroUnit = radians(2000.0) / kFullScale;           // rad/s
constexpr double kAngleUnit = kPi / kFullScale;                      // rad
constexpr double kFieldUnit = 1e-7;                                  // T; no description tells one
constexpr double kDeadBand = radians(0.1);                           // rad/s
constexpr int kTemperature = 2500, kVoltage = 0, kVersion = 0;
constexpr std::int64_t kPascals = 101'325, kHeight = 1200;  // cm

int counts(double value, double unit) {
  return static_cast<int>(std::lround(std::clamp(value / unit, -kFullScale, kFullScale - 1.0)));
}

std::array<int, 3> counts(const Vector3& v, double unit) {
  return {counts(v[0], unit), counts(v[1], unit), counts(v[2], unit)};
}

// Roll, pitch and yaw of an attitude: about z, then y, then x.
Vector3 angles_of(const Quaternion& q) {
  const auto [w, x, y, z] = q;
  return {std::atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
          std::asin(std::clamp(2.0 * (w * y - z * x), -1.0, 1.0)),
          std::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))};
}

void put_i16(ByteVector& to, int value) { put_le(to, static_cast<std::uint16_t>(value), 2); }
void put_all(ByteVector& to, const std::array<int, 3>& values, int last) {
  for (const int v : values) put_i16(to, v);
  put_i16(to, last);
}

// A calendar that goes on from midnight of the first of January 2015.
void put_calendar(ByteVector& to, std::int64_t device_ns) {
  constexpr std::int64_t kDay = 86'400'000;
  constexpr int kMonths[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const std::int64_t ms = device_ns / 1'000'000;
  int day = static_cast<int>(ms / kDay), year = 15, month = 0;
  const auto days_of = [&] { return kMonths[month] + (month == 1 && year % 4 == 0 ? 1 : 0); };
  while (day >= days_of()) {
    day -= days_of();
    if (++month == 12) month = 0, ++year;
  }
  const std::int64_t of_day = ms % kDay;
  put8(to, static_cast<unsigned>(year)), put8(to, static_cast<unsigned>(month + 1));
  put8(to, static_cast<unsigned>(day + 1));
  put8(to, static_cast<std::uint64_t>(of_day / 3'600'000));
  put8(to, static_cast<std::uint64_t>(of_day / 60'000 % 60));
  put8(to, static_cast<std::uint64_t>(of_day / 1000 % 60));
  put_le(to, static_cast<std::uint64_t>(of_day % 1000), 2);
}

}  // namespace

Raw raw_of(const Manner& manner, const Motion& motion) {
  const auto own = [&manner](const Vector3& flu) {
    return manner.axes == Axes::rfu ? flu_to_rfu(flu) : flu;
  };
  const Quaternion q =
      manner.axes == Axes::rfu ? to_enu_rfu(motion.orientation) : motion.orientation;
  Vector3 gyro = own(motion.gyro);
  if (manner.dead_band)
    for (double& rate : gyro) rate = std::abs(rate) < kDeadBand ? 0.0 : rate;
  Raw raw{counts(own(motion.accel), kAccelUnit),
          counts(gyro, kGyroUnit),
          counts(angles_of(q), kAngleUnit),
          counts(own(motion.mag), kFieldUnit),
          {}};
  for (std::size_t i = 0; i < 4; ++i)
    raw.quaternion[i] = counts(q[manner.scalar_first ? i : (i + 1) % 4], 1.0 / kFullScale);
  return raw;
}

ByteVector data_frame(unsigned bit, const Manner& manner, const Sample& sample) {
  ByteVector frame;
  put8(frame, 0x55), put8(frame, kFirstType + bit);
  const Raw raw = raw_of(manner, sample.motion);
  switch (bit) {
    case 0:
      put_calendar(frame, sample.device_ns);
      break;
    case 1:
      put_all(frame, raw.accel, kTemperature);
      break;
    case 2:
      put_all(frame, raw.gyro, kVoltage);
      break;
    case 3:
      put_all(frame, raw.angle, kVersion);
      break;
    case 4:
      put_all(frame, raw.mag, kTemperature);
      break;
    case 6:
      put_le(frame, static_cast<std::uint64_t>(kPascals), 4);
      put_le(frame, static_cast<std::uint64_t>(kHeight), 4);
      break;
    case 9:
      for (const int v : raw.quaternion) put_i16(frame, v);
      break;
    default:  // ports and satellites: none
      put_le(frame, 0, 8);
  }
  put8(frame, 0);
  seal(frame);
  return frame;
}

ByteVector register_frame(const std::array<std::uint16_t, 4>& values) {
  ByteVector frame;
  put8(frame, 0x55), put8(frame, kRegisters);
  for (const std::uint16_t v : values) put_le(frame, v, 2);
  put8(frame, 0);
  seal(frame);
  return frame;
}

void seal(ByteVector& frame) {
  unsigned sum = 0;
  for (std::size_t i = 0; i + 1 < frame.size(); ++i) sum += u8_at(frame, i);
  frame.back() = static_cast<std::byte>(sum);
}

}  // namespace sim::witmotion
