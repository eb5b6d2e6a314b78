#include "test/sim/xsens_wire.h"

#include <chrono>

#include "test/sim/wire.h"

namespace sim::xsens {
namespace {

constexpr unsigned kPreamble = 0xFA, kExtended = 0xFF;
constexpr std::size_t kHead = 4, kMostData = 2048;
constexpr hal::Duration kPartial = std::chrono::milliseconds(100);

unsigned sum_of(hal::Bytes bytes) {
  unsigned sum = 0;
  for (const std::byte byte : bytes) sum += std::to_integer<unsigned>(byte);
  return sum & 0xFFU;
}

}  // namespace

ByteVector bytes_of(const Message& message) {
  ByteVector bytes;
  put8(bytes, kPreamble), put8(bytes, message.bus), put8(bytes, message.id);
  if (message.data.size() < kExtended) {
    put8(bytes, message.data.size());
  } else {
    put8(bytes, kExtended), put_be(bytes, message.data.size(), 2);
  }
  bytes.insert(bytes.end(), message.data.begin(), message.data.end());
  put8(bytes, 0);
  seal(bytes);
  return bytes;
}

void seal(ByteVector& message) {
  message.back() = std::byte{0};
  message.back() = static_cast<std::byte>(0x100U - sum_of(hal::Bytes(message).subspan(1)));
}

std::size_t data_at(hal::Bytes message) {
  return u8_at(message, 3) == kExtended ? kHead + 2 : kHead;
}

void Parser::add(hal::Bytes bytes, hal::Time now) {
  if (now - last_ > kPartial) held_.clear();
  last_ = now;
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

bool Parser::next(Message& message) {
  const auto drop = [this](std::size_t count) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(count));
  };
  while (!held_.empty()) {
    const hal::Bytes view(held_);
    if (u8_at(view, 0) != kPreamble) {
      drop(1);
      continue;
    }
    if (view.size() < kHead || view.size() < data_at(view)) return false;
    const std::size_t at = data_at(view);
    const std::size_t n = at == kHead ? u8_at(view, 3) : get_be(view, kHead, 2);
    if (n > kMostData) {
      drop(1);
      continue;
    }
    if (view.size() < at + n + 1) return false;
    const bool good = sum_of(view.subspan(1, at + n)) == 0;
    if (good) {
      const hal::Bytes data = view.subspan(at, n);
      message = {u8_at(view, 1), u8_at(view, 2), ByteVector(data.begin(), data.end())};
    }
    drop(good ? at + n + 1 : 1);
    if (good) return true;
  }
  return false;
}

}  // namespace sim::xsens
