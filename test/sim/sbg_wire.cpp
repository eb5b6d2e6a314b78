#include "test/sim/sbg_wire.h"

#include <chrono>

#include "test/sim/wire.h"

namespace sim::sbg {
namespace {

constexpr hal::Duration kPatience = std::chrono::milliseconds(100);

unsigned crc_of(hal::Bytes bytes) {
  unsigned crc = 0;
  for (const std::byte b : bytes) {
    crc ^= std::to_integer<unsigned>(b);
    for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1U) ^ ((crc & 1U) * 0x8408U);
  }
  return crc;
}

}  // namespace

void seal(ByteVector& frame) {
  const std::size_t end = frame.size() - kTail;
  const unsigned crc = crc_of(hal::Bytes(frame).subspan(2, end - 2));
  frame[end] = static_cast<std::byte>(crc & 0xFFU);
  frame[end + 1] = static_cast<std::byte>(crc >> 8U);
}

ByteVector frame_bytes(const Message& message) {
  ByteVector frame;
  put_be(frame, 0xFF5A, 2);
  put8(frame, message.id);
  put8(frame, message.cls);
  put_le(frame, message.data.size(), 2);
  frame.insert(frame.end(), message.data.begin(), message.data.end());
  put_le(frame, 0, 2);  // the CRC's place
  put8(frame, 0x33);
  seal(frame);
  return frame;
}

void Parser::add(hal::Bytes bytes, hal::Time now) {
  if (now - last_ > kPatience) held_.clear();
  last_ = now;
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

std::optional<Message> Parser::next() {
  while (held_.size() >= 2) {
    const bool is_sync = get_be(held_, 0, 2) == 0xFF5A;
    if (is_sync && held_.size() < kHead) return std::nullopt;
    const std::size_t n = is_sync ? get_le(held_, 4, 2) : kMostData + 1;
    if (n <= kMostData) {
      const std::size_t whole = kHead + n + kTail;
      if (held_.size() < whole) return std::nullopt;
      const hal::Bytes frame = hal::Bytes(held_).first(whole);
      const unsigned crc = crc_of(frame.subspan(2, whole - 2 - kTail));
      if (u8_at(frame, whole - 1) == 0x33 && get_le(frame, whole - kTail, 2) == crc) {
        const hal::Bytes data = frame.subspan(kHead, n);
        Message message{u8_at(frame, 2), u8_at(frame, 3), {data.begin(), data.end()}};
        held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(whole));
        return message;
      }
    }
    held_.erase(held_.begin());
  }
  return std::nullopt;
}

}  // namespace sim::sbg
