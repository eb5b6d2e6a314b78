#include "drivers/sick_safety/framing.h"

#include <cstring>
#include <string_view>

#include "drivers/sick_safety/cola2.h"
#include "drivers/wire.h"

namespace drivers::safety {
namespace {

constexpr std::string_view kMark = "MS3 MD\x01";  // and the major version, as far as it is known

// As far as there are bytes.
bool is_marked(Bytes b) {
  return std::memcmp(b.data(), kMark.data(), std::min(b.size(), kMark.size())) == 0;
}

// What is left of the payload from this fragment on; 0: no header of a fragment.
std::size_t rest_of_payload(Bytes header) {
  const std::uint32_t total = wire::u32(header, 8), offset = wire::u32(header, 16);
  return total <= Reassembly::kMostPayload && offset < total ? total - offset : 0;
}

std::size_t measure_fragment(Bytes b, bool last) {
  if (!is_marked(b)) return kNotAFrame;
  if (b.size() < kFragmentHeader) return last ? kNotAFrame : kNeedMore;
  const std::size_t longest = kFragmentHeader + rest_of_payload(b);
  if (longest == kFragmentHeader) return kNotAFrame;
  const Bytes within = b.first(std::min(b.size(), longest));
  for (std::size_t at = kFragmentHeader; at < within.size(); ++at) {
    const void* const found = std::memchr(&within[at], kMark[0], within.size() - at);
    if (found == nullptr) break;
    at = static_cast<std::size_t>(static_cast<const std::byte*>(found) - within.data());
    const Bytes next = b.subspan(at);
    if (next.size() >= kFragmentHeader && is_marked(next) && rest_of_payload(next) > 0) {
      return at > kFragmentHeader ? at : kNotAFrame;
    }
  }
  if (b.size() >= longest) return longest;
  return !last ? kNeedMore : b.size() > kFragmentHeader ? b.size() : kNotAFrame;
}

}  // namespace

std::size_t Framing::measure(Bytes b, bool last) const {
  return of_ == Of::commands ? cola2::measure(b, kMaxFrame) : measure_fragment(b, last);
}

bool is_fragment(Bytes frame) { return frame.size() > kFragmentHeader && is_marked(frame); }

Fragment fragment_in(Bytes frame) {
  return {wire::u32(frame, 12), wire::u32(frame, 8), wire::u32(frame, 16),
          frame.subspan(kFragmentHeader)};
}

}  // namespace drivers::safety
