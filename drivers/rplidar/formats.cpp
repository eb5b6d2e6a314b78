#include "drivers/rplidar/formats.h"

#include <algorithm>

#include "drivers/wire.h"
#include "hal/crc32.h"

namespace drivers::rplidar {
namespace {

constexpr std::array kFormats{
    Format{Answer::standard, 5, 1, true, 508},   Format{Answer::express, 84, 32, false, 254},
    Format{Answer::hq, 781, 96, true, 62.5},     Format{Answer::ultra, 132, 96, false, 127},
    Format{Answer::dense, 84, 40, false, 31.25}, Format{Answer::ultra_dense, 170, 64, true, 31.25},
};

std::size_t start_at(const Format& format) { return format.answer == Answer::ultra_dense ? 8 : 2; }

void decode_express(Bytes capsule, double start, double step, std::span<Beam> beams) {
  for (std::size_t i = 0; i < 16; ++i) {
    const std::size_t at = 4 + 5 * i;
    const unsigned a = wire::u16(capsule, at), b = wire::u16(capsule, at + 2);
    const unsigned offsets = wire::u8(capsule, at + 4);
    const unsigned first = (offsets & 15) | (a & 3) << 4, second = offsets >> 4 | (b & 3) << 4;
    const double nominal = start + step * static_cast<double>(2 * i);
    beams[2 * i] = beam(nominal - first / 8.0, (a >> 2), 0);
    beams[2 * i + 1] = beam(nominal + step - second / 8.0, (b >> 2), 0);
  }
}

// Long distances lose low bits: {mm, number of bits that were cut}.
struct Major {
  int mm, level;
};

Major major_of(Bytes capsule, std::size_t cabin) {
  const int coded = wire::u16(capsule, 4 + 4 * cabin) & 0xFFF;
  if (coded < 512) return {coded, 0};
  if (coded < 1280) return {512 + (coded - 512) * 2, 1};
  if (coded < 1792) return {2048 + (coded - 1280) * 4, 2};
  if (coded < 3328) return {4096 + (coded - 1792) * 8, 3};
  return {16384 + (coded - 3328) * 16, 4};
}

int signed10(std::uint32_t bits) {
  const int v = static_cast<int>(bits & 0x3FF);
  return v < 512 ? v : v - 1024;
}

int predicted(Major base, int difference) {
  if (difference == -512 || difference == 511) return 0;
  return std::max(0, base.mm + difference * (1 << base.level));
}

// Degrees by which the beam lags the nominal angle: the emitter stands beside the axis.
double ultra_offset(int mm) {
  const int quarters = 4 * mm;
  if (quarters < 200) return 7.5;
  const int k = 98361 / quarters;
  const int k3 = static_cast<int>(std::int64_t{k} * k * k / 98304);
  return (9150 - 64 * k - k3) / (kRadPerDeg * 65536);
}

void decode_ultra(Bytes capsule, Bytes next, double start, double step, std::span<Beam> beams) {
  for (std::size_t i = 0; i < 32; ++i) {
    const std::uint32_t cabin = wire::u32(capsule, 4 + 4 * i);
    const Major first = major_of(capsule, i);
    const Major second = i + 1 < 32 ? major_of(capsule, i + 1) : major_of(next, 0);
    const Major base = first.mm == 0 && second.mm != 0 ? second : first;
    const std::array mm{first.mm, predicted(base, signed10(cabin >> 12)),
                        predicted(second, signed10(cabin >> 22))};
    for (std::size_t j = 0; j < 3; ++j) {
      const double nominal = start + step * static_cast<double>(3 * i + j);
      beams[3 * i + j] = beam(nominal - ultra_offset(mm[j]), mm[j], 0);
    }
  }
}

void decode_dense(Bytes capsule, double start, double step, std::span<Beam> beams) {
  for (std::size_t i = 0; i < 40; ++i) {
    beams[i] = beam(start + step * static_cast<double>(i), wire::u16(capsule, 4 + 2 * i), 0);
  }
}

// 20 bits: a scale, a distance in steps of 2 to 5 mm, a quality in what is left.
Beam ultra_dense_beam(double angle, std::uint32_t v) {
  switch (v & 3) {
    case 0:
      return beam(angle, (v & 0xFFC) / 4 * 2, v >> 12);
    case 1:
      return beam(angle, (v & 0x1FFC) / 4 * 3 + 2046, v >> 13 << 1);
    case 2:
      return beam(angle, (v & 0x3FFC) / 4 * 4 + 8187, v >> 14 << 2);
    default:
      return beam(angle, (v & 0x7FFC) / 4 * 5 + 24567, v >> 15 << 3);
  }
}

void decode_ultra_dense(Bytes capsule, double start, double step, std::span<Beam> beams) {
  for (std::size_t i = 0; i < 32; ++i) {
    const std::size_t at = 10 + 5 * i;
    const std::uint32_t high = wire::u8(capsule, at + 4);
    const double nominal = start + step * static_cast<double>(2 * i);
    beams[2 * i] = ultra_dense_beam(nominal, wire::u16(capsule, at) | (high & 15) << 16);
    beams[2 * i + 1] =
        ultra_dense_beam(nominal + step, wire::u16(capsule, at + 2) | (high >> 4) << 16);
  }
}

}  // namespace

const Format* find_format(unsigned answer) {
  const auto found = std::ranges::find(kFormats, static_cast<Answer>(answer), &Format::answer);
  return found == kFormats.end() ? nullptr : &*found;
}

bool may_start(const Format& format, Bytes b) {
  switch (format.answer) {
    case Answer::standard:
      return may_be_node(b);
    case Answer::hq:
      return wire::u8(b, 0) == 0xA5;
    case Answer::express:
    case Answer::ultra:
    case Answer::dense:
    case Answer::ultra_dense:
      return wire::u8(b, 0) >> 4 == 0xA && wire::u8(b, 1) >> 4 == 0x5;
  }
  return false;
}

bool is_plausible(const Format& format, Bytes b) {
  if (format.answer != Answer::hq) return true;
  const std::size_t end = std::min(b.size(), format.bytes - 4);
  for (std::size_t at = 9; at + 8 <= end; at += 8) {
    const bool is_far = wire::u8(b, at + 5) != 0;  // kilometres
    if (is_far || wire::u8(b, at + 7) > 3) return false;
  }
  return true;
}

bool is_intact(const Format& format, Bytes frame) {
  switch (format.answer) {
    case Answer::standard:
      return true;  // may_start() is all the check there is
    case Answer::hq: {
      constexpr std::array<std::byte, 3> kPadding{};
      const std::size_t end = format.bytes - 4;
      hal::Crc32 crc;
      crc.add(frame.first(end));
      crc.add(kPadding);
      return crc.value() == wire::u32(frame, end);
    }
    case Answer::express:
    case Answer::ultra:
    case Answer::dense:
    case Answer::ultra_dense:
      return wire::xor8(frame.subspan(2)) ==
             ((wire::u8(frame, 0) & 15) | (wire::u8(frame, 1) & 15) << 4);
  }
  return false;
}

double angle_of(const Format& format, Bytes frame) {
  if (format.answer == Answer::standard) return node_angle(frame) / 64.0;
  if (format.answer == Answer::hq) return wire::u16(frame, 9) * 90.0 / 16384;
  return (wire::u16(frame, start_at(format)) & 0x7FFF) / 64.0;
}

bool has_start_flag(const Format& format, Bytes frame) {
  if (format.answer == Answer::standard) return wire::u8(frame, 0) & 1;
  return wire::u16(frame, start_at(format)) >> 15;
}

std::size_t decode_hq(Bytes frame, std::span<Beam> beams) {
  std::size_t turn_at = kMostSamples;
  for (std::size_t i = kMostSamples; i-- > 0;) {
    const std::size_t at = 9 + 8 * i;
    beams[i] = beam(wire::u16(frame, at) * 90.0 / 16384, wire::u32(frame, at + 2) / 4.0,
                    wire::u8(frame, at + 6));
    if ((wire::u8(frame, at + 7) & 1) != 0) turn_at = i;
  }
  return turn_at;
}

void decode_capsule(const Format& format, Bytes capsule, Bytes next, double step,
                    std::span<Beam> beams) {
  const double start = angle_of(format, capsule);
  switch (format.answer) {
    case Answer::express:
      return decode_express(capsule, start, step, beams);
    case Answer::ultra:
      return decode_ultra(capsule, next, start, step, beams);
    case Answer::dense:
      return decode_dense(capsule, start, step, beams);
    case Answer::ultra_dense:
      return decode_ultra_dense(capsule, start, step, beams);
    case Answer::standard:
    case Answer::hq:
      return;
  }
}

}  // namespace drivers::rplidar
