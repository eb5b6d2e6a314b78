// How RPLIDAR measurements are laid out, and what they mean. Pure functions. Source: Slamtec
// rplidar_sdk 2.1.0; 0x81, 0x82, 0x84 and 0x85 agree with a second source.
//
// Angles on the wire grow clockwise. All little-endian.
// 0x81 standard, 5 bytes, 1 sample: u8 {S:1, not S:1, quality:6} | u16 {1:1, angle/64 deg:15} |
//      u16 distance/4 mm
// Capsules begin with u8 0xA0 | low nibble, u8 0x50 | high nibble of the XOR of bytes 2..end:
// 0x82 express, 84 bytes, 32 samples: 2 u16 start | 16 x {u16 A, u16 B, u8 offsets}
// 0x84 ultra, 132 bytes, 96 samples: 2 u16 start | 32 x u32 {major:12, predict:10, predict:10}
// 0x85 dense, 84 bytes, 40 samples: 2 u16 start | 40 x u16 mm
// 0x86 ultra-dense, 170 bytes, 64 samples: 2 u32 stamp | 6 u16 status | 8 u16 start |
//      32 x {u16, u16, u8 high bits}
// where start = {angle/64 deg:15, S:1}; S only marks the first capsule after a start.
// 0x83 HQ, 781 bytes, 96 samples: 0xA5 | 1 u64 stamp | 96 x {u16 angle*16384/90 deg, u32
//      distance/4 mm, u8 quality, u8 {S:1}} | u32 CRC-32 of the rest and 3 zero bytes
// The stamps of 0x83 and 0x86 are not used: no source tells their unit.
#pragma once

#include <array>
#include <span>

#include "drivers/framer.h"
#include "drivers/packet.h"
#include "drivers/wire.h"

namespace drivers::rplidar {

enum class Answer : std::uint8_t {
  standard = 0x81,
  express = 0x82,
  hq = 0x83,
  ultra = 0x84,
  dense = 0x85,
  ultra_dense = 0x86,
};

struct Format {
  Answer answer;
  std::size_t bytes, samples;
  bool has_quality;
  double sample_us;  // of the models that use it by default; devices tell their own
};

inline constexpr std::size_t kMostBytes = 781, kMostSamples = 96, kMostCapsuleBytes = 170;
inline constexpr std::size_t kGathered = 8;  // nodes of one slice, at most

const Format* find_format(unsigned answer);  // null when unknown

// Nodes of the standard format, thousands a second: their angle in 1/64 degree. Nothing else that
// a device sends, not the descriptor of a reply and not its banner, may be one.
inline constexpr std::size_t kNodeBytes = 5;
inline constexpr int kNodeTurn = 360 * 64;
constexpr bool may_be_node(Bytes b) {
  const unsigned flags = wire::u8(b, 0) & 3;
  return (flags == 1 || flags == 2) && (wire::u8(b, 1) & 1) == 1;
}
constexpr int node_angle(Bytes b) { return wire::u16(b, 1) >> 1; }

// May a frame of this format start like this? `b` holds at least two bytes.
bool may_start(const Format&, Bytes b);
// Could this be such a frame, as far as it has come? HQ frames begin with one byte only and have
// the dearest checksum: it is tried where no node is nonsense.
bool is_plausible(const Format&, Bytes b);
bool is_intact(const Format&, Bytes frame);

// Degrees clockwise, as sent: of a node, of the first of an HQ frame, nominal of a capsule.
double angle_of(const Format&, Bytes frame);
inline constexpr double kFullTurn = 360;

// The S flag: standard, a new turn; capsules, the first one after a start.
bool has_start_flag(const Format&, Bytes frame);

inline constexpr double kRadPerDeg = 3.14159265358979323846 / 180;
inline Beam beam(double clockwise_deg, double mm, unsigned quality) {
  return {static_cast<float>(-clockwise_deg * kRadPerDeg), static_cast<float>(mm * 1e-3),
          static_cast<float>(quality)};
}

inline Beam decode_node(Bytes node) {
  return beam(node_angle(node) / 64.0, wire::u16(node, 3) / 4.0, wire::u8(node, 0) >> 2);
}
// The first sample of the turn that starts in it; kMostSamples when none does.
std::size_t decode_hq(Bytes frame, std::span<Beam> beams);
// `next`: the capsule after it; `step`: nominal degrees between two samples.
void decode_capsule(const Format&, Bytes capsule, Bytes next, double step, std::span<Beam> beams);

}  // namespace drivers::rplidar
