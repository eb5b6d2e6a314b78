// Frames and packets of HiPNUC sensors.
#include <array>
#include <cmath>

#include "drivers/hipnuc/hipnuc.h"
#include "drivers/inertial.h"
#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers::hipnuc {
namespace {

using inertial::kRadPerDeg;
using inertial::Vector;

constexpr std::size_t kLongestLine = 96, kShortestLine = 4;  // "OK" with its end
constexpr double kTesla = 1e-6;                              // of a uT
constexpr std::int64_t kMillisecond = 1'000'000, kMicrosecond = 1000;
constexpr std::int64_t kWeek = 604'800'000 * kMillisecond;
constexpr std::int64_t kLargestMicroseconds = std::int64_t{1} << 50;  // 36 years
// Of integers.
constexpr double kRate = 0.001, kAccel = 0.0048828, kField = 0.030517 * kTesla, kTurn = 0.0001;
constexpr double kPressureAt0 = 100'000;

Vector floats(Bytes b, std::size_t at, double unit) {
  return inertial::from_rfu(
      {wire::f32(b, at) * unit, wire::f32(b, at + 4) * unit, wire::f32(b, at + 8) * unit});
}

Vector integers(Bytes b, std::size_t at, double unit) {
  return inertial::from_rfu(
      {wire::i16(b, at) * unit, wire::i16(b, at + 2) * unit, wire::i16(b, at + 4) * unit});
}

// Models without a magnetometer send zeros.
void put_field(ImuSample& sample, const Vector& field) {
  if (field != Vector{}) sample.mag = field;
}

void put_attitude(ImuSample& sample, Bytes b, std::size_t at) {
  sample.orientation = inertial::from_enu_rfu(
      {wire::f32(b, at), wire::f32(b, at + 4), wire::f32(b, at + 8), wire::f32(b, at + 12)});
}

void put_small_attitude(ImuSample& sample, Bytes b, std::size_t at) {
  sample.orientation =
      inertial::from_enu_rfu({wire::i16(b, at) * kTurn, wire::i16(b, at + 2) * kTurn,
                              wire::i16(b, at + 4) * kTurn, wire::i16(b, at + 6) * kTurn});
}

void read_91(Bytes p, double gravity, Reading& into) {
  ImuSample& s = into.sample;
  s.temperature = static_cast<std::int8_t>(wire::u8(p, 3));
  if (const float pascals = wire::f32(p, 4); pascals != 0) s.pressure = pascals;
  into.clock_ns = wire::u32(p, 8) * kMillisecond;
  s.accel = floats(p, 12, gravity);
  s.gyro = floats(p, 24, kRadPerDeg);
  put_field(s, floats(p, 36, kTesla));
  put_attitude(s, p, 60);
}

void read_92(Bytes p, Reading& into) {
  ImuSample& s = into.sample;
  s.temperature = static_cast<std::int8_t>(wire::u8(p, 3));
  s.pressure = kPressureAt0 + wire::i16(p, 6);
  s.gyro = integers(p, 10, kRate);
  s.accel = integers(p, 16, kAccel);
  put_field(s, integers(p, 22, kField));
  put_small_attitude(s, p, 40);
}

// Without satellites week and time are 0.
void read_81(Bytes p, Reading& into) {
  ImuSample& s = into.sample;
  const std::int64_t week = wire::u16(p, 4), of_week = wire::u32(p, 6);
  if (week != 0 || of_week != 0) into.clock_ns = week * kWeek + of_week * kMillisecond;
  s.gyro = integers(p, 12, kRate);
  s.accel = integers(p, 18, kAccel);
  put_field(s, integers(p, 24, kField));
  s.pressure = kPressureAt0 + wire::i16(p, 30);
  s.temperature = static_cast<std::int8_t>(wire::u8(p, 34));
  put_small_attitude(s, p, 48);
}

// By bit of its map; 0: not known.
constexpr std::array<std::uint8_t, 32> kSizes83{12, 12, 12, 12, 16, 8, 8, 4, 4,  12, 12,
                                                12, 12, 12, 24, 4,  4, 4, 4, 4,  0,  0,
                                                0,  0,  0,  0,  0,  0, 0, 0, 24, 12};

bool read_83(Bytes p, Reading& into) {
  if (p.size() < 8) return false;
  ImuSample& s = into.sample;
  const std::uint32_t map = wire::u32(p, 4);
  std::size_t at = 8;
  for (unsigned bit = 0; bit < kSizes83.size(); ++bit) {
    if ((map >> bit & 1) == 0) continue;
    const std::size_t size = kSizes83[bit];
    if (size == 0 || at + size > p.size()) return false;
    if (bit == 0) s.accel = floats(p, at, 1);
    if (bit == 1) s.gyro = floats(p, at, 1);
    if (bit == 2) put_field(s, floats(p, at, kTesla));
    if (bit == 4) put_attitude(s, p, at);
    if (bit == 5) {
      const std::uint64_t us = wire::u64(p, at);
      if (us > kLargestMicroseconds) return false;
      into.clock_ns = static_cast<std::int64_t>(us) * kMicrosecond;
    }
    if (bit == 7) s.pressure = wire::f32(p, at);
    if (bit == 8) s.temperature = wire::f32(p, at);
    at += size;
  }
  into.measures = s.accel || s.gyro || s.orientation || s.mag || s.pressure || s.temperature;
  return at == p.size();
}

}  // namespace

