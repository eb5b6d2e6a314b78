#include "test/sim/anpp_wire.h"

#include <chrono>

#include "test/sim/wire.h"

namespace sim::anpp {
namespace {

constexpr hal::Duration kPatience = std::chrono::milliseconds(100);

}  // namespace

unsigned crc_of(hal::Bytes data) {
  unsigned crc = 0xFFFF;
  for (const std::byte b : data) {
    crc ^= std::to_integer<unsigned>(b) << 8U;
    for (int bit = 0; bit < 8; ++bit)
      crc = ((crc << 1U) ^ ((crc & 0x8000U) != 0 ? 0x1021U : 0U)) & 0xFFFFU;
  }
  return crc;
}

void seal(ByteVector& packet) {
  const unsigned crc = crc_of(hal::Bytes(packet).subspan(kHead));
  packet[3] = static_cast<std::byte>(crc & 0xFFU);
  packet[4] = static_cast<std::byte>(crc >> 8U);
  unsigned sum = 0;
  for (std::size_t i = 1; i < kHead; ++i) sum += u8_at(packet, i);
  packet[0] = static_cast<std::byte>(0x100U - (sum & 0xFFU));
}

ByteVector packet_bytes(const Packet& packet) {
  ByteVector bytes;
  put8(bytes, 0);
  put8(bytes, packet.id);
  put8(bytes, packet.data.size());
  put_le(bytes, 0, 2);
  bytes.insert(bytes.end(), packet.data.begin(), packet.data.end());
  seal(bytes);
  return bytes;
}

void Parser::add(hal::Bytes bytes, hal::Time now) {
  if (now - last_ > kPatience) held_.clear();
  last_ = now;
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

Parser::Found Parser::next(Packet& packet) {
  while (held_.size() >= kHead) {
    unsigned sum = 0;
    for (std::size_t i = 0; i < kHead; ++i) sum += u8_at(held_, i);
    if ((sum & 0xFFU) != 0) {
      held_.erase(held_.begin());
      continue;
    }
    const std::size_t n = u8_at(held_, 2);
    if (held_.size() < kHead + n) return Found::nothing;
    const hal::Bytes data = hal::Bytes(held_).subspan(kHead, n);
    packet = {u8_at(held_, 1), {data.begin(), data.end()}};
    const bool is_good = crc_of(data) == get_le(held_, 3, 2);
    const std::size_t gone = is_good ? kHead + n : 1;
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(gone));
    return is_good ? Found::packet : Found::bad_crc;
  }
  return Found::nothing;
}

}  // namespace sim::anpp
