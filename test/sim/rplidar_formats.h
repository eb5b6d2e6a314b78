// The six RPLIDAR measurement formats and the reply descriptor as bytes, raw units in, no state.
//
// Written from the protocol description (sections 3 and 4); all fields are little-endian.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "test/sim/device_model.h"

namespace sim::rplidar {

// The answer type that a descriptor announces.
enum class Answer : std::uint8_t {
  standard = 0x81,
  express = 0x82,
  hq = 0x83,
  ultra = 0x84,
  dense = 0x85,
  ultra_dense = 0x86,
};

inline constexpr std::size_t kExpressSamples = 32, kUltraCabins = 32, kUltraSamples = 96,
                             kDenseSamples = 40, kUltraDenseSamples = 64, kHqSamples = 96;
inline constexpr unsigned kTurnQ6 = 360 * 64;  // a turn in the 1/64 degree of most formats

std::size_t samples_per_packet(Answer answer);
std::size_t packet_bytes(Answer answer);

// Seven bytes that announce `length` payload bytes, once or (loop) again and again.
ByteVector descriptor(std::size_t length, bool loop, std::uint8_t type);

// 0x81.
struct StandardNode {
  bool starts_turn = false;
  unsigned quality = 0;      // 0..63
  unsigned angle_q6 = 0;     // clockwise
  unsigned distance_q2 = 0;  // 1/4 mm; 0 = no return
};
ByteVector standard_node(const StandardNode& node);

// Head of 0x82, 0x84, 0x85 and 0x86. `first`: the S flag, first capsule after a (re)start.
struct CapsuleHead {
  unsigned start_q6 = 0;
  bool first = false;
};

// 0x82. The sample was taken at its nominal angle minus the offset.
struct ExpressSample {
  unsigned mm = 0;         // 0..16383
  unsigned offset_q3 = 0;  // 1/8 degree, 0..63
};
ByteVector express_capsule(CapsuleHead head, std::span<const ExpressSample, kExpressSamples> in);

// 0x84. A cabin is three samples: the major, and two predictions from this and the next major.
struct UltraCabin {
  unsigned major = 0;  // varbit code
  int predict1 = 0;    // -511..510; kNoPrediction = no return
  int predict2 = 0;
};
inline constexpr int kNoPrediction = -512, kMaxPrediction = 510;
ByteVector ultra_capsule(CapsuleHead head, std::span<const UltraCabin, kUltraCabins> in);

struct Varbit {
  unsigned mm = 0;
  unsigned level = 0;  // the prediction beside it is shifted left by this
};
Varbit varbit_decode(unsigned code);
unsigned varbit_encode(double mm);  // the nearest code

// Degrees by which a 0x84 sample at `mm` was taken before its nominal angle.
double ultra_offset_deg(unsigned mm);

// 0x85.
ByteVector dense_capsule(CapsuleHead head, std::span<const unsigned, kDenseSamples> mm);

// 0x86. `samples` are 20 bit values as ultra_dense_value() makes them.
ByteVector ultra_dense_capsule(CapsuleHead head, std::uint32_t stamp, std::uint16_t status,
                               std::span<const std::uint32_t, kUltraDenseSamples> samples);
std::uint32_t ultra_dense_value(double mm, unsigned quality);  // nearest; quality 0..255

// 0x83.
struct HqNode {
  unsigned angle_q14 = 0;  // 90/16384 degree, clockwise
  std::uint32_t distance_q2 = 0;
  unsigned quality = 0;
  bool starts_turn = false;
};
ByteVector hq_packet(std::uint64_t stamp, std::span<const HqNode, kHqSamples> nodes);

// CRC-32 over the bytes and the zeros that fill them up to a multiple of four; a multiple of four
// already gets four zeros more.
std::uint32_t padded_crc32(hal::Bytes bytes);

// Replaces every distance of a packet by a random or a full-scale one and seals it again. Anything
// but a whole packet of that format, or several standard nodes, is left alone.
void falsify_packet(Answer answer, std::span<std::byte> packet, Random& random);

}  // namespace sim::rplidar
