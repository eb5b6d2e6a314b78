#include "test/sim/vn_data.h"

#include <cmath>
#include <cstdio>

#include "test/sim/room.h"
#include "test/sim/vn_text.h"
#include "test/sim/wire.h"

namespace sim::vectornav {
namespace {

constexpr double kGauss = 1e-4;  // T
constexpr double kCelsius = 25.5, kKilopascals = 101.325;

Vector3 frd(const Vector3& flu, double unit = 1.0) {
  Vector3 v = flu_to_frd(flu);
  for (double& x : v) x = x / unit + 0.0;  // not -0
  return v;
}

Vector3 ypr_of(const Motion& m) {
  return {degrees(std::remainder(kPi / 2.0 - m.yaw, kTurn)), degrees(-m.pitch) + 0.0, degrees(m.roll) + 0.0};
}

Vector3 into_ned(const Quaternion& q, const Vector3& v) {  // q NED FRD
  return into_body({q[0], -q[1], -q[2], -q[3]}, v);
}

struct Field {
  std::uint8_t size;
  void (*put)(ByteVector&, const Sample&);  // null: zeros
};

void put3(ByteVector& to, const Vector3& v) {
  for (const double x : v) put_le_f32(to, x);
}
void put_startup(ByteVector& to, const Sample& s) {
  put_le(to, static_cast<std::uint64_t>(s.device_ns), 8);
}
void put_ypr(ByteVector& to, const Sample& s) { put3(to, ypr_of(s.motion)); }
void put_quaternion(ByteVector& to, const Sample& s) {
  const Quaternion q = to_ned_frd(s.motion.orientation);
  for (const std::size_t i : {1U, 2U, 3U, 0U}) put_le_f32(to, q[i]);
}
void put_gyro(ByteVector& to, const Sample& s) { put3(to, frd(s.motion.gyro)); }
void put_accel(ByteVector& to, const Sample& s) { put3(to, frd(s.motion.accel)); }
void put_mag(ByteVector& to, const Sample& s) { put3(to, frd(s.motion.mag, kGauss)); }
void put_imu(ByteVector& to, const Sample& s) { put_accel(to, s), put_gyro(to, s); }
void put_temperature(ByteVector& to, const Sample&) { put_le_f32(to, kCelsius); }
void put_pressure(ByteVector& to, const Sample&) { put_le_f32(to, kKilopascals); }
void put_mag_and_air(ByteVector& to, const Sample& s) {
  put_mag(to, s), put_temperature(to, s), put_pressure(to, s);
}
void put_delta_angle(ByteVector& to, const Sample& s) {
  put_le_f32(to, static_cast<double>(s.delta_ns) * 1e-9);
  put3(to, frd(s.delta_angle, radians(1.0)));
}
void put_delta_velocity(ByteVector& to, const Sample& s) {
  const double dt = static_cast<double>(s.delta_ns) * 1e-9;
  put3(to, frd({s.motion.accel[0] * dt, s.motion.accel[1] * dt, s.motion.accel[2] * dt}));
}
void put_deltas(ByteVector& to, const Sample& s) {
  put_delta_angle(to, s), put_delta_velocity(to, s);
}
void put_mag_ned(ByteVector& to, const Sample& s) {
  put3(to, into_ned(to_ned_frd(s.motion.orientation), frd(s.motion.mag, kGauss)));
}
void put_accel_ned(ByteVector& to, const Sample& s) {
  put3(to, into_ned(to_ned_frd(s.motion.orientation), frd(s.motion.accel)));
}
void put_cosines(ByteVector& to, const Sample& s) {  // of north, east, down into the body
  const Quaternion q = to_ned_frd(s.motion.orientation);
  std::array<Vector3, 3> columns;
  for (std::size_t i = 0; i < 3; ++i) {
    Vector3 axis{};
    axis[i] = 1.0;
    columns[i] = into_body(q, axis);
  }
  for (std::size_t row = 0; row < 3; ++row)
    for (const Vector3& column : columns) put_le_f32(to, column[row]);
}

using Group = std::array<Field, 15>;  // size 0: no such field

constexpr Group kCommon{{{8, put_startup},
                         {8, nullptr},
                         {8, nullptr},
                         {12, put_ypr},
                         {16, put_quaternion},
                         {12, put_gyro},
                         {24, nullptr},
                         {12, nullptr},
                         {12, put_accel},
                         {24, put_imu},
                         {20, put_mag_and_air},
                         {28, put_deltas},
                         {2, nullptr},
                         {4, nullptr},
                         {8, nullptr}}};
constexpr Group kTime{{{8, put_startup},
                       {8, nullptr},
                       {8, nullptr},
                       {2, nullptr},
                       {8, nullptr},
                       {8, nullptr},
                       {8, nullptr},
                       {4, nullptr},
                       {4, nullptr},
                       {1, nullptr}}};
constexpr Group kImu{{{2, nullptr},
                      {12, put_mag},
                      {12, put_accel},
                      {12, put_gyro},
                      {4, put_temperature},
                      {4, put_pressure},
                      {16, put_delta_angle},
                      {12, put_delta_velocity},
                      {12, put_mag},
                      {12, put_accel},
                      {12, put_gyro},
                      {2, nullptr}}};
constexpr Group kAttitude{{{2, nullptr},
                           {12, put_ypr},
                           {16, put_quaternion},
                           {36, put_cosines},
                           {12, put_mag_ned},
                           {12, put_accel_ned},
                           {12, nullptr},
                           {12, nullptr},
                           {12, nullptr},
                           {12, nullptr},
                           {28, nullptr},
                           {24, nullptr},
                           {12, nullptr},
                           {4, nullptr}}};
constexpr Group kIns{{{2, nullptr},
                      {24, nullptr},
                      {24, nullptr},
                      {12, nullptr},
                      {12, nullptr},
                      {12, nullptr},
                      {12, nullptr},
                      {12, nullptr},
                      {12, nullptr},
                      {4, nullptr},
                      {4, nullptr}}};
constexpr Group kUnknown{};  // of satellites: no description tells their sizes
constexpr std::array<const Group*, kGroups> kAll{&kCommon,   &kTime, &kImu,    &kUnknown,
                                                 &kAttitude, &kIns,  &kUnknown};

template <class Visit>
bool each_field(const Content& content, Visit&& visit) {
  for (std::size_t g = 0; g < kGroups; ++g) {
    for (unsigned bit = 0; bit < 16; ++bit) {
      if ((content.types[g] >> bit & 1) == 0) continue;
      if (bit >= kAll[g]->size() || (*kAll[g])[bit].size == 0) return false;
      visit((*kAll[g])[bit]);
    }
  }
  return true;
}

std::string joined(const char* format, const Vector3& v) {
  std::string text;
  char one[32];
  for (const double x : v) {
    std::snprintf(one, sizeof one, format, x);
    text += text.empty() ? std::string(one) : "," + std::string(one);
  }
  return text;
}

std::string ypr(const Sample& s) { return joined("%+08.3f", ypr_of(s.motion)); }
std::string mag(const Sample& s) { return joined("%+08.4f", frd(s.motion.mag, kGauss)); }
std::string accel(const Sample& s) { return joined("%+07.3f", frd(s.motion.accel)); }
std::string gyro(const Sample& s) { return joined("%+010.6f", frd(s.motion.gyro)); }
std::string quaternion(const Sample& s) {
  const Quaternion q = to_ned_frd(s.motion.orientation);
  return joined("%+09.6f", {q[1], q[2], q[3]}) + "," + joined("%+09.6f", {q[0], 0, 0}).substr(0, 9);
}
std::string air() { return "+25.5,+101.325"; }
std::string deltas(const Sample& s) {
  const double dt = static_cast<double>(s.delta_ns) * 1e-9;
  const Vector3& a = s.motion.accel;
  return joined("%+09.6f", {dt, 0, 0}).substr(0, 9) + "," +
         joined("%+011.6f", frd(s.delta_angle, radians(1.0))) + "," +
         joined("%+09.6f", frd({a[0] * dt, a[1] * dt, a[2] * dt}));
}

}  // namespace

std::optional<std::size_t> frame_size(const Content& content) {
  std::size_t size = 2 + 2;  // sync and groups, CRC
  for (unsigned g = 0; g < kGroups; ++g) size += (content.groups >> g & 1) != 0 ? 2 : 0;
  if (!each_field(content, [&size](const Field& field) { size += field.size; }))
    return std::nullopt;
  return size;
}

ByteVector binary_frame(const Content& content, const Sample& sample) {
  ByteVector frame;
  put8(frame, 0xFA), put8(frame, content.groups);
  for (unsigned g = 0; g < kGroups; ++g)
    if ((content.groups >> g & 1) != 0) put_le(frame, content.types[g], 2);
  each_field(content, [&](const Field& field) {
    if (field.put == nullptr)
      frame.resize(frame.size() + field.size);
    else
      field.put(frame, sample);
  });
  put_be(frame, 0, 2);
  seal(frame);
  return frame;
}

void seal(ByteVector& frame) {
  frame.resize(frame.size() - 2);
  put_be(frame, crc16(hal::Bytes(frame).subspan(1)), 2);
}

std::string message_of(unsigned type, const Sample& s) {
  switch (type) {
    case 1:
      return "VNYPR," + ypr(s);
    case 2:
      return "VNQTN," + quaternion(s);
    case 8:
      return "VNQMR," + quaternion(s) + "," + mag(s) + "," + accel(s) + "," + gyro(s);
    case 10:
      return "VNMAG," + mag(s);
    case 11:
      return "VNACC," + accel(s);
    case 12:
      return "VNGYR," + gyro(s);
    case 13:
      return "VNMAR," + mag(s) + "," + accel(s) + "," + gyro(s);
    case 14:
      return "VNYMR," + ypr(s) + "," + mag(s) + "," + accel(s) + "," + gyro(s);
    case 16:  // without gravity
      return "VNYBA," + ypr(s) + ",+00.000,+00.000,+00.000," + gyro(s);
    case 17:
      return "VNYIA," + ypr(s) + ",+00.000,+00.000,+00.000," + gyro(s);
    case 19:
      return "VNIMU," + mag(s) + "," + accel(s) + "," + gyro(s) + "," + air();
    case 22:
      return "VNINS,000000.000000,0000,0000," + ypr(s) +
             ",+00.00000000,+000.00000000,+00000.000,+000.000,+000.000,+000.000,00.0,00.0,00.0";
    case 30:
      return "VNDTV," + deltas(s);
    default:
      return {};
  }
}

std::string measured_register(unsigned number, const Sample& s) {
  switch (number) {
    case 8:
      return ypr(s);
    case 9:
      return quaternion(s);
    case 27:
      return ypr(s) + "," + mag(s) + "," + accel(s) + "," + gyro(s);
    case 54:
      return mag(s) + "," + accel(s) + "," + gyro(s) + "," + air();
    default:
      return {};
  }
}

}  // namespace sim::vectornav
