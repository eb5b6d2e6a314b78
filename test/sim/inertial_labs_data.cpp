#include "test/sim/inertial_labs_data.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::inertial_labs {
namespace {

constexpr double kPressure = 101'325.0;  // Pa
constexpr double kVolts = 12.0, kCelsius = 25.5;
constexpr double kPerGyro = 10.0, kPerAccel = 4000.0;  // KG, KA

void put(ByteVector& to, double value, int bytes) {
  const double full = bytes == 2 ? 32'767.0 : 2'147'483'647.0;
  put_le(to, static_cast<std::uint64_t>(std::llround(std::clamp(value, -full, full))), bytes);
}
void put(ByteVector& to, const Vector3& rfu, double scale, int bytes) {
  for (const double v : rfu) put(to, v * scale, bytes);
}

// Heading clockwise from north in [0, 360), pitch and roll, in parts of a degree.
void put_angles(ByteVector& to, const Motion& m, double per_degree, int bytes) {
  const double heading = std::fmod(90.0 - degrees(m.yaw) + 3600.0, 360.0);
  put_le(to, static_cast<std::uint64_t>(std::llround(heading * per_degree)), bytes);
  put(to, -degrees(m.pitch) * per_degree, bytes);
  put(to, degrees(m.roll) * per_degree, bytes);
}

void put_type(ByteVector& to, unsigned type, const Sample& s) {
  const Motion& m = s.motion;
  const Vector3 gyro = flu_to_rfu(m.gyro), accel = flu_to_rfu(m.accel), mag = flu_to_rfu(m.mag);
  switch (type) {
    case 0x01:
      return put_le(to, static_cast<std::uint64_t>(s.gps_ns / 1'000'000), 4);
    case 0x02:
    case 0x03:
      return put_le(to, static_cast<std::uint64_t>(s.gps_ns), 8);
    case 0x07:
      return put_angles(to, m, 100.0, 2);
    case 0x08:
      return put_angles(to, m, 1000.0, 4);
    case 0x09:
      for (const double v : to_enu_rfu(m.orientation)) put(to, v * 1e4, 2);
      return;
    case 0x12:
      return put(to, Vector3{}, 1.0, 4);
    case 0x20:
      return put(to, gyro, kPerGyro * degrees(1.0), 2);
    case 0x21:
      return put(to, gyro, 1e5 * degrees(1.0), 4);
    case 0x22:
      return put(to, accel, kPerAccel / s.gravity, 2);
    case 0x23:
      return put(to, accel, 1e6 / s.gravity, 4);
    case 0x24:
      return put(to, mag, 1e8, 2);
    case 0x25:
      return put_le(to, static_cast<std::uint64_t>(kPressure / 2), 2), put_le(to, 0, 4);
    case 0x3C:
      return put_le(to, 2300, 2);
    case 0x50:
      return put(to, kVolts * 100.0, 2);
    case 0x52:
      return put(to, kCelsius * 10.0, 2);
    case 0x53:
      return put_le(to, s.status, 2);
    default:  // a type that the description does not tell
      return put_le(to, 0, 2);
  }
}

}  // namespace

ByteVector frame_of(unsigned type, unsigned code, hal::Bytes payload) {
  ByteVector frame;
  put_be(frame, 0xAA55, 2), put8(frame, type), put8(frame, code);
  put_le(frame, payload.size() + 6, 2);
  frame.insert(frame.end(), payload.begin(), payload.end());
  put_le(frame, 0, 2);
  seal(frame);
  return frame;
}

void seal(ByteVector& frame) {
  unsigned sum = 0;
  for (std::size_t i = 2; i + 2 < frame.size(); ++i) sum += u8_at(frame, i);
  frame[frame.size() - 2] = static_cast<std::byte>(sum & 0xFFU);
  frame[frame.size() - 1] = static_cast<std::byte>(sum >> 8 & 0xFFU);
}

ByteVector user_defined(std::span<const std::uint8_t> types, const Sample& sample) {
  ByteVector payload;
  put8(payload, types.size());
  for (const unsigned type : types) put8(payload, type);
  for (const unsigned type : types) put_type(payload, type, sample);
  return frame_of(1, 0x95, payload);
}

ByteVector orientation_set(const Sample& sample) {
  ByteVector payload;
  for (const unsigned type : {0x07U, 0x20U, 0x22U, 0x24U, 0xFFU, 0xFFU, 0x53U, 0x50U, 0x52U})
    put_type(payload, type, sample);
  return frame_of(1, 0x33, payload);
}

}  // namespace sim::inertial_labs
