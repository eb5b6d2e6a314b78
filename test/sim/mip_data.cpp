#include "test/sim/mip_data.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::mip {
namespace {

constexpr double kGravity = kStandardGravity;  // the unit "g" of the sensor set
constexpr double kGauss = 1e-4;                // T
constexpr double kWeek = 604'800.0;            // s
constexpr unsigned kGpsWeek = 2300;

constexpr std::uint8_t kSensorSeries7[] = {0x04, 0x05, 0x06, 0x07, 0x08, 0x0A, 0x0C, 0x10, 0x11,
                                           0x14, 0x17, 0x18, 0xD1, 0xD3, 0xD4, 0xD5, 0xD6};
constexpr std::uint8_t kSensorGx5[] = {0x04, 0x05, 0x06, 0x07, 0x08, 0x0A,
                                       0x0C, 0x10, 0x11, 0x12, 0x17};
constexpr std::uint8_t kFilterSeries7[] = {0x03, 0x05, 0x06, 0x0A, 0x0D, 0x0E, 0x10,
                                           0x13, 0x1C, 0xD1, 0xD3, 0xD4, 0xD5, 0xD6};
constexpr std::uint8_t kFilterGx5[] = {0x03, 0x05, 0x06, 0x0A, 0x0D, 0x0E, 0x10, 0x13, 0x1C};

void put_frd(Field& field, const Vector3& flu, double scale) {
  for (const double v : flu_to_frd(flu)) put_be_f32(field.data, v * scale);
}

void put_ned_quaternion(Field& field, const Quaternion& enu) {
  for (const double v : to_ned_frd(enu)) put_be_f32(field.data, v);
}

void put_ned_euler(Field& field, const Motion& motion) {
  put_be_f32(field.data, motion.roll);
  put_be_f32(field.data, -motion.pitch);
  put_be_f32(field.data, std::remainder(kPi / 2.0 - motion.yaw, kTurn));
}

void put_gps_time(Field& field, std::int64_t device_ns) {
  // Without GPS the device's own time stands in for the time of week, and no flag vouches for it.
  const double seconds = static_cast<double>(device_ns) * 1e-9;
  put_be_f64(field.data, std::fmod(seconds, kWeek));
  put_be(field.data, kGpsWeek + static_cast<unsigned>(seconds / kWeek), 2);
  put_be(field.data, 0, 2);
}

bool put_shared(Field& field, const Sample& sample) {
  switch (field.descriptor) {
    case 0xD1:
      return put_be(field.data, sample.ticks, 4), true;
    case 0xD3:
      return put_gps_time(field, sample.device_ns), true;
    case 0xD4:
      return put_be_f64(field.data, static_cast<double>(sample.delta_ns) * 1e-9), true;
    case 0xD5:
      return put_be(field.data, static_cast<std::uint64_t>(sample.device_ns), 8), true;
    case 0xD6:
      return put_be(field.data, static_cast<std::uint64_t>(sample.delta_ns), 8), true;
    default:
      return false;
  }
}

void put_sensor(Field& field, const Sample& sample) {
  const Motion& motion = sample.motion;
  const double delta_s = static_cast<double>(sample.delta_ns) * 1e-9;
  switch (field.descriptor) {
    case 0x04:
    case 0x11:
      return put_frd(field, motion.accel, 1.0 / kGravity);
    case 0x05:
      return put_frd(field, motion.gyro, 1.0);
    case 0x06:
    case 0x10:
      return put_frd(field, motion.mag, 1.0 / kGauss);
    case 0x07:
      return put_frd(field, sample.delta_angle, 1.0);
    case 0x08:
      return put_frd(field, motion.accel, delta_s / kGravity);
    case 0x0A:
      return put_ned_quaternion(field, motion.orientation);
    case 0x0C:
      return put_ned_euler(field, motion);
    case 0x12:
      return put_gps_time(field, sample.device_ns);
    case 0x14:
      for (const double celsius : {24.5, 25.5, 25.0}) put_be_f32(field.data, celsius);
      return;
    case 0x17:
      return put_be_f32(field.data, 1013.25);
    default:  // 0x18, over-range: none
      return put_be(field.data, 0, 2);
  }
}

void put_filter(Field& field, const Sample& sample) {
  const Motion& motion = sample.motion;
  const Vector3 gravity = {-motion.accel[0], -motion.accel[1], -motion.accel[2]};
  switch (field.descriptor) {
    case 0x03:
      put_ned_quaternion(field, motion.orientation);
      break;
    case 0x05:
      put_ned_euler(field, motion);
      break;
    case 0x0A:
      for (int i = 0; i < 3; ++i) put_be_f32(field.data, 0.01);
      break;
    case 0x06:
    case 0x0D:
      put_frd(field, {}, 1.0);
      break;
    case 0x0E:
      put_frd(field, motion.gyro, 1.0);
      break;
    case 0x13:
      put_frd(field, gravity, 1.0);
      break;
    case 0x1C:
      put_frd(field, motion.accel, 1.0);
      break;
    default:  // 0x10, status: running; dynamics mode 1; its flags say "nothing wrong"
      put_be(field.data, sample.generation == Generation::gx5 ? 2 : 3, 2);
      put_be(field.data, 1, 2), put_be(field.data, 0, 2);
      return;
  }
  put_be(field.data, 1, 2);
}

}  // namespace

std::span<const std::uint8_t> descriptors(Generation generation, unsigned set) {
  const bool series7 = generation == Generation::series7;
  if (set == kSensorSet && series7) return kSensorSeries7;
  if (set == kSensorSet) return kSensorGx5;
  if (set == kFilterSet && series7) return kFilterSeries7;
  if (set == kFilterSet) return kFilterGx5;
  return {};
}

bool is_supported(Generation generation, unsigned set, unsigned descriptor) {
  const auto known = descriptors(generation, set);
  return std::find(known.begin(), known.end(), descriptor) != known.end();
}

Field make_field(unsigned set, unsigned descriptor, const Sample& sample) {
  Field field{descriptor, {}};
  if (put_shared(field, sample)) return field;
  if (set == kSensorSet)
    put_sensor(field, sample);
  else
    put_filter(field, sample);
  return field;
}

}  // namespace sim::mip
