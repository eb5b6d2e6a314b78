#include "hal/pcap/flows.h"

#include <algorithm>
#include <utility>

namespace hal::pcap {
namespace {

constexpr unsigned kFin = 1, kSyn = 2, kRst = 4;

std::uint32_t u8(Bytes b, std::size_t at) { return std::to_integer<std::uint32_t>(b[at]); }
std::uint32_t u16(Bytes b, std::size_t at) { return u8(b, at) << 8 | u8(b, at + 1); }
std::uint32_t u32(Bytes b, std::size_t at) { return u16(b, at) << 16 | u16(b, at + 2); }

// How far `a` lies behind `b` in a stream, either sign.
std::int32_t ahead(std::uint32_t a, std::uint32_t b) { return static_cast<std::int32_t>(a - b); }

Flow flow_of(const Packet& p) {
  return {p.protocol, p.source, p.destination, static_cast<std::uint16_t>(u16(p.payload, 0)),
          static_cast<std::uint16_t>(u16(p.payload, 2))};
}

}  // namespace

void Flows::take(const Packet& packet) {
  if (packet.protocol == kUdp) take_udp(packet);
  if (packet.protocol == kTcp) take_tcp(packet);
}

// u16 source port, destination port | u16 length of the whole | u16 check
void Flows::take_udp(const Packet& p) {
  const Bytes b = p.payload;
  if (b.size() < 8 || u16(b, 4) < 8 || u16(b, 4) > b.size()) {
    ++stats_.malformed;
    return;
  }
  ++stats_.datagrams;
  sink_.on_payload(flow_of(p), b.subspan(8, u16(b, 4) - 8), p.unix_ns, 0);
}

// u16 source port, destination port | u32 sequence, acknowledge | u8 {head/4:4} | u8 flags | ...
void Flows::take_tcp(const Packet& p) {
  const Bytes b = p.payload;
  const std::size_t head = b.size() < 20 ? 0 : (u8(b, 12) >> 4) * 4;
  if (head < 20 || head > b.size()) {
    ++stats_.malformed;
    return;
  }
  const unsigned flags = u8(b, 13);
  const bool begins = (flags & kSyn) != 0;
  const Bytes payload = b.subspan(head);
  if (payload.empty() && (flags & (kSyn | kFin | kRst)) == 0) return;
  const std::uint32_t sequence = u32(b, 4) + (begins ? 1 : 0);
  Stream& stream = stream_of(flow_of(p), sequence, begins, p.unix_ns);
  if (!payload.empty()) ++stats_.segments;
  take_segment(stream, sequence, payload, p.unix_ns);
}

// One that was not seen to begin begins with what is seen of it.
Flows::Stream& Flows::stream_of(const Flow& flow, std::uint32_t sequence, bool begins,
                                std::int64_t unix_ns) {
  auto s = std::ranges::find(streams_, flow, &Stream::flow);
  if (s == streams_.end()) {
    if (streams_.size() == kMostStreams) {
      s = std::ranges::min_element(streams_, {}, &Stream::newest_ns);
      flush(*s);
      streams_.erase(s);
    }
    streams_.push_back({flow, sequence});
    s = streams_.end() - 1;
  }
  const std::int32_t off = ahead(sequence, s->next);
  const bool is_another =
      off > static_cast<std::int32_t>(kJump) || off < -static_cast<std::int32_t>(kJump);
  if ((begins && off != 0) || is_another) {
    flush(*s);
    s->next = sequence;
  }
  s->newest_ns = unix_ns;
  return *s;
}

void Flows::take_segment(Stream& s, std::uint32_t sequence, Bytes bytes, std::int64_t unix_ns) {
  if (!s.early.empty() && unix_ns - s.early.front().unix_ns > kHold) give_up_hole(s, unix_ns);
  if (bytes.empty()) return;
  if (ahead(sequence, s.next) <= 0) {
    deliver(s, sequence, bytes, unix_ns);
    return deliver_held(s, unix_ns);
  }
  ++stats_.reordered;
  const auto place = std::ranges::find_if(
      s.early, [&](const Early& e) { return ahead(e.sequence, sequence) > 0; });
  s.early.insert(place, {sequence, unix_ns, {bytes.begin(), bytes.end()}});
  s.held += bytes.size();
  while (s.held > kMostHeld || s.early.size() > kMostEarly) give_up_hole(s, unix_ns);
}

void Flows::deliver(Stream& s, std::uint32_t sequence, Bytes bytes, std::int64_t unix_ns) {
  const auto known = static_cast<std::size_t>(ahead(s.next, sequence));
  const std::size_t repeated = std::min(known, bytes.size());
  stats_.repeated_bytes += repeated;
  bytes = bytes.subspan(repeated);
  if (bytes.empty()) return;
  s.next += static_cast<std::uint32_t>(bytes.size());
  sink_.on_payload(s.flow, bytes, unix_ns, std::exchange(lost_before_, 0));
}

void Flows::deliver_held(Stream& s, std::int64_t unix_ns) {
  while (!s.early.empty() && ahead(s.early.front().sequence, s.next) <= 0) {
    const Early early = std::move(s.early.front());
    s.early.erase(s.early.begin());
    s.held -= early.bytes.size();
    deliver(s, early.sequence, early.bytes, unix_ns);
  }
}

void Flows::give_up_hole(Stream& s, std::int64_t unix_ns) {
  lost_before_ = s.early.front().sequence - s.next;
  stats_.lost_bytes += lost_before_;
  s.next = s.early.front().sequence;
  deliver_held(s, unix_ns);
}

void Flows::flush(Stream& s) {
  while (!s.early.empty()) give_up_hole(s, s.newest_ns);
}

void Flows::finish() {
  for (Stream& s : streams_) flush(s);
}

}  // namespace hal::pcap