std::size_t Framing::measure(Bytes b) const {
  if (wire::u8(b, 0) == 0x5A) {
    if (b.size() < 2) return kNeedMore;
    if (wire::u8(b, 1) == 0xA5) {
      if (b.size() < 4) return kNeedMore;
      const std::size_t n = wire::u16(b, 2);
      return n == 0 || n > kMaxFrame - kHead ? kNotAFrame : n + kHead;
    }
  }
  if (!lines) return kNotAFrame;
  const std::size_t n = measure_line(b, kLongestLine);
  return n == kNeedMore || n >= kShortestLine ? n : kNotAFrame;
}

bool Framing::intact(Bytes frame) const {
  if (wire::u8(frame, 0) != 0x5A || wire::u8(frame, 1) != 0xA5) return true;  // a line
  return wire::crc16(frame.subspan(kHead), wire::crc16(frame.first(4))) == wire::u16(frame, 4);
}

bool read(Bytes p, double gravity, Reading& into) {
  constexpr std::size_t kSize91 = 76, kSize92 = 48, kSize81 = 104;
  into.measures = true;
  switch (wire::u8(p, 0)) {
    case 0x91:
      if (p.size() != kSize91) return false;
      read_91(p, gravity, into);
      break;
    case 0x92:
      if (p.size() != kSize92) return false;
      read_92(p, into);
      break;
    case 0x81:
      if (p.size() != kSize81) return false;
      read_81(p, into);
      break;
    case 0x83:
      if (!read_83(p, into)) return false;
      break;
    default:
      into.measures = false;
  }
  return inertial::is_sensible(into.sample, {});
}

std::optional<hal::Duration> PeriodOfSteps::step_to(std::int64_t clock_ns) {
  constexpr std::int64_t kSecond = 1000 * kMillisecond;
  const std::int64_t step = clock_ns - std::exchange(newest_, clock_ns);
  if (!from_ || step < 0 || step > 2 * kSecond) {
    from_ = clock_ns;
    steps_ = 0;
    return std::nullopt;
  }
  shortest_ = steps_ == 0 ? step : std::min(shortest_, step);
  longest_ = steps_ == 0 ? step : std::max(longest_, step);
  ++steps_;
  const std::int64_t span = clock_ns - *from_;
  if (span < kSecond) return std::nullopt;
  const std::int64_t steps = std::exchange(steps_, 0);
  from_ = clock_ns;
  if (longest_ > shortest_ + kMillisecond) return std::nullopt;
  const double hz = static_cast<double>(steps) / hal::to_seconds(hal::Duration(span));
  const double whole = std::round(hz);
  const bool is_whole = std::abs(hz - whole) < 0.003 * hz;
  return hal::from_seconds(1 / (is_whole ? whole : hz));
}

}  // namespace drivers::hipnuc
