#include "test/sim/um7_data.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>

#include "test/sim/room.h"

namespace sim::um7 {
namespace {

constexpr double kQuaternionUnit = 0.0000335693, kAngleUnit = 0.0109863;  // of i16, deg
constexpr double kFieldStrength = 47.85e-6;                               // T, what is told as 1

std::uint32_t f32(double value) { return std::bit_cast<std::uint32_t>(static_cast<float>(value)); }

std::uint32_t halves(double high, double low) {
  const auto half = [](double v) {
    return static_cast<std::uint32_t>(std::lround(std::clamp(v, -32768.0, 32767.0))) & 0xFFFFU;
  };
  return half(high) << 16 | half(low);
}

std::uint32_t axis(const Vector3& flu, std::size_t i, double unit) {
  return f32(flu_to_frd(flu)[i] / unit + 0.0);  // not -0
}

std::uint32_t raw(const Vector3& flu, unsigned which, double unit) {
  const Vector3 v = flu_to_frd(flu);
  return which == 0 ? halves(v[0] / unit, v[1] / unit) : halves(v[2] / unit, 0);
}

struct Span {
  unsigned address, count;
};
constexpr std::array<Span, kBroadcasts> kSpans{{
    {89, 3},
    {86, 3},
    {92, 3},
    {95, 2},
    {86, 11},
    {101, 4},
    {97, 4},
    {105, 4},
    {97, 12},
    {109, 3},
    {112, 5},
    {117, 4},
    {121, 4},
    {112, 9},
}};
constexpr std::array<RatePlace, kBroadcasts> kPlaces{{
    {1, 24},
    {1, 16},
    {1, 8},
    {2, 24},
    {2, 0},
    {3, 24},
    {3, 16},
    {3, 8},
    {4, 0},
    {5, 24},
    {5, 16},
    {5, 8},
    {5, 0},
    {6, 24},
}};

}  // namespace

RatePlace place_of(Broadcast broadcast) { return kPlaces[static_cast<std::size_t>(broadcast)]; }

float told_seconds(std::int64_t device_ns) {
  const double exact = static_cast<double>(device_ns) * 1e-9;
  const auto near = static_cast<float>(exact);
  return double{near} > exact ? std::nextafter(near, 0.0F) : near;
}

ByteVector broadcast_bytes(Broadcast broadcast, const Sample& sample) {
  const Span span = kSpans[static_cast<std::size_t>(broadcast)];
  Registers data;
  for (unsigned i = 0; i < span.count; ++i)
    data.push_back(data_register(span.address + i, sample, 0));
  return data_packet(span.address, data);
}

std::uint32_t data_register(unsigned address, const Sample& sample, std::uint32_t health) {
  constexpr double kDegree = kPi / 180.0;
  const Motion& m = sample.motion;
  const auto within = [address](unsigned first, unsigned last) {
    return address >= first && address <= last;
  };
  if (address == kHealth) return health;
  if (within(86, 87)) return raw(m.gyro, address - 86, 2000.0 * kDegree / 32768.0);
  if (within(89, 90)) return raw(m.accel, address - 89, 8.0 * kStandardGravity / 32768.0);
  if (within(92, 93)) return raw(m.mag, address - 92, 1e-7);
  if (address == 95) return f32(25.5);
  if (within(97, 99)) return axis(m.gyro, address - 97, kDegree);
  if (within(101, 103)) return axis(m.accel, address - 101, kStandardGravity);
  if (within(105, 107)) return axis(m.mag, address - 105, kFieldStrength);
  const Quaternion q = to_ned_frd(m.orientation);
  if (within(109, 110)) {
    const std::size_t at = 2 * std::size_t{address - 109};
    return halves(q[at] / kQuaternionUnit, q[at + 1] / kQuaternionUnit);
  }
  if (address == 112) return halves(m.roll / kDegree / kAngleUnit, -m.pitch / kDegree / kAngleUnit);
  if (address == 113) {
    const double heading = std::remainder(kPi / 2.0 - m.yaw, kTurn);
    return halves(heading / kDegree / kAngleUnit, 0);
  }
  // The times behind each group.
  for (const unsigned time : {88U, 91U, 94U, 96U, 100U, 104U, 108U, 111U, 116U, 120U, 124U})
    if (address == time) return std::bit_cast<std::uint32_t>(sample.seconds);
  return 0;
}

}  // namespace sim::um7
