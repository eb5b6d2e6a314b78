#include "test/sim/ydlidar_packet.h"

#include <cmath>

#include "test/sim/room.h"
#include "test/sim/wire.h"

namespace sim::ydlidar {
namespace {

constexpr unsigned kPacketWord = 0x55AA;
constexpr std::size_t kChecksumAt = 8;

// Words of 16 bits, the checksum itself left out; an intensity of one byte is a word of its own.
unsigned checksum(hal::Bytes packet, Form form) {
  auto sum = static_cast<unsigned>(get_le(packet, 0, 2) ^ get_le(packet, 2, 2) ^
                                   get_le(packet, 4, 2) ^ get_le(packet, 6, 2));
  const std::size_t stride = sample_bytes(form);
  for (std::size_t at = kHeadBytes; at + stride <= packet.size(); at += stride) {
    const std::size_t extra = stride - 2;
    sum ^= static_cast<unsigned>(get_le(packet, at, extra) ^ get_le(packet, at + extra, 2));
  }
  return sum;
}

void seal(ByteVector& packet, Form form) {
  const unsigned sum = checksum(packet, form);
  packet[kChecksumAt] = static_cast<std::byte>(sum & 0xFFU);
  packet[kChecksumAt + 1] = static_cast<std::byte>(sum >> 8);
}

}  // namespace

std::size_t sample_bytes(Form form) {
  switch (form) {
    case Form::plain:
      return 2;
    case Form::intensity8:
    case Form::intensity10:
      return 3;
    case Form::intensity16:
      return 4;
  }
  return 2;
}

double units_per_mm(Unit unit) {
  switch (unit) {
    case Unit::quarter_mm:
      return 4.0;
    case Unit::half_mm:
      return 2.0;
    case Unit::mm:
      return 1.0;
  }
  return 1.0;
}

double distance_step_mm(Form form, Unit unit) {
  return (sample_bytes(form) == 3 ? 4.0 : 1.0) / units_per_mm(unit);
}

ByteVector point_packet(const PacketHead& head, std::span<const Sample> samples, Form form) {
  ByteVector packet;
  put_le(packet, kPacketWord, 2);
  put8(packet, (head.rate << 1) | (head.zero ? 1U : 0U));
  put8(packet, samples.size());
  put_le(packet, (head.first_q6 << 1) | 1U, 2);
  put_le(packet, (head.last_q6 << 1) | 1U, 2);
  put_le(packet, 0, 2);
  for (const Sample& s : samples) {
    unsigned low = 0;
    if (form == Form::intensity8) low = s.flag;
    if (form == Form::intensity10) low = s.intensity >> 8;
    if (form != Form::plain) put_le(packet, s.intensity, form == Form::intensity16 ? 2 : 1);
    put_le(packet, s.distance | low, 2);
  }
  seal(packet, form);
  return packet;
}

ByteVector stamp_packet(std::uint32_t ms) {
  ByteVector packet;
  put8(packet, 0xAA), put8(packet, 0x66), put8(packet, 0);
  put_le(packet, ms, 4);
  put8(packet, 0);
  std::byte sum{};
  for (const std::byte b : packet) sum ^= b;
  packet[2] = sum;
  return packet;
}

ByteVector reply_header(std::size_t length, bool loop, std::uint8_t type) {
  ByteVector header;
  put8(header, 0xA5), put8(header, 0x5A);
  put_le(header, length | (loop ? 1U << 30 : 0U), 4);
  put8(header, type);
  return header;
}

void falsify_packet(ByteVector& packet, Form form, Random& random) {
  if (packet.size() < kHeadBytes || get_le(packet, 0, 2) != kPacketWord) return;
  if (packet.size() != kHeadBytes + u8_at(packet, 3) * sample_bytes(form)) return;
  for (std::size_t i = kHeadBytes; i < packet.size(); ++i)
    packet[i] = static_cast<std::byte>(random.below(256));
  seal(packet, form);
}

double correction_deg(double mm) { return degrees(std::atan(21.8 * (155.3 - mm) / (155.3 * mm))); }

}  // namespace sim::ydlidar
