#include "hal/pcap/packet.h"

#include <algorithm>

namespace hal::pcap {
namespace {

constexpr std::uint32_t kEthernet = 1, kNull = 0, kLoop = 108, kSll = 113, kSll2 = 276, kIpv4 = 228;
constexpr std::array<std::uint32_t, 3> kRaw{101, 12, 14};
constexpr std::uint32_t kTypeIp = 0x0800;
constexpr std::array<std::uint32_t, 3> kTypeVlan{0x8100, 0x88A8, 0x9100};
constexpr std::size_t kMostTags = 4, kLongest = 65'535;

std::uint32_t u8(Bytes b, std::size_t at) { return std::to_integer<std::uint32_t>(b[at]); }
std::uint32_t u16(Bytes b, std::size_t at) { return u8(b, at) << 8 | u8(b, at + 1); }
std::uint32_t u32(Bytes b, std::size_t at) { return u16(b, at) << 16 | u16(b, at + 2); }

std::optional<Bytes> behind(Bytes b, std::size_t head) {
  if (b.size() < head) return {};
  return b.subspan(head);
}

// `type` stands at a place, what it types behind it.
std::optional<Bytes> typed(Bytes b, std::size_t type_at, std::size_t payload_at) {
  for (std::size_t tags = 0; tags <= kMostTags; ++tags) {
    if (b.size() < payload_at || b.size() < type_at + 2) return {};
    const std::uint32_t type = u16(b, type_at);
    if (type == kTypeIp) return b.subspan(payload_at);
    if (std::ranges::find(kTypeVlan, type) == kTypeVlan.end()) return {};
    type_at = payload_at + 2;
    payload_at += 4;
  }
  return {};
}

}  // namespace

std::optional<Bytes> ip_in(const Frame& frame) {
  const Bytes b = frame.data;
  if (frame.link == kEthernet) return typed(b, 12, 14);
  if (frame.link == kSll) return typed(b, 14, 16);
  if (frame.link == kSll2) return typed(b, 0, 20);
  if (frame.link == kIpv4 || std::ranges::find(kRaw, frame.link) != kRaw.end()) return b;
  if (frame.link != kNull && frame.link != kLoop) return {};
  if (b.size() < 4) return {};
  const std::uint32_t family = u32(b, 0);  // in either byte order
  return family == 2 || family == 0x02000000 ? behind(b, 4) : std::nullopt;
}

// u8 {version:4, head/4:4} | u8 | u16 whole | u16 id | u16 {flags:3, at/8:13} | u8 | u8 protocol
//   u16 | u32 source | u32 destination
std::optional<Packet> Reassembly::take(const Frame& frame) {
  ++stats_.frames;
  const auto found = ip_in(frame);
  if (!found || found->empty() || u8(*found, 0) >> 4 != 4) {
    ++stats_.other;
    return {};
  }
  const Bytes ip = *found;
  const std::size_t head = (u8(ip, 0) & 15) * 4;
  if (head < 20 || ip.size() < head) {
    ++(frame.is_cut ? stats_.cut : stats_.malformed);
    return {};
  }
  // 0: the card that sends puts it in later.
  const std::size_t whole = u16(ip, 2) == 0 ? ip.size() : u16(ip, 2);
  if (whole < head || whole > ip.size()) {
    ++(frame.is_cut ? stats_.cut : stats_.malformed);
    return {};
  }
  const Packet packet{static_cast<std::uint8_t>(u8(ip, 9)), u32(ip, 12), u32(ip, 16),
                      ip.subspan(head, whole - head), frame.unix_ns};
  const std::uint32_t fragment = u16(ip, 6);
  const std::size_t at = (fragment & 0x1FFF) * 8;
  const bool more = (fragment & 0x2000) != 0;
  if (at == 0 && !more) return packet;
  ++stats_.fragments;
  return add(packet, static_cast<std::uint16_t>(u16(ip, 4)), at, !more);
}

std::optional<Packet> Reassembly::add(const Packet& fragment, std::uint16_t id, std::size_t at,
                                      bool is_last) {
  stats_.unfinished +=
      std::erase_if(open_, [&](const Datagram& d) { return fragment.unix_ns - d.first_ns > kAge; });
  const std::size_t n = fragment.payload.size(), end = at + n;
  if (n == 0 || end > kLongest || (!is_last && n % 8 != 0)) {
    ++stats_.malformed;
    return {};
  }
  auto d = std::ranges::find_if(open_, [&](const Datagram& o) {
    return o.id == id && o.protocol == fragment.protocol && o.source == fragment.source &&
           o.destination == fragment.destination;
  });
  if (d == open_.end()) {
    if (open_.size() == kMost) {
      open_.erase(open_.begin());
      ++stats_.unfinished;
    }
    open_.push_back(
        {fragment.source, fragment.destination, id, fragment.protocol, fragment.unix_ns});
    d = open_.end() - 1;
  }
  if (is_last && d->whole == 0) d->whole = end;
  if (d->bytes.size() < end) d->bytes.resize(end);
  d->filled.resize(std::max(d->filled.size(), (end + 7) / 8));
  for (std::size_t i = 0; i < n; i += 8) {
    if (d->filled[(at + i) / 8]) continue;
    d->filled[(at + i) / 8] = true;
    const std::size_t size = std::min<std::size_t>(8, n - i);
    std::ranges::copy(fragment.payload.subspan(i, size),
                      d->bytes.begin() + static_cast<std::ptrdiff_t>(at + i));
    ++d->have;
  }
  if (d->whole == 0 || d->have < (d->whole + 7) / 8) return {};
  const bool is_consistent = d->bytes.size() == d->whole;
  Packet packet = fragment;
  whole_ = std::move(d->bytes);
  open_.erase(d);
  if (!is_consistent) {  // fragments behind its end
    ++stats_.malformed;
    return {};
  }
  packet.payload = whole_;
  return packet;
}

void Reassembly::finish() {
  stats_.unfinished += open_.size();
  open_.clear();
}

}  // namespace hal::pcap
