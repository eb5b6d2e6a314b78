#include "drivers/ydlidar/framing.h"

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr std::size_t kStamp = 8;
constexpr std::size_t kMostSamples = (YdlidarFraming::kMaxFrame - YdlidarFraming::kHead) / 4;
constexpr int kMostMisses = 3;

// Of samples of three bytes: one that counts as a word, and a word.
std::uint16_t xor_samples(Bytes b) {
  std::uint64_t x = 0, y = 0, z = 0;  // of eight samples, byte by byte
  std::size_t at = 0;
  for (; at + 24 <= b.size(); at += 24) {
    x ^= wire::u64(b, at);
    y ^= wire::u64(b, at + 8);
    z ^= wire::u64(b, at + 16);
  }
  // Every third byte is a high one.
  const std::uint64_t high =
      (x & 0x0000'FF00'00FF'0000) ^ (y & 0x00FF'0000'FF00'00FF) ^ (z & 0xFF00'00FF'0000'FF00);
  const auto folded = [](std::uint64_t v) {
    v ^= v >> 32;
    v ^= v >> 16;
    return (v ^ v >> 8) & 0xFF;
  };
  std::uint64_t sum = folded(x ^ y ^ z ^ high) | folded(high) << 8;
  for (; at + 3 <= b.size(); at += 3) sum ^= wire::u8(b, at) ^ wire::u16(b, at + 1);
  return static_cast<std::uint16_t>(sum);
}

std::size_t measure_reply(Bytes b) {
  if (b.size() < YdlidarFraming::kDescriptor) return kNeedMore;
  const std::uint32_t length = wire::u32(b, 2) & 0x3FFFFFFF;
  switch (wire::u8(b, 6)) {
    case YdlidarFraming::kMeasurement:
      return YdlidarFraming::kDescriptor;  // packets follow, whatever its length says
    case YdlidarFraming::kHealth:
      return length == 3 ? YdlidarFraming::kDescriptor + 3 : kNotAFrame;
    case YdlidarFraming::kSettings:
      return length >= 1 && length <= 20 ? YdlidarFraming::kDescriptor + length : kNotAFrame;
    default:
      return kNotAFrame;
  }
}

}  // namespace

bool YdlidarFraming::agrees(Bytes packet, std::size_t sample) {
  const Bytes samples = packet.subspan(kHead);
  const unsigned x = sample == 3 ? xor_samples(samples) : wire::xor16(samples);
  return (x ^ wire::xor16(packet.first(8))) == wire::u16(packet, 8);
}

std::size_t YdlidarFraming::measure(Bytes b, bool last) const {
  const unsigned first = wire::u8(b, 0);
  if (first != 0xAA && first != 0xA5) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  const unsigned second = wire::u8(b, 1);
  if (first == 0xA5) return second == 0x5A ? measure_reply(b) : kNotAFrame;
  if (second == 0x66) return kStamp;
  if (second != 0x55) return kNotAFrame;
  if (b.size() < kHead) return kNeedMore;
  const std::size_t n = wire::u8(b, 3);
  if (n == 0 || n > kMostSamples) return kNotAFrame;
  if ((wire::u8(b, 4) & wire::u8(b, 6) & 1) == 0) return kNotAFrame;
  if (learnt_ > 0) return kHead + n * learnt_;
  // A zero packet without a return agrees in any kind: the longest that does is meant.
  std::size_t agreed = 0;
  for (std::size_t sample = 2; sample <= 4 && (agreed == 0 || n == 1); ++sample) {
    const std::size_t size = kHead + n * sample;
    if (b.size() < size && !last) return kNeedMore;
    if (b.size() >= size && agrees(b.first(size), sample)) agreed = size;
  }
  return agreed > 0 ? agreed : kHead + n * 4;  // damaged
}

bool YdlidarFraming::intact(Bytes frame) {
  switch (kind_of(frame)) {
    case Kind::reply:
      return true;
    case Kind::stamp:
      return wire::xor8(frame) == 0;
    case Kind::packet: {
      const std::size_t sample = sample_size(frame);
      const bool good = agrees(frame, sample);
      misses_ = good ? 0 : misses_ + 1;
      if (good && wire::u8(frame, 3) > 1) learnt_ = sample;
      if (misses_ >= kMostMisses) forget();
      return good;
    }
  }
  return false;
}

YdlidarFraming::Kind YdlidarFraming::kind_of(Bytes frame) {
  if (wire::u8(frame, 0) == 0xA5) return Kind::reply;
  return wire::u8(frame, 1) == 0x66 ? Kind::stamp : Kind::packet;
}

std::size_t YdlidarFraming::sample_size(Bytes packet) {
  return (packet.size() - kHead) / wire::u8(packet, 3);
}

bool YdlidarFraming::is_reply(Bytes frame, unsigned type, std::size_t payload) {
  return kind_of(frame) == Kind::reply && wire::u8(frame, 6) == type &&
         frame.size() == kDescriptor + payload;
}

}  // namespace drivers
