#include "drivers/pepperl_fuchs/packet.h"

#include <cmath>
#include <cstdlib>
#include <numbers>

#include "drivers/http_text.h"
#include "drivers/wire.h"

namespace drivers::pepperl {
namespace {

constexpr unsigned kMagic = 0xA25C;
constexpr double kFullCircle = 3'600'000;  // 0.0001 deg
constexpr double kRadPerUnit = std::numbers::pi / 1'800'000;
constexpr unsigned kLeastAmplitude = 32;
// All bits set is no distance; nor is what no lidar reaches, 2147 km.
constexpr unsigned kMost20 = 0xFFFFE, kMost32 = 0x7FFF'FFFF;

// Where the fields stand that A, B, C and C1 have in other places.
struct Places {
  std::size_t stamp, status, counts, least_header;
};
constexpr Places places_of(PacketType type) {
  return type == PacketType::c1 ? Places{20, 36, 44, 58} : Places{14, 30, 38, 52};
}

bool is_type(unsigned type) {
  switch (static_cast<PacketType>(type)) {
    case PacketType::a:
    case PacketType::b:
    case PacketType::c:
    case PacketType::c1:
      return true;
  }
  return false;
}

constexpr std::size_t point_bytes(PacketType type) { return type == PacketType::b ? 6 : 4; }

// `b` reaches to the end of the fixed fields. Behind the points there may be a few bytes to fill up
// a word.
bool holds_its_points(Bytes b, std::size_t size) {
  const auto type = static_cast<PacketType>(wire::u16(b, 2));
  const std::size_t points = wire::u16(b, places_of(type).counts + 2);
  const std::size_t used = wire::u16(b, 8) + points * point_bytes(type);
  return used <= size && size < used + 4;
}

// The increment of a full circle is cut to 0.0001 degrees: what it stands for is a whole part of
// the turn.
double exact_step(std::int32_t increment, unsigned points_in_scan) {
  const double part = kFullCircle / points_in_scan;
  const bool is_full = std::abs(std::abs(static_cast<double>(increment)) - part) < 1;
  if (!is_full) return increment * kRadPerUnit;
  return (increment < 0 ? -part : part) * kRadPerUnit;
}

constexpr std::int64_t ns_of(std::uint64_t fixed) {
  const auto part = static_cast<std::uint64_t>(fixed & 0xFFFF'FFFF) * 1'000'000'000 >> 32;
  return static_cast<std::int64_t>((fixed >> 32) * 1'000'000'000 + part);
}

// `most`: the largest distance, mm, that is one.
constexpr Beam beam_of(float angle, unsigned mm, unsigned most, unsigned amplitude) {
  const bool returns = mm <= most && amplitude >= kLeastAmplitude;
  return {angle, returns ? static_cast<float>(static_cast<std::int32_t>(mm)) * 1e-3f : 0,
          static_cast<float>(static_cast<std::int32_t>(amplitude))};
}

}  // namespace

double Header::point_ns() const { return turn_ns * (std::abs(step) / (2 * std::numbers::pi)); }

std::optional<Header> read_header(Bytes b) {
  Header h;
  h.type = static_cast<PacketType>(wire::u16(b, 2));
  const Places at = places_of(h.type);
  h.scan = wire::u16(b, 10);
  h.packet = wire::u16(b, 12);
  if (h.type == PacketType::c1) h.layer = wire::u16(b, 14);
  h.stamp_ns = ns_of(wire::u64(b, at.stamp));
  h.status = wire::u32(b, at.status);
  const std::uint32_t mhz = wire::u32(b, at.status + 4);
  h.points_in_scan = wire::u16(b, at.counts);
  h.points = wire::u16(b, at.counts + 2);
  h.first_index = wire::u16(b, at.counts + 4);
  const auto first = static_cast<std::int32_t>(wire::u32(b, at.counts + 6));
  const auto increment = static_cast<std::int32_t>(wire::u32(b, at.counts + 10));
  // 0.1 to 1000 turns/s; at least one and at most all of a turn's points.
  const bool turns = mhz >= 100 && mhz <= 1'000'000;
  const bool steps = increment != 0 && std::abs(static_cast<double>(increment)) <= kFullCircle;
  const bool fits = h.points > 0 && h.first_index + h.points <= h.points_in_scan;
  const bool points =
      std::abs(static_cast<double>(first)) <= 2 * kFullCircle && h.points <= kMostPoints;
  if (!turns || !steps || !fits || !points || h.packet == 0) return std::nullopt;
  h.first_angle = first * kRadPerUnit;
  h.step = exact_step(increment, h.points_in_scan);
  h.turn_ns = 1e12 / mhz;
  return h;
}

void read_points(Bytes packet, const Header& header, std::span<Beam> beams) {
  const Bytes points = packet.subspan(wire::u16(packet, 8));
  const auto angle = [first = header.first_angle, step = header.step](std::size_t i) {
    return static_cast<float>(first + step * static_cast<double>(static_cast<std::int32_t>(i)));
  };
  const std::size_t count = header.points;
  switch (header.type) {
    case PacketType::a:
      for (std::size_t i = 0; i < count; ++i) {
        Beam& beam = beams[i];
        beam = beam_of(angle(i), wire::u32(points, 4 * i), kMost32, kLeastAmplitude);
        beam.intensity = 0;
      }
      return;
    case PacketType::b:
      for (std::size_t i = 0; i < count; ++i) {
        beams[i] =
            beam_of(angle(i), wire::u32(points, 6 * i), kMost32, wire::u16(points, 6 * i + 4));
      }
      return;
    case PacketType::c:
    case PacketType::c1:
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t word = wire::u32(points, 4 * i);
        beams[i] = beam_of(angle(i), word & 0xFFFFF, kMost20, word >> 20);
      }
      return;
  }
}

std::size_t Framing::measure(Bytes b) const {
  if (http) return measure_http(b, kMaxFrame, false);
  if (wire::u8(b, 0) != (kMagic & 0xFF)) return kNotAFrame;
  if (b.size() >= 2 && wire::u16(b, 0) != kMagic) return kNotAFrame;
  if (b.size() >= 4 && !is_type(wire::u16(b, 2))) return kNotAFrame;
  if (b.size() < 10) return kNeedMore;
  const Places places = places_of(static_cast<PacketType>(wire::u16(b, 2)));
  const std::uint32_t size = wire::u32(b, 4);
  const unsigned header = wire::u16(b, 8);
  if (header < places.least_header || header > size || size > kMaxFrame) return kNotAFrame;
  if (b.size() < places.least_header) return kNeedMore;
  return holds_its_points(b, size) ? size : kNotAFrame;
}

std::size_t Framing::measure_last(Bytes b) const {
  return http ? measure_http(b, kMaxFrame, true) : measure(b);
}

}  // namespace drivers::pepperl
