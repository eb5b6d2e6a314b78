#include "test/sim/hipnuc_packets.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::hipnuc {
namespace {

constexpr std::size_t kHead = 6;
constexpr double kDeg = 360.0 / kTurn, kMicrotesla = 1e6;
constexpr double kPressure = 101'325.0,
                 kNoPressure = 100'000.0;  // Pa; what short packets leave out
constexpr double kGyroStep = 0.001, kAccelStep = 0.0048828, kMagStep = 0.030517;
constexpr int kCelsius = 25;
constexpr std::int64_t kWeekMs = 604'800'000;

unsigned crc16(unsigned crc, hal::Bytes bytes) {
  for (const std::byte byte : bytes) {
    crc ^= std::to_integer<unsigned>(byte) << 8;
    for (int bit = 0; bit < 8; ++bit)
      crc = ((crc << 1) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U)) & 0xFFFFU;
  }
  return crc;
}

// Yaw about up, pitch about right, roll about forward, in this order; rad.
struct Angles {
  double roll, pitch, yaw;
};
Angles angles_of(const Quaternion& q) {
  const auto [w, x, y, z] = q;
  return {std::atan2(2.0 * (w * y - x * z), 1.0 - 2.0 * (x * x + y * y)),
          std::asin(std::clamp(2.0 * (y * z + w * x), -1.0, 1.0)),
          std::atan2(2.0 * (w * z - x * y), 1.0 - 2.0 * (x * x + z * z))};
}

void put_steps(ByteVector& to, double value, double step, int bytes = 2) {
  const double limit = bytes == 2 ? 32'767.0 : 2'147'483'647.0;
  const auto steps =
      static_cast<std::int64_t>(std::lround(std::clamp(value / step, -limit, limit)));
  put_le(to, static_cast<std::uint64_t>(steps), bytes);
}
void put_steps(ByteVector& to, const Vector3& flu, double step) {
  for (const double v : flu_to_rfu(flu)) put_steps(to, v, step);
}
void put_floats(ByteVector& to, const Vector3& flu, double scale) {
  for (const double v : flu_to_rfu(flu)) put_le_f32(to, v * scale);
}

void put_hi91(ByteVector& to, const Sample& s, const Quaternion& q, const Angles& a) {
  put_le(to, s.status, 2), put8(to, kCelsius), put_le_f32(to, kPressure);
  put_le(to, static_cast<std::uint64_t>(s.device_ns / 1'000'000), 4);
  put_floats(to, s.motion.accel, 1.0 / kStandardGravity);
  put_floats(to, s.motion.gyro, kDeg);
  put_floats(to, s.motion.mag, kMicrotesla);
  for (const double v : {a.roll, a.pitch, a.yaw}) put_le_f32(to, v * kDeg);
  for (const double v : q) put_le_f32(to, v);
}

void put_hi92(ByteVector& to, const Sample& s, const Quaternion& q, const Angles& a) {
  put_le(to, s.status, 2), put8(to, kCelsius), put_le(to, 0x117C, 2);
  put_steps(to, kPressure - kNoPressure, 1.0), put_le(to, 0, 2);
  put_steps(to, s.motion.gyro, kGyroStep);
  put_steps(to, s.motion.accel, kAccelStep);
  put_steps(to, s.motion.mag, kMagStep / kMicrotesla);
  for (const double v : {a.roll, a.pitch, a.yaw}) put_steps(to, v * kDeg, 0.001, 4);
  for (const double v : q) put_steps(to, v, 0.0001);
}

void put_hi81(ByteVector& to, const Sample& s, const Quaternion& q, const Angles& a) {
  const std::int64_t ms = s.device_ns / 1'000'000;
  put_le(to, s.status, 2), put8(to, 0), put_le(to, 2300, 2);
  put_le(to, static_cast<std::uint64_t>(ms % kWeekMs), 4), put_le(to, 0, 2);
  put_steps(to, s.motion.gyro, kGyroStep);
  put_steps(to, s.motion.accel, kAccelStep);
  put_steps(to, s.motion.mag, kMagStep / kMicrotesla);
  put_steps(to, kPressure - kNoPressure, 1.0), put_le(to, 0, 2), put8(to, kCelsius);
  for (const unsigned v : {25U, 11U, 30U, 15U, 38U}) put8(to, v);
  put_le(to, static_cast<std::uint64_t>(ms % 60'000), 2);
  put_steps(to, a.roll * kDeg, 0.01), put_steps(to, a.pitch * kDeg, 0.01);
  put_le(to, static_cast<std::uint64_t>(std::lround(std::fmod(a.yaw * kDeg + 360.0, 360.0) * 100)),
         2);
  for (const double v : q) put_steps(to, v, 0.0001);
  to.resize(to.size() + 104 - (to.size() - kHead));  // position, quality, velocity: no satellites
}

void put_hi83(ByteVector& to, const Sample& s, const Quaternion& q, const Angles& a) {
  put_le(to, s.status, 2), put8(to, 0), put_le(to, 0x1BF, 4);
  put_floats(to, s.motion.accel, 1.0);
  put_floats(to, s.motion.gyro, 1.0);  // rad/s, as its maker's decoder takes it
  put_floats(to, s.motion.mag, kMicrotesla);
  for (const double v : {a.roll, a.pitch, a.yaw}) put_le_f32(to, v * kDeg);
  for (const double v : q) put_le_f32(to, v);
  put_le(to, static_cast<std::uint64_t>(s.device_ns / 1000), 8);
  put_le_f32(to, kPressure), put_le_f32(to, kCelsius);
}

}  // namespace

void seal(ByteVector& frame) {
  const std::size_t n = frame.size() - kHead;
  const auto put = [&](std::size_t at, unsigned v) {
    frame[at] = static_cast<std::byte>(v & 0xFFU);
    frame[at + 1] = static_cast<std::byte>(v >> 8);
  };
  put(2, static_cast<unsigned>(n));
  const hal::Bytes all(frame);
  put(4, crc16(crc16(0, all.first(4)), all.subspan(kHead)));
}

ByteVector frame_of(Format format, const Sample& s) {
  const Quaternion q = to_enu_rfu(s.motion.orientation);
  const Angles a = angles_of(q);
  ByteVector frame;
  put_be(frame, 0x5AA5, 2), put_le(frame, 0, 4);
  switch (format) {
    case Format::hi91:
      put8(frame, 0x91), put_hi91(frame, s, q, a);
      break;
    case Format::hi92:
      put8(frame, 0x92), put_hi92(frame, s, q, a);
      break;
    case Format::hi81:
      put8(frame, 0x81), put_hi81(frame, s, q, a);
      break;
    case Format::hi83:
      put8(frame, 0x83), put_hi83(frame, s, q, a);
      break;
  }
  seal(frame);
  return frame;
}

}  // namespace sim::hipnuc
