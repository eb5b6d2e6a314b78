#include "drivers/inertial_labs/readings.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "drivers/inertial.h"
#include "drivers/wire.h"

namespace drivers::inertial_labs {
namespace {

using inertial::Vector;

constexpr unsigned kRawImu = 0x66;

// Bytes of each type of reading; 0: not known, and what follows it cannot be found.
constexpr auto kSizes = [] {
  std::array<std::uint8_t, 256> sizes{};
  const auto of = [&sizes](std::uint8_t size, std::initializer_list<unsigned> types) {
    for (const unsigned type : types) sizes[type] = size;
  };
  of(1, {0x2A, 0x38, 0x39, 0x3A, 0x3B, 0x41, 0x54, 0x56, 0x5E, 0x9A, 0xA4, 0xC0, 0xC2, 0xD0, 0xF5,
         0xFE});
  of(2, {0x0D, 0x15, 0x19, 0x36, 0x3C, 0x3D, 0x45, 0x47, 0x49, 0x4A, 0x4F, 0x50,
         0x51, 0x52, 0x53, 0x5A, 0x61, 0x65, 0x85, 0x86, 0x87, 0x88, 0x89, 0x8B,
         0x8C, 0x8D, 0x99, 0xA1, 0xC4, 0xD1, 0xF0, 0xF1, 0xF2, 0xFF});
  of(3, {0x55, 0x58});
  of(4, {0x01, 0x13, 0x14, 0x16, 0x17, 0x18, 0x28, 0x33, 0x35, 0x3E, 0x3F, 0x40, 0x43, 0x44, 0x4E,
         0x59, 0x5C, 0x60, 0x69, 0x80, 0x81, 0x82, 0x83, 0x84, 0xC1, 0xD4, 0xD5, 0xF4, 0xF7});
  of(6, {0x07, 0x0E, 0x20, 0x22, 0x24, 0x25, 0x34, 0x48, 0x57, 0x66, 0x6C, 0x8A, 0xA3, 0xAF, 0xD2});
  of(7, {0x26, 0x68});
  of(8, {0x02, 0x03, 0x09, 0x37, 0x62, 0x6B, 0xA2, 0xD3});
  of(9, {0x04, 0xB2});
  of(10, {0x32, 0x42, 0xF3});
  of(12, {0x08, 0x10, 0x12, 0x1B, 0x1D, 0x1E, 0x21, 0x23, 0x27, 0x29, 0x2C, 0x30, 0x6A, 0x97, 0x98,
          0xB0, 0xB1});
  of(14, {0x6E});
  of(16, {0x0A, 0x64});
  of(20, {0x11, 0x31, 0x63, 0xA5, 0xA6, 0xA7, 0xA8, 0xA9, 0xAA, 0xAB, 0xAC, 0xAD, 0xAE});
  of(24, {0x5F, 0x67});
  of(36, {0x2B});
  return sizes;
}();

struct FixedSet {
  unsigned code;
  std::string_view types;
};
using namespace std::string_view_literals;
constexpr std::array kFixedSets{
    FixedSet{kOrientation, "\x07\x20\x22\x24\xFF\xFF\x53\x50\x52"sv},
    FixedSet{0x50, "\x07\x20\x22\x24\xFF\xFF\x53\x50\x52\x30\x34\x32\x01\xF3\xF0\xF4\x41\xFE"sv},
    FixedSet{0x52, "\x07\x20\x22\x24\x53\x50\x52\x10\x12\x30\x32\x01\x36\x3B\xF0\x25\x41"sv},
    FixedSet{0x56, "\x09\x20\x22\x24\x53\x50\x52\x10\x12\x30\x32\x01\x36\x3B\xF0\x25\x41"sv},
    FixedSet{0x57,
             "\x07\x20\x22\x24\x53\x50\x52\x10\x12\x30\x32\x01\x36\x3B\x3D\x3A\xF2\xF1\xF7"
             "\x25\x41"sv},
    FixedSet{0x58,
             "\x07\x21\x23\x24\x53\x50\x52\x11\x12\x31\x32\x01\x36\x3B\x3D\x3A\xF2\xF1\xF7"
             "\x25\x41"sv},
    FixedSet{0x59,
             "\x07\x20\x22\x24\x53\x50\x52\x10\x12\x30\x32\x01\x3C\x36\x3B\xF0\x3A\x33\x35"
             "\x25\x41"sv},
    FixedSet{0x61,
             "\x07\x21\x23\x24\x53\x50\x52\x11\x12\x31\x32\x01\x36\x3B\xF0\x3A\xF2\xF1\x25"
             "\x41\x60\x61\x62\x63\x64\x65"sv},
    FixedSet{kRawImu, "\x02\x03\x21\x23\x53\x08\x11\x12\x36\x3B\x41"sv},
};

Vector i16s(Bytes b, double unit) {
  return inertial::from_rfu(
      {wire::i16(b, 0) * unit, wire::i16(b, 2) * unit, wire::i16(b, 4) * unit});
}
Vector i32s(Bytes b, double unit) {
  return inertial::from_rfu(
      {wire::i32(b, 0) * unit, wire::i32(b, 4) * unit, wire::i32(b, 8) * unit});
}

// Heading is clockwise from North, roll and pitch are an aircraft's; rad.
std::optional<inertial::Orientation> from_angles(double heading, double pitch, double roll) {
  return inertial::from_ned_frd(inertial::from_euler(roll, pitch, heading));
}

// `coarse`: the units of 32 bit are ten and a hundred times as large.
void take(unsigned type, Bytes b, bool coarse, const Scales& scales, Readings& into) {
  using inertial::kRadPerDeg;
  ImuSample& s = into.sample;
  switch (type) {
    case 0x01:
      if (!into.week_ns) into.week_ns = std::int64_t{wire::u32(b, 0)} * 1'000'000;
      break;
    case 0x02:
      if (!into.week_ns) into.week_ns = static_cast<std::int64_t>(wire::u64(b, 0));
      break;
    case 0x03:
      into.week_ns = static_cast<std::int64_t>(wire::u64(b, 0));
      break;
    case 0x07:
      if (s.orientation) break;
      s.orientation =
          from_angles(wire::u16(b, 0) * 0.01 * kRadPerDeg, wire::i16(b, 2) * 0.01 * kRadPerDeg,
                      wire::i16(b, 4) * 0.01 * kRadPerDeg);
      break;
    case 0x08:
      if (s.orientation) break;
      s.orientation =
          from_angles(wire::u32(b, 0) * 0.001 * kRadPerDeg, wire::i32(b, 4) * 0.001 * kRadPerDeg,
                      wire::i32(b, 8) * 0.001 * kRadPerDeg);
      break;
    case 0x09:
      s.orientation = inertial::from_enu_rfu({wire::i16(b, 0) * 1e-4, wire::i16(b, 2) * 1e-4,
                                              wire::i16(b, 4) * 1e-4, wire::i16(b, 6) * 1e-4});
      break;
    case 0x0A:
      s.orientation = inertial::from_enu_rfu({wire::i32(b, 0) * 1e-6, wire::i32(b, 4) * 1e-6,
                                              wire::i32(b, 8) * 1e-6, wire::i32(b, 12) * 1e-6});
      break;
    case 0x20:
      s.gyro = i16s(b, kRadPerDeg / scales.gyro);
      break;
    case 0x21:
      s.gyro = i32s(b, kRadPerDeg * (coarse ? 1e-4 : 1e-5));
      break;
    case 0x22:
      s.accel = i16s(b, scales.gravity / scales.accel);
      break;
    case 0x23:
      s.accel = i32s(b, scales.gravity * (coarse ? 1e-4 : 1e-6));
      break;
    case 0x24:
      s.mag = i16s(b, 1e-8);
      break;
    case 0x25:
      s.pressure = wire::u16(b, 0) * 2.0;
      break;
    case 0x52:
      s.temperature = wire::i16(b, 0) * 0.1;
      break;
    case 0x53:
      into.status = wire::u16(b, 0);
      break;
    default:  // readings that nobody here wants
      break;
  }
}

}  // namespace

bool has_readings(unsigned code) {
  return code == kUserDefined || std::ranges::count(kFixedSets, code, &FixedSet::code) > 0;
}

bool read(unsigned code, Bytes content, const Scales& scales, Readings& into) {
  Bytes types, data = content;
  if (code == kUserDefined) {
    const std::size_t n = content.empty() ? 0 : wire::u8(content, 0);
    if (n == 0 || n >= content.size()) return false;
    types = content.subspan(1, n);
    data = content.subspan(1 + n);
  } else {
    types = std::as_bytes(std::span(std::ranges::find(kFixedSets, code, &FixedSet::code)->types));
  }
  for (const std::byte byte : types) {
    const auto type = std::to_integer<unsigned>(byte);
    const std::size_t size = kSizes[type];
    if (size == 0 || size > data.size()) return false;
    take(type, data.first(size), code == kRawImu, scales, into);
    data = data.subspan(size);
  }
  return data.empty();
}

}  // namespace drivers::inertial_labs
