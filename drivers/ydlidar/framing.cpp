#include "drivers/ydlidar/framing.h"

#include "drivers/wire.h"

namespace drivers {
namespace {

constexpr std::size_t kStamp = 8;
constexpr std::size_t kMostSamples = (YdlidarFraming::kMaxFrame - YdlidarFraming::kHead) / 4;
constexpr int kMostMisses = 3;

std::uint16_t xor_words(Bytes b) {
  std::uint16_t x = 0;
  for (std::size_t i = 0; i + 1 < b.size(); i += 2) x ^= wire::u16(b, i);
  return x;
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
  std::uint16_t x = xor_words(packet.first(8));
  const Bytes samples = packet.subspan(kHead);
  if (sample == 3) {
    for (std::size_t i = 0; i + 2 < samples.size(); i += 3) {
      x ^= wire::u8(samples, i);
      x ^= wire::u16(samples, i + 1);
    }
  } else {
    x ^= xor_words(samples);
  }
  return x == wire::u16(packet, 8);
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
