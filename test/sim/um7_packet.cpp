#include "test/sim/um7_packet.h"

#include <chrono>

#include "test/sim/wire.h"

namespace sim::um7 {
namespace {

constexpr std::size_t kHead = 5, kSum = 2;
constexpr hal::Duration kForgets = std::chrono::milliseconds(100);

unsigned sum_of(hal::Bytes bytes) {
  unsigned sum = 0;
  for (const std::byte b : bytes) sum += std::to_integer<unsigned>(b);
  return sum & 0xFFFF;
}

bool starts(hal::Bytes bytes) {
  constexpr char kStart[] = {'s', 'n', 'p'};
  for (std::size_t i = 0; i < 3 && i < bytes.size(); ++i)
    if (u8_at(bytes, i) != static_cast<unsigned char>(kStart[i])) return false;
  return true;
}

}  // namespace

ByteVector packet_bytes(const Packet& packet) {
  ByteVector bytes;
  put_text(bytes, "snp");
  put8(bytes, packet.type), put8(bytes, packet.address);
  for (const std::uint32_t value : packet.data) put_be(bytes, value, 4);
  put_be(bytes, sum_of(bytes), 2);
  return bytes;
}

ByteVector data_packet(unsigned address, const Registers& data) {
  const auto n = static_cast<unsigned>(data.size());
  const unsigned type = n > 1 ? kHasData | kBatch | n << 2 : kHasData;
  return packet_bytes({type, address, data});
}

void seal(ByteVector& packet) {
  packet.resize(packet.size() - kSum);
  put_be(packet, sum_of(packet), 2);
}

void Parser::add(hal::Bytes bytes, hal::Time now) {
  if (now - last_ > kForgets) held_.clear();
  last_ = now;
  held_.insert(held_.end(), bytes.begin(), bytes.end());
}

std::optional<Packet> Parser::next() {
  const auto drop = [this](std::size_t n) {
    held_.erase(held_.begin(), held_.begin() + static_cast<std::ptrdiff_t>(n));
  };
  while (!held_.empty()) {
    if (!starts(held_)) {
      drop(1);
      continue;
    }
    if (held_.size() < kHead) return std::nullopt;
    Packet packet{u8_at(held_, 3), u8_at(held_, 4), {}};
    const std::size_t registers = packet.has_data() ? packet.count() : 0;
    const std::size_t size = kHead + 4 * registers + kSum;
    if (held_.size() < size) return std::nullopt;
    const hal::Bytes whole = hal::Bytes(held_).first(size);
    if (get_be(whole, size - kSum, kSum) != sum_of(whole.first(size - kSum))) {
      drop(1);
      continue;
    }
    for (std::size_t i = 0; i < registers; ++i)
      packet.data.push_back(static_cast<std::uint32_t>(get_be(whole, kHead + 4 * i, 4)));
    drop(size);
    return packet;
  }
  return std::nullopt;
}

}  // namespace sim::um7
