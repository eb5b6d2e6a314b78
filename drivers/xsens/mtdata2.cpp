#include "drivers/xsens/mtdata2.h"

#include <cmath>

#include "drivers/inertial.h"

namespace drivers::xsens {
namespace {

using inertial::kRadPerDeg;
using inertial::Quaternion;
using inertial::Vector;

constexpr unsigned kNumbers = 0x3, kWorld = 0xC;  // of an id
constexpr std::int64_t kTick = 100'000;           // ns

// A number of an item, by how its id says that they are written.
double number(Bytes b, std::size_t i, unsigned format) {
  switch (format) {
    case 0:
      return wire::f32be(b, 4 * i);
    case 1:
      return wire::i32be(b, 4 * i) * 0x1p-20;
    case 2:
      return wire::i16be(b, 6 * i + 4) + wire::u32be(b, 6 * i) * 0x1p-32;
    default:
      return wire::f64be(b, 8 * i);
  }
}
constexpr std::size_t size_of_numbers(std::size_t n, unsigned format) {
  constexpr std::size_t kSizes[] = {4, 4, 6, 8};
  return n * kSizes[format];
}

Vector vector(Bytes b, unsigned format, double unit = 1) {
  return {number(b, 0, format) * unit, number(b, 1, format) * unit, number(b, 2, format) * unit};
}

// Of a sensor in another world. North-east-down is east-north-up turned by half a turn about the
// line between north and east.
std::optional<inertial::Orientation> orientation(const Quaternion& q, unsigned world) {
  constexpr double kHalf = 0.70710678118654752440;
  if (world == 0x8) return inertial::from_nwu_flu(q);
  if (world != 0x4) return inertial::from_enu_flu(q);
  return inertial::from_enu_flu(
      {-kHalf * (q.x + q.y), kHalf * (q.w + q.z), kHalf * (q.w - q.z), kHalf * (q.y - q.x)});
}

// The largest part first: its square root is exact enough.
Quaternion from_matrix(const std::array<double, 9>& columns) {
  const auto m = [&columns](std::size_t row, std::size_t column) {
    return columns[3 * column + row];
  };
  const double trace = m(0, 0) + m(1, 1) + m(2, 2);
  if (trace > 0) {
    const double s = 2 * std::sqrt(trace + 1);
    return {s / 4, (m(2, 1) - m(1, 2)) / s, (m(0, 2) - m(2, 0)) / s, (m(1, 0) - m(0, 1)) / s};
  }
  if (m(0, 0) >= m(1, 1) && m(0, 0) >= m(2, 2)) {
    const double s = 2 * std::sqrt(1 + m(0, 0) - m(1, 1) - m(2, 2));
    return {(m(2, 1) - m(1, 2)) / s, s / 4, (m(0, 1) + m(1, 0)) / s, (m(0, 2) + m(2, 0)) / s};
  }
  if (m(1, 1) >= m(2, 2)) {
    const double s = 2 * std::sqrt(1 + m(1, 1) - m(0, 0) - m(2, 2));
    return {(m(0, 2) - m(2, 0)) / s, (m(0, 1) + m(1, 0)) / s, s / 4, (m(1, 2) + m(2, 1)) / s};
  }
  const double s = 2 * std::sqrt(1 + m(2, 2) - m(0, 0) - m(1, 1));
  return {(m(1, 0) - m(0, 1)) / s, (m(0, 2) + m(2, 0)) / s, (m(1, 2) + m(2, 1)) / s, s / 4};
}

// The turn of a quaternion as a vector along its axis.
Vector turn_of(const Quaternion& q) {
  const double sine = std::sqrt(q.x * q.x + q.y * q.y + q.z * q.z);
  const double sign = q.w < 0 ? -1 : 1;
  const double factor = sine < 1e-9 ? 2 * sign : 2 * std::atan2(sine, q.w * sign) / sine * sign;
  return {q.x * factor, q.y * factor, q.z * factor};
}

// What is told in several ways is taken in the best of them.
struct Ways {
  unsigned attitude = 0;             // 3 a quaternion, 2 a matrix, 1 angles
  bool accel = false, gyro = false;  // at the usual rate, not the high one
};

void put_attitude(Measurement& m, Ways& ways, unsigned way, const Quaternion& q, unsigned world) {
  if (way < ways.attitude) return;
  ways.attitude = way;
  m.sample.orientation = orientation(q, world);
}

// False: its size is not that of its id.
bool take(unsigned id, Bytes b, double field, Measurement& m, Ways& ways) {
  const unsigned format = id & kNumbers, world = id & kWorld;
  const auto holds = [&](std::size_t n) { return b.size() == size_of_numbers(n, format); };
  switch (id & ~(kNumbers | kWorld)) {
    case 0x1020:
      if (b.size() != 2) return false;
      m.counter = wire::u16be(b, 0);
      return true;
    case 0x1060:
      if (b.size() != 4) return false;
      m.ticks = wire::u32be(b, 0);
      return true;
    case 0x2010:
      if (!holds(4)) return false;
      put_attitude(
          m, ways, 3,
          {number(b, 0, format), number(b, 1, format), number(b, 2, format), number(b, 3, format)},
          world);
      return true;
    case 0x2020: {
      if (!holds(9)) return false;
      std::array<double, 9> columns;
      for (std::size_t i = 0; i < 9; ++i) columns[i] = number(b, i, format);
      put_attitude(m, ways, 2, from_matrix(columns), world);
      return true;
    }
    case 0x2030: {
      if (!holds(3)) return false;
      const Vector a = vector(b, format, kRadPerDeg);
      put_attitude(m, ways, 1, inertial::from_euler(a[0], a[1], a[2]), world);
      return true;
    }
    case 0x4010:
      if (!holds(3)) return false;
      m.sample.delta_velocity = vector(b, format);
      return true;
    case 0x4020:
    case 0x4040: {
      if (!holds(3)) return false;
      const bool usual = (id & 0xF0) == 0x20;
      if (usual || !ways.accel) m.sample.accel = vector(b, format);
      ways.accel |= usual;
      return true;
    }
    case 0x8020:
    case 0x8040: {
      if (!holds(3)) return false;
      const bool usual = (id & 0xF0) == 0x20;
      if (usual || !ways.gyro) m.sample.gyro = vector(b, format);
      ways.gyro |= usual;
      return true;
    }
    case 0x8030:
      if (!holds(4)) return false;
      m.sample.delta_angle = turn_of(
          {number(b, 0, format), number(b, 1, format), number(b, 2, format), number(b, 3, format)});
      return true;
    case 0xC020:
      if (!holds(3)) return false;
      if (field != 0) m.sample.mag = vector(b, format, field);
      return true;
    case 0x0810:
      if (!holds(1)) return false;
      m.sample.temperature = number(b, 0, format);
      return true;
    case 0x3010:
      if (b.size() != 4) return false;
      m.sample.pressure = wire::u32be(b, 0);
      return true;
    case 0xE020:
      if (b.size() != 4) return false;
      m.status = wire::u32be(b, 0);
      return true;
    default:
      m.of_satellites |= id >> 12 == 7;
      return true;
  }
}

}  // namespace

// A message to 01 is answered from there. A short length is not told as a long one, and the items
// of long data have ids that are known to begin with less than F: what looks otherwise is not worth
// a check of so many bytes.
std::size_t Framing::measure(Bytes b) {
  constexpr std::size_t kHead = 4, kLongHead = 6, kCheck = 1, kLeastLong = 255;
  if (wire::u8(b, 0) != 0xFA) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  if (wire::u8(b, 1) != 0xFF && wire::u8(b, 1) != 0x01) return kNotAFrame;
  if (b.size() < kHead) return kNeedMore;
  if (wire::u8(b, 3) != 0xFF) return kHead + wire::u8(b, 3) + kCheck;
  if (b.size() < kLongHead) return kNeedMore;
  const std::size_t n = wire::u16be(b, kHead);
  if (n < kLeastLong || n > kMostData) return kNotAFrame;
  if (b.size() == kLongHead) return kNeedMore;
  const bool is_known = wire::u8(b, 2) != kData || wire::u8(b, kLongHead) < 0xF0;
  return is_known ? kLongHead + n + kCheck : kNotAFrame;
}

bool Framing::intact(Bytes message) { return (wire::sum_of(message.subspan(1)) & 0xFF) == 0; }

Bytes data_of(Bytes message) {
  const std::size_t head = wire::u8(message, 3) == 0xFF ? 6 : 4;
  return message.subspan(head, message.size() - head - 1);
}

void write(Request& request, unsigned kind, Bytes data) {
  const std::size_t at = request.view().size();
  request.u8(0xFA).u8(0xFF).u8(kind).u8(static_cast<unsigned>(data.size())).bytes(data);
  request.u8(-wire::sum_of(request.view().subspan(at + 1)) & 0xFF);
}

bool Measurement::carries_anything() const {
  const ImuSample& s = sample;
  return s.accel || s.gyro || s.orientation || s.mag || s.pressure || s.temperature ||
         s.delta_velocity || s.delta_angle;
}

bool measured(Bytes data, double field, Measurement& into) {
  Ways ways;
  while (!data.empty()) {
    if (data.size() < 3) return false;
    const std::size_t size = wire::u8(data, 2);
    if (size > data.size() - 3) return false;
    if (!take(wire::u16be(data, 0), data.subspan(3, size), field, into, ways)) return false;
    data = data.subspan(3 + size);
  }
  return inertial::is_sensible(into.sample, {});
}

std::int64_t Ticks::unwrapped_ns(std::uint32_t ticks, Wrap wrap) {
  constexpr std::uint64_t kDay = 864'000'000, kBits32 = std::uint64_t{1} << 32;
  constexpr std::uint64_t kNear = 600'000;  // a minute
  constexpr std::uint32_t kLate = 5000;     // half a second
  const std::uint32_t before = newest_.value_or(ticks);
  if (ticks < before) {
    const auto wraps_at = [&](std::uint64_t modulus, Wrap other) {
      return wrap != other && before < modulus && before + kNear >= modulus && ticks <= kNear;
    };
    if (wraps_at(kDay, Wrap::bits32)) {
      wrapped_ += static_cast<std::int64_t>(kDay);
    } else if (wraps_at(kBits32, Wrap::day)) {
      wrapped_ += static_cast<std::int64_t>(kBits32);
    } else if (before - ticks <= kLate) {
      return (wrapped_ + ticks) * kTick;  // it came late
    } else {
      wrapped_ = 0;
    }
  }
  newest_ = ticks;
  return (wrapped_ + ticks) * kTick;
}

}  // namespace drivers::xsens
