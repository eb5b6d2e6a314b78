// Scan data packets of R2000 and R2300, the same over UDP and TCP, and the HTTP replies of their
// control channel. Sources: pf_lidar_ros2_driver and an independent driver of the R2000, which
// agree and match a real capture; C1 (R2300) is the former's alone.
//
// Little-endian. 0 u16 0xA25C | 2 u16 type: 0x41 A, 0x42 B, 0x43 C, 0x3143 C1 | 4 u32 packet size
//    8 u16 header size | 10 u16 scan number | 12 u16 packet number, from 1
//   A, B, C: 14 u64 stamp | 22 u64 0 | 30 u32 status | 34 u32 scan frequency, mHz
//     38 u16 points in scan | 40 u16 points in packet | 42 u16 index of the first
//     44 i32 first angle | 48 i32 increment, 0.0001 deg | inputs, which older firmware lacks
//   C1: 14 u16 layer | 16 i32 inclination | 20 u64 stamp | 28 u64 0 | 36 u32 status | 40 u32 mHz
//     44 u16 points in scan | 46 u16 points in packet | 48 u16 first index | 50 i32 | 54 i32 as
//     above
// Then the points: A u32 mm | B u32 mm, u16 amplitude | C, C1 u32: bits 0..19 mm, 20..31 amplitude.
// All bits of a distance set: none. An amplitude below 32 is a code: no return that counts.
// The stamp, 32.32 s since power-on, is of the packet's first point. No checksum.
#pragma once

#include <optional>
#include <span>

#include "drivers/framer.h"
#include "drivers/packet.h"

namespace drivers::pepperl {

enum class PacketType : std::uint16_t { a = 0x41, b = 0x42, c = 0x43, c1 = 0x3143 };

// The longest packet that is taken: over UDP 1404 bytes are usual.
inline constexpr std::size_t kMaxPacket = 8192;
inline constexpr std::size_t kMostPoints = (kMaxPacket - 52) / 4;

// What a packet says of its points.
struct Header {
  PacketType type = PacketType::c;
  unsigned scan = 0, packet = 0;
  unsigned layer = 0;
  std::int64_t stamp_ns = 0;  // of the first point
  std::uint32_t status = 0;
  unsigned points_in_scan = 0, points = 0, first_index = 0;
  double first_angle = 0;  // rad, counter-clockwise
  double step = 0;         // rad; as exact as the full circle tells
  double turn_ns = 0;

  double point_ns() const;
};

// nullopt: an intact packet whose fields contradict each other.
std::optional<Header> read_header(Bytes packet);

// Fills in `beams`, header.points of them.
void read_points(Bytes packet, const Header& header, std::span<Beam> beams);

// Packets where `http` is false, replies of the control channel where it is true.
struct Framing {
  static constexpr std::size_t kMaxFrame = kMaxPacket;
  static constexpr bool kDatagrams = true;
  bool http = false;

  std::size_t measure(Bytes b) const;
  std::size_t measure_last(Bytes b) const;
  bool intact(Bytes) const { return true; }  // no checksum: measure() has seen all that can be
};

}  // namespace drivers::pepperl
