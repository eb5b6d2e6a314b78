#include "test/sim/pepperl_packets.h"

#include <algorithm>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::pepperl_fuchs {
namespace {

constexpr std::size_t kLongestPacket = 1404;
constexpr unsigned kMagic = 0xA25C;
constexpr std::uint32_t kInvalid32 = 0xFFFFFFFF, kInvalid20 = 0xFFFFF;

std::size_t point_bytes(Type type) { return type == Type::b ? 6 : 4; }

unsigned type_code(Type type) {
  switch (type) {
    case Type::a:
      return 0x0041;
    case Type::b:
      return 0x0042;
    case Type::c:
      return 0x0043;
    case Type::c1:
      return 0x3143;
  }
  return 0;
}

std::uint64_t ten_thousandths(double degrees) {
  return static_cast<std::uint64_t>(std::llround(degrees * 1e4));
}

double angle_of(const Scan& scan, std::size_t i) {
  return scan.first_deg + static_cast<double>(i) * scan.step_deg;
}

void put_point(ByteVector& to, Type type, const TrueBeam& beam, unsigned code) {
  const bool returns = beam.range > 0.0;
  // A strong wall is bright: 32 and less are codes.
  const auto strength = static_cast<std::uint64_t>(std::lround(64.0 + 900.0 / (1.0 + beam.range)));
  const std::uint64_t amplitude = returns ? strength : code;
  const auto mm = static_cast<std::uint64_t>(std::lround(beam.range * 1000.0));
  if (type == Type::c || type == Type::c1)
    return put_le(to, (returns ? mm : kInvalid20) | amplitude << 20, 4);
  put_le(to, returns ? mm : kInvalid32, 4);
  if (type == Type::b) put_le(to, amplitude, 2);
}

}  // namespace

std::size_t points_per_packet(const Scan& scan) {
  return (kLongestPacket - scan.header_bytes) / point_bytes(scan.type);
}

std::vector<TrueBeam> beams_of(const Scan& scan, std::size_t first) {
  const std::size_t count = std::min(points_per_packet(scan), scan.points - first);
  const double slant = 1.0 / std::cos(radians(scan.inclination_deg));
  std::vector<TrueBeam> beams;
  for (std::size_t i = first; i < first + count; ++i) {
    const double angle = std::remainder(radians(angle_of(scan, i)), kTurn);
    beams.push_back({scan.at(i), angle, Room::range(angle) * slant});
  }
  return beams;
}

std::uint64_t ntp_of(std::int64_t ns) {
  const auto whole = static_cast<std::uint64_t>(ns / 1'000'000'000);
  const auto part = static_cast<double>(ns % 1'000'000'000);
  return (whole << 32) + static_cast<std::uint64_t>(std::llround(part * 0x1p32 / 1e9));
}

ByteVector packet(const Scan& scan, std::size_t first, std::int64_t stamp_ns,
                  const std::vector<TrueBeam>& beams, const std::vector<unsigned>& codes) {
  const std::size_t size = scan.header_bytes + beams.size() * point_bytes(scan.type);
  ByteVector to;
  put_le(to, kMagic, 2);
  put_le(to, type_code(scan.type), 2);
  put_le(to, size, 4);
  put_le(to, scan.header_bytes, 2);
  put_le(to, scan.number, 2);
  put_le(to, first / points_per_packet(scan) + 1, 2);
  if (scan.type == Type::c1) {
    put_le(to, scan.layer, 2);
    put_le(to, ten_thousandths(scan.inclination_deg), 4);
  }
  put_le(to, ntp_of(stamp_ns), 8);
  put_le(to, 0, 8);
  put_le(to, scan.status, 4);
  put_le(to, scan.frequency_mhz, 4);
  put_le(to, scan.points, 2);
  put_le(to, beams.size(), 2);
  put_le(to, first, 2);
  put_le(to, ten_thousandths(std::remainder(angle_of(scan, first), 360.0)), 4);
  put_le(to, ten_thousandths(scan.step_deg), 4);
  to.resize(scan.header_bytes);  // what the input circuits did: nothing
  for (std::size_t i = 0; i < beams.size(); ++i) put_point(to, scan.type, beams[i], codes[i]);
  return to;
}

void falsify_packet(ByteVector& packet, Random& random) {
  if (packet.size() < 12 || get_le(packet, 0, 2) != kMagic) return;
  const auto header = static_cast<std::size_t>(get_le(packet, 8, 2));
  const std::size_t step = get_le(packet, 2, 2) == type_code(Type::b) ? 6 : 4;
  for (std::size_t at = header; at + step <= packet.size(); at += step)
    for (std::size_t i = 0; i < step; ++i)
      packet[at + i] = static_cast<std::byte>(random.below(256));
}

}  // namespace sim::pepperl_fuchs
