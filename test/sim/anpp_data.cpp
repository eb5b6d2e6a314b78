#include "test/sim/anpp_data.h"

#include <algorithm>
#include <cmath>

#include "test/sim/wire.h"

namespace sim::anpp {
namespace {

constexpr double kMilligaussPerTesla = 1e7;
constexpr double kTemperature = 25.0, kPressure = 101325.0;  // deg C, Pa

void put_floats(ByteVector& to, const Vector3& v, double factor = 1.0) {
  for (const double part : v) put_le_f32(to, part * factor);
}

void put_time(ByteVector& to, std::int64_t ns) {
  put_le(to, static_cast<std::uint64_t>(ns / 1'000'000'000), 4);
  put_le(to, static_cast<std::uint64_t>(ns % 1'000'000'000 / 1000), 4);
}

void put_status(ByteVector& to, const Sample& s) {
  put_le(to, s.system_status, 2);
  put_le(to, s.filter_status, 2);
}

Vector3 angles(const Sample& s) {
  const auto [w, x, y, z] = to_ned_frd(s.motion.orientation);
  return {std::atan2(2.0 * (w * x + y * z), 1.0 - 2.0 * (x * x + y * y)),
          std::asin(std::clamp(2.0 * (w * y - z * x), -1.0, 1.0)),
          std::atan2(2.0 * (w * z + x * y), 1.0 - 2.0 * (y * y + z * z))};
}

// Its acceleration is without gravity.
void put_state(ByteVector& to, const Sample& s) {
  put_status(to, s);
  put_time(to, s.unix_ns);
  for (const double part : {0.842, 0.205, 120.0}) put_le_f64(to, part);
  put_floats(to, {});
  const Vector3 gravity = into_body(s.motion.orientation, {0.0, 0.0, kStandardGravity});
  Vector3 moved = s.motion.accel;
  for (std::size_t i = 0; i < 3; ++i) moved[i] -= gravity[i];
  put_floats(to, flu_to_frd(moved));
  const Vector3& a = s.motion.accel;
  put_le_f32(to, std::hypot(a[0], a[1], a[2]) / kStandardGravity);
  put_floats(to, angles(s));
  put_floats(to, flu_to_frd(s.motion.gyro));
  put_floats(to, {1.0, 1.0, 2.0});
}

void put_raw(ByteVector& to, const Sample& s) {
  put_floats(to, flu_to_frd(s.motion.accel));
  put_floats(to, flu_to_frd(s.motion.gyro));
  put_floats(to, flu_to_frd(s.motion.mag), kMilligaussPerTesla);
  put_le_f32(to, kTemperature);
  put_le_f32(to, kPressure);
  put_le_f32(to, kTemperature);
}

void put_quaternion(ByteVector& to, const Sample& s) {
  for (const double part : to_ned_frd(s.motion.orientation)) put_le_f32(to, part);
}

struct Row {
  unsigned id;
  void (*put)(ByteVector&, const Sample&);
};

constexpr Row kTable[] = {
    {kState, put_state},
    {kUnixTime, [](ByteVector& to, const Sample& s) { put_time(to, s.unix_ns); }},
    {kStatus, put_status},
    {26,
     [](ByteVector& to, const Sample&) {
       put_floats(to, {0.01, 0.01, 0.02});
     }},
    {27,
     [](ByteVector& to, const Sample&) {
       put_le_f32(to, 0.01);
       put_floats(to, {0.01, 0.01, 0.02});
     }},
    {kRaw, put_raw},
    {39, [](ByteVector& to, const Sample& s) { put_floats(to, angles(s)); }},
    {kQuaternion, put_quaternion},
    {42, [](ByteVector& to, const Sample& s) { put_floats(to, flu_to_frd(s.motion.gyro)); }},
    {kRunningTime, [](ByteVector& to, const Sample& s) { put_time(to, s.running_ns); }},
};

}  // namespace

bool is_data(unsigned id) { return std::ranges::find(kTable, id, &Row::id) != std::end(kTable); }

Packet data_packet(unsigned id, const Sample& sample) {
  Packet packet{id, {}};
  std::ranges::find(kTable, id, &Row::id)->put(packet.data, sample);
  return packet;
}

}  // namespace sim::anpp
