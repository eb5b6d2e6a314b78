#include "test/sim/uart.h"

namespace sim {
namespace {

constexpr std::size_t kBitsPerByte = 10;

// Level of the line at `time`, in bit times of the sender; idle is high.
bool is_high(hal::Bytes sent, double time) {
  const auto bit = static_cast<std::size_t>(time);
  const std::size_t byte = bit / kBitsPerByte;
  const std::size_t part = bit % kBitsPerByte;
  if (byte >= sent.size() || part == kBitsPerByte - 1) return true;
  if (part == 0) return false;
  return ((std::to_integer<unsigned>(sent[byte]) >> (part - 1)) & 1U) != 0;
}

}  // namespace

ByteVector resample(hal::Bytes sent, unsigned sender_baud, unsigned receiver_baud) {
  ByteVector received;
  if (sender_baud == receiver_baud || receiver_baud == 0) {
    received.assign(sent.begin(), sent.end());
    return received;
  }
  const double bit = static_cast<double>(sender_baud) / static_cast<double>(receiver_baud);
  const double end = static_cast<double>(sent.size() * kBitsPerByte);
  double time = 0.0;
  while (time < end) {
    if (is_high(sent, time)) {
      time = static_cast<double>(static_cast<std::size_t>(time) + 1);  // edges lie between bits
      continue;
    }
    unsigned value = 0;
    for (unsigned i = 0; i < 8; ++i)
      if (is_high(sent, time + (1.5 + i) * bit)) value |= 1U << i;
    received.push_back(static_cast<std::byte>(value));
    time += 9.5 * bit;
  }
  return received;
}

}  // namespace sim
