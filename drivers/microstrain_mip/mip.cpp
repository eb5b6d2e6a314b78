#include "drivers/microstrain_mip/mip.h"

#include <cmath>

#include "drivers/inertial.h"

namespace drivers::mip {
namespace {

using inertial::kGravity;
using inertial::Vector;

constexpr unsigned kAnswer = 0xF1;
constexpr std::int64_t kLargestStamp = std::int64_t{1} << 60;  // 36 years

// Eight bytes at a time: the second sum takes the first one eight times, and each byte as often as
// it would be in it. The highest lane of a product is the sum of the lanes, each with its factor.
std::uint16_t sums(Bytes b) {
  constexpr std::uint64_t kBytes = 0x00FF'00FF'00FF'00FF, kOnce = 0x0001'0001'0001'0001;
  constexpr std::uint64_t kEven = 0x0008'0006'0004'0002, kOdd = 0x0007'0005'0003'0001;
  unsigned first = 0, second = 0;
  std::size_t at = 0;
  for (; at + 8 <= b.size(); at += 8) {
    const std::uint64_t x = wire::u64(b, at), even = x & kBytes, odd = x >> 8 & kBytes;
    second += 8 * first + static_cast<unsigned>((even * kEven >> 48) + (odd * kOdd >> 48));
    first += static_cast<unsigned>((even + odd) * kOnce >> 48);
  }
  for (; at < b.size(); ++at) second += first += wire::u8(b, at);
  return static_cast<std::uint16_t>((first & 0xFF) << 8 | (second & 0xFF));
}

bool take(std::optional<Vector>& into, Bytes b, double unit) {
  into = inertial::from_frd(
      {wire::f32be(b, 0) * unit, wire::f32be(b, 4) * unit, wire::f32be(b, 8) * unit});
  return true;
}

bool take_attitude(Measurement& m, Bytes b) {
  const inertial::Quaternion q{wire::f32be(b, 0), wire::f32be(b, 4), wire::f32be(b, 8),
                               wire::f32be(b, 12)};
  m.sample.orientation = inertial::from_ned_frd(q);
  return std::isfinite(q.w + q.x + q.y + q.z);
}

bool take_other_attitude(Measurement& m, const inertial::Quaternion& q) {
  m.other_attitude = inertial::from_ned_frd(q);
  return std::isfinite(q.w + q.x + q.y + q.z);
}

bool take_euler(Measurement& m, Bytes b) {
  return take_other_attitude(
      m, inertial::from_euler(wire::f32be(b, 0), wire::f32be(b, 4), wire::f32be(b, 8)));
}

// Row by row; it turns vectors of the world into vectors of the body.
bool take_matrix(Measurement& m, Bytes b) {
  std::array<double, 9> body_from_world{};
  for (std::size_t i = 0; i < 9; ++i) body_from_world[i] = wire::f32be(b, 4 * i);
  return take_other_attitude(m, inertial::from_matrix(body_from_world));
}

bool take_interval(Measurement& m, double seconds) {
  if (!(seconds >= 0 && seconds < 10)) return false;
  m.sample.interval = hal::from_seconds(seconds);
  return true;
}

bool take_reference(Measurement& m, Bytes b) {
  m.reference_ns = static_cast<std::int64_t>(wire::u64be(b, 0));
  return *m.reference_ns >= 0 && *m.reference_ns <= kLargestStamp;
}

bool take_week_time(Measurement& m, Bytes b) {
  const double seconds = wire::f64be(b, 0);
  if (seconds >= 0 && seconds < 604'800) m.week_ns = std::llround(seconds * 1e9);
  return true;
}

// 0xD3 is flagged; a GX5 without GPS sends its own time in 0x12 without any flag.
bool take_flagged_time(Measurement& m, Bytes b) {
  return (wire::u16be(b, 10) & 1) == 0 || take_week_time(m, b);
}

struct Reading {
  unsigned set;  // 0: either
  unsigned descriptor;
  std::size_t size;
  bool (*take)(Measurement&, Bytes);  // false: makes no sense
};

// Fields of the filter end in flags, 0 where they are not valid yet. Its linear acceleration, 0x0D,
// is left out: gravity has been removed from it.
constexpr std::array kReadings{
    Reading{kSensorSet, kAccel, 12,
            [](auto& m, Bytes b) { return take(m.sample.accel, b, kGravity); }},
    Reading{kSensorSet, kGyro, 12, [](auto& m, Bytes b) { return take(m.sample.gyro, b, 1); }},
    Reading{kSensorSet, kMag, 12, [](auto& m, Bytes b) { return take(m.sample.mag, b, 1e-4); }},
    Reading{kSensorSet, kDeltaAngle, 12,
            [](auto& m, Bytes b) { return take(m.sample.delta_angle, b, 1); }},
    Reading{kSensorSet, kDeltaVelocity, 12,
            [](auto& m, Bytes b) { return take(m.sample.delta_velocity, b, kGravity); }},
    Reading{kSensorSet, kMatrix, 36, take_matrix},
    Reading{kSensorSet, kAttitude, 16, take_attitude},
    Reading{kSensorSet, kEuler, 12, take_euler},
    Reading{kSensorSet, kGpsTime, 12, take_week_time},
    Reading{kSensorSet, kTemperature, 12,
            [](auto& m, Bytes b) { return m.sample.temperature = wire::f32be(b, 8), true; }},
    Reading{kSensorSet, kPressure, 4,
            [](auto& m, Bytes b) { return m.sample.pressure = wire::f32be(b, 0) * 100.0, true; }},
    Reading{kFilterSet, kFilterAttitude, 18, take_attitude},
    Reading{kFilterSet, kFilterMatrix, 38, take_matrix},
    Reading{kFilterSet, kFilterEuler, 14, take_euler},
    Reading{kFilterSet, 0x0E, 14, [](auto& m, Bytes b) { return take(m.sample.gyro, b, 1); }},
    Reading{kFilterSet, 0x1C, 14, [](auto& m, Bytes b) { return take(m.sample.accel, b, 1); }},
    Reading{0, kWeekTime, 12, take_flagged_time},
    Reading{0, 0xD4, 8, [](auto& m, Bytes b) { return take_interval(m, wire::f64be(b, 0)); }},
    Reading{0, kReference, 8, take_reference},
    Reading{0, 0xD6, 8,
            [](auto& m, Bytes b) {
              return take_interval(m, 1e-9 * static_cast<double>(wire::u64be(b, 0)));
            }},
};

// Of a set, by descriptor: 1 + which of the readings it is; 0: none.
using Places = std::array<std::uint8_t, 256>;

constexpr Places places_of(unsigned set) {
  Places places{};
  for (std::size_t i = 0; i < kReadings.size(); ++i) {
    if (kReadings[i].set != 0 && kReadings[i].set != set) continue;
    places[kReadings[i].descriptor] = static_cast<std::uint8_t>(i + 1);
  }
  return places;
}
constexpr Places kOfSensor = places_of(kSensorSet), kOfFilter = places_of(kFilterSet), kOfOther{};

bool read(const Places& places, unsigned descriptor, Bytes data, Measurement& into) {
  if (places[descriptor] == 0) return true;
  const Reading& reading = kReadings[places[descriptor] - 1U];
  if (data.size() != reading.size) return false;
  const bool flagged = reading.set == kFilterSet;
  const bool valid = !flagged || (wire::u16be(data, data.size() - 2) & 1) != 0;
  return !valid || reading.take(into, data);
}

}  // namespace

std::size_t Framing::measure(Bytes b) {
  if (wire::u8(b, 0) != 0x75) return kNotAFrame;
  if (b.size() > 1 && wire::u8(b, 1) != 0x65) return kNotAFrame;
  return b.size() < 4 ? kNeedMore : wire::u8(b, 3) + std::size_t{6};
}

bool Framing::intact(Bytes frame) {
  const std::size_t n = frame.size() - 2;
  return sums(frame.first(n)) == wire::u16be(frame, n);
}

Bytes field_of(Bytes packet, unsigned wanted) {
  Bytes found;
  each_field(packet, [&](unsigned descriptor, Bytes data) {
    if (descriptor == wanted) found = data;
    return descriptor != wanted;
  });
  return found;
}

std::optional<unsigned> code_of(Bytes packet, unsigned set, unsigned command) {
  std::optional<unsigned> code;
  if (set_of(packet) != set) return code;
  each_field(packet, [&](unsigned descriptor, Bytes data) {
    const bool answer = descriptor == kAnswer && data.size() == 2;
    if (answer && wire::u8(data, 0) == command) code = wire::u8(data, 1);
    return true;
  });
  return code;
}

void write(Request& request, unsigned set, unsigned descriptor,
           std::span<const std::uint8_t> data) {
  const auto n = static_cast<unsigned>(data.size() + 2);
  request.u8(0x75).u8(0x65).u8(set).u8(n).u8(n).u8(descriptor).bytes(std::as_bytes(data));
  request.u16be(sums(request.view()));
}

bool Measurement::carries_anything() const {
  const ImuSample& s = sample;
  return s.accel || s.gyro || s.orientation || s.mag || s.pressure || s.temperature ||
         s.delta_velocity || s.delta_angle;
}

bool measured(Bytes packet, Measurement& into) {
  const unsigned set = set_of(packet);
  const Places& places = set == kSensorSet ? kOfSensor : set == kFilterSet ? kOfFilter : kOfOther;
  return each_field(packet, [&](unsigned descriptor,
                                Bytes data) { return read(places, descriptor, data, into); }) &&
         inertial::is_sensible(into.sample, {});
}

}  // namespace drivers::mip
