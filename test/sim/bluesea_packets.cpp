#include "test/sim/bluesea_packets.h"

#include <cmath>

#include "test/sim/wire.h"

namespace sim::bluesea {
namespace {

constexpr std::uint64_t kDeviceId = 7;
constexpr std::int64_t kNsPerMs = 1'000'000, kNsPerS = 1'000'000'000, kMsPerHour = 3'600'000;
constexpr std::int64_t kUnixInNtp = 2'208'988'800;  // s from 1900 to 1970

unsigned code_of(Format format) {
  switch (format) {
    case Format::ce:
    case Format::ce_packed:
      return 0xFACE;
    case Format::cf:
      return 0xFACF;
    case Format::df:
      return 0xFADF;
    case Format::c7:
      return 0xFAC7;
    case Format::aa:
      return 0xFAAA;
    case Format::x99:
      return 0xFA99;
  }
  return 0;
}

std::uint64_t rounded(double value) { return static_cast<std::uint64_t>(std::lround(value)); }

double step_of(const FanPart& part) { return kFanDegrees / static_cast<double>(part.fan_points); }

double begin_of(const FanPart& part) { return kFanDegrees * static_cast<double>(part.fan); }

std::uint64_t flags_of(const FanPart& part) {
  return (part.is_mm ? 1U : 0U) | (part.has_energy ? 2U : 0U);
}

void put_zeros(ByteVector& to, std::size_t bytes) { to.resize(to.size() + bytes); }

void put_hour_stamp(ByteVector& to, const FanPart& part) {
  put_le(to, static_cast<std::uint64_t>(part.stamp_ns / kNsPerMs % kMsPerHour), 4);
  put_le(to, kDeviceId, 4);
}

// The part of the header that is common to the formats of 0.001 degrees.
void put_sector_head(ByteVector& to, const FanPart& part) {
  put_le(to, part.fan_points, 2);
  put_le(to, part.offset, 2);
  put_le(to, rounded(begin_of(part) * 1000.0), 4);
  put_le(to, rounded((begin_of(part) + kFanDegrees) * 1000.0), 4);
  put_le(to, flags_of(part), 4);
}

void put_head(Format format, ByteVector& to, const FanPart& part) {
  const double begin = begin_of(part);
  put_le(to, code_of(format), 2);
  put_le(to, part.samples.size(), 2);
  switch (format) {
    case Format::ce:
    case Format::ce_packed:
      put_le(to, rounded(begin * 10.0), 2);
      return;
    case Format::cf:
      put_le(to, rounded(begin * 10.0), 2);
      put_le(to, rounded(kFanDegrees * 10.0), 2);
      return;
    case Format::df:
      put_le(to, rounded(begin * 10.0), 2);
      put_le(to, rounded(kFanDegrees * 10.0), 2);
      put_le(to, rounded(begin * 100.0), 2);
      put_le(to, rounded(begin * 100.0), 2);
      put_le(to, rounded((begin + kFanDegrees - step_of(part)) * 100.0), 2);
      put_le(to, rounded((begin + kFanDegrees) * 100.0), 2);
      return;
    case Format::c7:
      put_sector_head(to, part);
      put_hour_stamp(to, part);
      return;
    case Format::aa:
      put_sector_head(to, part);
      put_le(to, static_cast<std::uint64_t>(part.stamp_ns / kNsPerS + kUnixInNtp), 4);
      put_le(to, static_cast<std::uint64_t>(part.stamp_ns % kNsPerS), 4);
      put_le(to, kDeviceId, 4);
      put_zeros(to, 16);
      return;
    case Format::x99:
      put_le(to, part.fan * part.fan_points + part.offset, 2);
      put_le(to, kFans * part.fan_points, 2);
      put_le(to, flags_of(part), 4);
      put_hour_stamp(to, part);
      put_zeros(to, 12);
      return;
  }
}

// How many words and then single bytes follow the header for each sample; a `mixed` body goes
// sample by sample, byte before word.
struct Body {
  std::size_t words, bytes;
  bool mixed;
};
Body body_of(Format format) {
  switch (format) {
    case Format::ce_packed:
      return {1, 0, false};
    case Format::ce:
    case Format::cf:
    case Format::df:
      return {1, 1, true};
    case Format::c7:
    case Format::aa:
      return {2, 1, false};
    case Format::x99:
      return {1, 1, false};
  }
  return {};
}

}  // namespace

bool tells_date(Format format) { return format == Format::aa; }
bool counts_in_the_hour(Format format) { return format == Format::c7 || format == Format::x99; }
bool splits(Format format) { return tells_date(format) || counts_in_the_hour(format); }

std::size_t head_bytes(Format format) {
  switch (format) {
    case Format::ce:
    case Format::ce_packed:
      return 6;
    case Format::cf:
      return 8;
    case Format::df:
      return 16;
    case Format::c7:
      return 28;
    case Format::aa:
      return 48;
    case Format::x99:
      return 32;
  }
  return 0;
}

void seal(Format format, ByteVector& packet) {
  const hal::Bytes bytes(packet);
  const Body body = body_of(format);
  const std::size_t points = get_le(bytes, 2, 2);
  std::uint64_t sum = 0;
  std::size_t at = 2;
  for (; at < head_bytes(format); at += 2) sum += get_le(bytes, at, 2);
  if (body.mixed) {
    for (std::size_t i = 0; i < points; ++i, at += 3)
      sum += u8_at(bytes, at) + get_le(bytes, at + 1, 2);
  } else {
    for (std::size_t i = 0; i < points * body.words; ++i, at += 2) sum += get_le(bytes, at, 2);
    for (std::size_t i = 0; i < points * body.bytes; ++i, ++at) sum += u8_at(bytes, at);
  }
  put_le(packet, sum & 0xFFFFU, 2);
}

ByteVector packet(Format format, const FanPart& part) {
  ByteVector out;
  put_head(format, out, part);
  const Body body = body_of(format);
  for (const Sample& sample : part.samples) {
    if (body.mixed) put8(out, sample.energy);
    // Three bits of energy above thirteen of distance, when both share a word.
    const std::uint64_t above = body.bytes == 0 ? sample.energy >> 5U << 13U : 0U;
    put_le(out, sample.distance | above, 2);
  }
  for (std::size_t i = 0; body.words == 2 && i < part.samples.size(); ++i)
    put_le(out, rounded(step_of(part) * static_cast<double>(part.offset + i) * 1000.0), 2);
  if (body.bytes == 1 && !body.mixed)
    for (const Sample& sample : part.samples) put8(out, sample.energy);
  seal(format, out);
  return out;
}

}  // namespace sim::bluesea
