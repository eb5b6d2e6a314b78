#include "test/sim/lpms_data.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::lpms {
namespace {

constexpr double kMicrotesla = 1e6, kPressure = 101.325, kAltitude = 12.5, kCelsius = 25.5;

// Numbers as floats, or as i16 times a scale of their own.
class Numbers {
 public:
  Numbers(ByteVector& to, bool low_precision) : to_(to), low_(low_precision) {}

  void put(double value, double scale) {
    if (!low_) return put_le_f32(to_, value);
    put_le(to_,
           static_cast<std::uint64_t>(std::lround(std::clamp(value * scale, -32768.0, 32767.0))),
           2);
  }
  template <class Values>
  void put_all(const Values& values, double factor, double scale) {
    for (const double v : values) put(v * factor, scale);
  }

 private:
  ByteVector& to_;
  bool low_;
};

Vector3 euler_of(const Motion& m) { return {m.roll, m.pitch, m.yaw}; }

// Without gravity, m/s^2.
Vector3 linear_of(const Motion& m) {
  const Vector3 up = into_body(m.orientation, {0.0, 0.0, kStandardGravity});
  return {m.accel[0] - up[0], m.accel[1] - up[1], m.accel[2] - up[2]};
}

}  // namespace

ByteVector frame_of(unsigned address, unsigned function, hal::Bytes data) {
  ByteVector frame;
  put8(frame, 0x3A), put_le(frame, address, 2), put_le(frame, function, 2);
  put_le(frame, data.size(), 2);
  frame.insert(frame.end(), data.begin(), data.end());
  put_le(frame, 0, 2), put_be(frame, 0x0D0A, 2);
  seal(frame);
  return frame;
}

void seal(ByteVector& frame) {
  unsigned sum = 0;
  for (std::size_t i = 1; i + 4 < frame.size(); ++i) sum += u8_at(frame, i);
  frame[frame.size() - 4] = static_cast<std::byte>(sum & 0xFFU);
  frame[frame.size() - 3] = static_cast<std::byte>(sum >> 8 & 0xFFU);
}

ByteVector ig1_data(const Sample& s, unsigned enabled) {
  ByteVector data;
  put_le(data, s.count, 4);
  Numbers numbers(data, false);
  const Motion& m = s.motion;
  const double per_g = s.accel_sign / kStandardGravity, turn = s.degrees ? degrees(1.0) : 1.0;
  for (unsigned field = 0; field <= 16; ++field) {
    if ((enabled >> field & 1U) == 0) continue;
    if (field <= 1) {
      numbers.put_all(m.accel, per_g, 1.0);
    } else if (field <= 7 || field == 10) {
      numbers.put_all(m.gyro, turn, 1.0);
    } else if (field <= 9) {
      numbers.put_all(m.mag, kMicrotesla, 1.0);
    } else if (field == 11) {
      numbers.put_all(m.orientation, 1.0, 1.0);
    } else if (field == 12) {
      numbers.put_all(euler_of(m), turn, 1.0);
    } else if (field == 13) {
      numbers.put_all(linear_of(m), per_g, 1.0);
    } else {
      numbers.put(field == 14 ? kPressure : field == 15 ? kAltitude : kCelsius, 1.0);
    }
  }
  return data;
}

ByteVector legacy_data(const Sample& s, unsigned enabled) {
  const auto has = [&](unsigned bit) { return (enabled >> bit & 1U) != 0; };
  ByteVector data;
  put_le(data, s.count, 4);
  Numbers numbers(data, (enabled & kLowPrecision) != 0);
  const Motion& m = s.motion;
  const double per_g = s.accel_sign / kStandardGravity;
  if (has(12)) numbers.put_all(m.gyro, 1.0, 1000.0);
  if (has(11)) numbers.put_all(m.accel, per_g, 1000.0);
  if (has(10)) numbers.put_all(m.mag, kMicrotesla, 100.0);
  if (has(16)) numbers.put_all(m.gyro, 1.0, 1000.0);
  if (has(18)) numbers.put_all(m.orientation, 1.0, 10'000.0);
  if (has(17)) numbers.put_all(euler_of(m), 1.0, 10'000.0);
  if (has(21)) numbers.put_all(linear_of(m), per_g, 1000.0);
  if (has(9)) numbers.put(kPressure, 100.0);
  if (has(19)) numbers.put(kAltitude, 10.0);
  if (has(13)) numbers.put(kCelsius, 100.0);
  return data;
}

}  // namespace sim::lpms
