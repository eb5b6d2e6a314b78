#include "test/sim/mip_wire.h"

#include <chrono>

#include "test/sim/wire.h"

namespace sim::mip {
namespace {

constexpr std::size_t kHeaderBytes = 4, kChecksumBytes = 2;
constexpr unsigned kSync1 = 0x75, kSync2 = 0x65;
constexpr hal::Duration kPartialPacket = std::chrono::milliseconds(100);

unsigned checksum(hal::Bytes bytes) {
  unsigned a = 0;
  unsigned b = 0;
  for (const std::byte byte : bytes) {
    a = (a + std::to_integer<unsigned>(byte)) & 0xFFU;
    b = (b + a) & 0xFFU;
  }
  return (a << 8) | b;
}

// False when a field is too short or runs over the end.
bool split_fields(hal::Bytes payload, std::vector<Field>& fields) {
  fields.clear();
  while (!payload.empty()) {
    const std::size_t length = u8_at(payload, 0);
    if (length < 2 || length > payload.size()) return false;
    const hal::Bytes data = payload.subspan(2, length - 2);
    fields.push_back({u8_at(payload, 1), ByteVector(data.begin(), data.end())});
    payload = payload.subspan(length);
  }
  return true;
}

}  // namespace

ByteVector packet_bytes(unsigned set, const std::vector<Field>& fields) {
  std::size_t length = 0;
  for (const Field& field : fields) length += field.data.size() + 2;
  ByteVector bytes;
  put8(bytes, kSync1), put8(bytes, kSync2), put8(bytes, set), put8(bytes, length);
  for (const Field& field : fields) {
    put8(bytes, field.data.size() + 2), put8(bytes, field.descriptor);
    bytes.insert(bytes.end(), field.data.begin(), field.data.end());
  }
  put_be(bytes, checksum(bytes), 2);
  return bytes;
}

void seal(ByteVector& packet) {
  packet.erase(packet.end() - kChecksumBytes, packet.end());
  put_be(packet, checksum(packet), 2);
}

void Parser::add(hal::Bytes bytes, hal::Time now) {
  if (now - last_ > kPartialPacket) held_.clear();
  last_ = now;
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

Parser::Found Parser::next(Packet& packet) {
  const auto drop = [this](std::size_t count) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
  };
  while (!held_.empty()) {
    const hal::Bytes view(held_);
    if (u8_at(view, 0) != kSync1 || (view.size() > 1 && u8_at(view, 1) != kSync2)) {
      drop(1);
      continue;
    }
    if (view.size() < kHeaderBytes) return Found::nothing;
    const std::size_t body = kHeaderBytes + u8_at(view, 3);
    if (view.size() < body + kChecksumBytes) return Found::nothing;
    packet.set = u8_at(view, 2);
    const bool shaped = split_fields(view.subspan(4, body - kHeaderBytes), packet.fields);
    const bool good = checksum(view.first(body)) == get_be(view, body, 2);
    drop(good ? body + kChecksumBytes : 1);
    if (good && shaped) return Found::packet;
    if (!good && shaped) return Found::bad_checksum;
  }
  return Found::nothing;
}

}  // namespace sim::mip
