#include "drivers/um7/packet.h"

#include <algorithm>
#include <array>

namespace drivers::um7 {
namespace {

// Of a packet of this type; empty: there is no such packet.
std::optional<std::size_t> registers_of(unsigned type) {
  if ((type & kHasData) == 0) return 0;
  if ((type & kBatch) == 0) return 1;
  const unsigned n = type >> 2 & 15;
  return n == 0 ? std::nullopt : std::optional<std::size_t>(n);
}

}  // namespace

std::size_t Framing::measure(Bytes b) {
  constexpr std::array kHead{'s', 'n', 'p'};
  for (std::size_t i = 0; i < std::min(b.size(), kHead.size()); ++i) {
    if (wire::u8(b, i) != kHead[i]) return kNotAFrame;
  }
  if (b.size() < 4) return kNeedMore;
  const auto n = registers_of(type_of(b));
  return n ? 7 + 4 * *n : kNotAFrame;
}

bool Framing::intact(Bytes frame) {
  const std::size_t n = frame.size() - 2;
  return (wire::sum_of(frame.first(n)) & 0xFFFF) == wire::u16be(frame, n);
}

void say(Request& request, unsigned type, unsigned address, std::optional<std::uint32_t> value) {
  request.text("snp").u8(type).u8(address);
  if (value) request.u32be(*value);
  request.u16be(wire::sum_of(request.view()) & 0xFFFF);
}

}  // namespace drivers::um7
