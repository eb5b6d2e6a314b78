#include "test/sim/rplidar_formats.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::rplidar {
namespace {

void put_start(ByteVector& out, CapsuleHead head) {
  put_le(out, (head.start_q6 & 0x7FFFU) | (head.first ? 0x8000U : 0U), 2);
}

// Two bytes of sync and checksum nibbles; seal_capsule() fills in the checksum.
ByteVector begin_capsule(Answer answer) {
  ByteVector out;
  out.reserve(packet_bytes(answer));
  put_le(out, 0x50A0, 2);
  return out;
}

void seal_capsule(std::span<std::byte> capsule) {
  std::byte check{};
  for (const std::byte b : capsule.subspan(2)) check ^= b;
  capsule[0] = std::byte{0xA0} | (check & std::byte{0x0F});
  capsule[1] = std::byte{0x50} | (check >> 4);
}

struct VarbitRange {
  unsigned first_code, first_mm;
};
constexpr std::array<VarbitRange, 5> kVarbit = {
    {{0, 0}, {512, 512}, {1280, 2048}, {1792, 4096}, {3328, 16384}}};

struct UltraDenseScale {
  unsigned first_mm, step_mm, bits;
};
constexpr std::array<UltraDenseScale, 4> kUltraDense = {
    {{0, 2, 10}, {2046, 3, 11}, {8187, 4, 12}, {24567, 5, 13}}};

}  // namespace

std::size_t samples_per_packet(Answer answer) {
  switch (answer) {
    case Answer::standard:
      return 1;
    case Answer::express:
      return kExpressSamples;
    case Answer::hq:
      return kHqSamples;
    case Answer::ultra:
      return kUltraSamples;
    case Answer::dense:
      return kDenseSamples;
    case Answer::ultra_dense:
      return kUltraDenseSamples;
  }
  return 0;
}

std::size_t packet_bytes(Answer answer) {
  switch (answer) {
    case Answer::standard:
      return 5;
    case Answer::express:
    case Answer::dense:
      return 84;
    case Answer::hq:
      return 781;
    case Answer::ultra:
      return 132;
    case Answer::ultra_dense:
      return 170;
  }
  return 0;
}

ByteVector descriptor(std::size_t length, bool loop, std::uint8_t type) {
  ByteVector out;
  put_le(out, 0x5AA5, 2);
  put_le(out, (length & 0x3FFFFFFFU) | (loop ? 0x40000000U : 0U), 4);
  put8(out, type);
  return out;
}

ByteVector standard_node(const StandardNode& node) {
  ByteVector out;
  put8(out, (node.quality << 2) | (node.starts_turn ? 1U : 2U));
  put_le(out, (node.angle_q6 << 1) | 1U, 2);
  put_le(out, node.distance_q2, 2);
  return out;
}

ByteVector express_capsule(CapsuleHead head, std::span<const ExpressSample, kExpressSamples> in) {
  ByteVector out = begin_capsule(Answer::express);
  put_start(out, head);
  for (std::size_t i = 0; i < kExpressSamples; i += 2) {
    put_le(out, (in[i].mm << 2) | (in[i].offset_q3 >> 4), 2);
    put_le(out, (in[i + 1].mm << 2) | (in[i + 1].offset_q3 >> 4), 2);
    put8(out, (in[i].offset_q3 & 15U) | ((in[i + 1].offset_q3 & 15U) << 4));
  }
  seal_capsule(out);
  return out;
}

ByteVector ultra_capsule(CapsuleHead head, std::span<const UltraCabin, kUltraCabins> in) {
  ByteVector out = begin_capsule(Answer::ultra);
  put_start(out, head);
  for (const UltraCabin& cabin : in) {
    const auto p1 = static_cast<std::uint32_t>(cabin.predict1) & 0x3FFU;
    const auto p2 = static_cast<std::uint32_t>(cabin.predict2) & 0x3FFU;
    put_le(out, cabin.major | (p1 << 12) | (p2 << 22), 4);
  }
  seal_capsule(out);
  return out;
}

Varbit varbit_decode(unsigned code) {
  unsigned level = 0;
  while (level + 1 < kVarbit.size() && code >= kVarbit[level + 1].first_code) ++level;
  const VarbitRange& range = kVarbit[level];
  return {range.first_mm + ((code - range.first_code) << level), level};
}

unsigned varbit_encode(double mm) {
  unsigned level = 0;
  while (level + 1 < kVarbit.size() && mm >= kVarbit[level + 1].first_mm) ++level;
  const VarbitRange& range = kVarbit[level];
  const long steps = std::lround((mm - range.first_mm) / (1U << level));
  return std::min(range.first_code + static_cast<unsigned>(steps), 0xFFFU);
}

double ultra_offset_deg(unsigned mm) {
  const unsigned q2 = 4 * mm;
  if (q2 < 200) return 7.5;
  const unsigned k = 98361 / q2;
  const int raw = 9150 - static_cast<int>(64 * k) - static_cast<int>(k * k * k / 98304);
  return degrees(raw / 65536.0);
}

ByteVector dense_capsule(CapsuleHead head, std::span<const unsigned, kDenseSamples> mm) {
  ByteVector out = begin_capsule(Answer::dense);
  put_start(out, head);
  for (const unsigned distance : mm) put_le(out, distance, 2);
  seal_capsule(out);
  return out;
}

ByteVector ultra_dense_capsule(CapsuleHead head, std::uint32_t stamp, std::uint16_t status,
                               std::span<const std::uint32_t, kUltraDenseSamples> samples) {
  ByteVector out = begin_capsule(Answer::ultra_dense);
  put_le(out, stamp, 4);
  put_le(out, status, 2);
  put_start(out, head);
  for (std::size_t i = 0; i < kUltraDenseSamples; i += 2) {
    put_le(out, samples[i], 2);
    put_le(out, samples[i + 1], 2);
    put8(out, ((samples[i] >> 16) & 15U) | (((samples[i + 1] >> 16) & 15U) << 4));
  }
  seal_capsule(out);
  return out;
}

std::uint32_t ultra_dense_value(double mm, unsigned quality) {
  unsigned scale = 0;
  while (scale + 1 < kUltraDense.size() && mm >= kUltraDense[scale + 1].first_mm) ++scale;
  const UltraDenseScale& s = kUltraDense[scale];
  const auto steps = static_cast<unsigned>(std::lround((mm - s.first_mm) / s.step_mm));
  const unsigned clamped = std::min(steps, (1U << s.bits) - 1U);
  return scale | (clamped << 2) | ((quality >> scale) << (s.bits + 2));
}

ByteVector hq_packet(std::uint64_t stamp, std::span<const HqNode, kHqSamples> nodes) {
  ByteVector out;
  out.reserve(packet_bytes(Answer::hq));
  put8(out, 0xA5);
  put_le(out, stamp, 8);
  for (const HqNode& node : nodes) {
    put_le(out, node.angle_q14, 2);
    put_le(out, node.distance_q2, 4);
    put8(out, node.quality);
    put8(out, node.starts_turn ? 1U : 0U);
  }
  put_le(out, padded_crc32(out), 4);
  return out;
}

std::uint32_t padded_crc32(hal::Bytes bytes) {
  std::uint32_t crc = 0xFFFFFFFFU;
  const auto eat = [&crc](std::uint32_t byte) {
    crc ^= byte;
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1U) != 0U ? 0xEDB88320U : 0U);
  };
  for (const std::byte b : bytes) eat(std::to_integer<std::uint32_t>(b));
  for (std::size_t pad = 4 - (bytes.size() & 3U); pad > 0; --pad) eat(0);
  return ~crc;
}

void falsify_packet(Answer answer, std::span<std::byte> packet, Random& random) {
  const std::size_t whole = packet_bytes(answer);
  if (packet.size() % whole != 0 || (answer != Answer::standard && packet.size() != whole)) return;
  const auto spoil = [&](std::size_t at, std::size_t bytes) {
    const bool full_scale = random.chance(0.25);
    for (std::byte& b : packet.subspan(at, bytes))
      b = full_scale ? std::byte{0xFF} : static_cast<std::byte>(random.next());
  };
  if (answer == Answer::standard) {
    for (std::size_t at = 0; at < packet.size(); at += whole) spoil(at + 3, 2);
    return;
  }
  if (answer == Answer::hq) {
    for (std::size_t i = 0; i < kHqSamples; ++i) spoil(9 + 8 * i + 2, 4);
    const std::uint32_t crc = padded_crc32(packet.first(packet.size() - 4));
    for (unsigned i = 0; i < 4; ++i)
      packet[packet.size() - 4 + i] = static_cast<std::byte>(crc >> (8 * i));
    return;
  }
  const std::size_t head = answer == Answer::ultra_dense ? 10 : 4;
  for (std::size_t at = head; at + 2 <= packet.size(); at += 2) spoil(at, 2);
  seal_capsule(packet);
}

}  // namespace sim::rplidar
