#include "drivers/rplidar/framing.h"

#include <string_view>

#include "drivers/wire.h"

namespace drivers {
namespace {

using rplidar::Answer;
using rplidar::Format;

using rplidar::kNodeBytes;

constexpr std::size_t kDescriptor = 7;
constexpr std::uint32_t kLoop = 1u << 30;
// A quarter of all offsets look like a node: a run of this many is needed to trust one.
constexpr std::size_t kRun = 5;
constexpr std::string_view kBanner = "RP LIDAR System.\r\n";
constexpr std::uint16_t kRP = 'R' | 'P' << 8;  // no measurement begins so
constexpr std::size_t kMostBanner = 128;

// Length of the reply that has this descriptor, or kNotAFrame. Strict, since a capsule may begin
// with A5 5A too.
std::size_t length_of(std::uint32_t length, unsigned type) {
  const std::size_t whole = kDescriptor + length;
  if (const Format* const format = rplidar::find_format(type)) {
    return length == (format->bytes | kLoop) ? kDescriptor : kNotAFrame;
  }
  switch (type) {
    case 0x04:
      return length == 20 ? whole : kNotAFrame;
    case 0x06:
      return length == 3 ? whole : kNotAFrame;
    case 0x14:
      return length == 15 ? whole : kNotAFrame;
    case 0x15:
    case 0xFF:
      return length == 4 ? whole : kNotAFrame;
    case 0x20:
    case 0x21:
      return length <= 128 ? whole : kNotAFrame;
    default:
      return kNotAFrame;
  }
}

std::size_t measure_banner(Bytes b) {
  int lines = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const char c = static_cast<char>(b[i]);
    if (i < kBanner.size() ? c != kBanner[i] : (c < ' ' || c > '~') && c != '\r' && c != '\n') {
      return kNotAFrame;
    }
    if (i == kMostBanner) return kNotAFrame;
    lines += c == '\n';
    if (lines == 3) return i + 1;
  }
  return kNeedMore;
}

}  // namespace

std::size_t RplidarFraming::measure(Bytes b, bool last) {
  const unsigned first = wire::u8(b, 0);
  if (b.size() < 2 ? first == 'R' : wire::u16(b, 0) == kRP) {
    const std::size_t banner = measure_banner(b);
    if (banner != kNotAFrame) return banner;
  }
  if (first == 0xA5 && (b.size() < 2 || wire::u8(b, 1) == 0x5A)) {
    if (b.size() < kDescriptor) return kNeedMore;
    const std::size_t reply = length_of(wire::u32(b, 2), wire::u8(b, 6));
    if (reply != kNotAFrame) return reply;
  }
  if (!format_) return kNotAFrame;
  if (format_->answer == Answer::standard) return measure_node(b, last);
  if (b.size() < 2) return kNeedMore;
  const bool may_be = rplidar::may_start(*format_, b) && rplidar::is_plausible(*format_, b);
  return may_be ? format_->bytes : kNotAFrame;
}

std::size_t RplidarFraming::measure_node(Bytes b, bool last) {
  if (b.size() < kNodeBytes) return kNeedMore;
  if (aligned_ != Aligned::no && rplidar::may_be_node(b)) {
    if (aligned_ == Aligned::yes && (node_at_ < 0 || goes_on(node_at_, rplidar::node_angle(b))))
      return kNodeBytes;
    // Lost bytes move the angle or the alignment: what follows tells which.
    const std::size_t run = measure_run(b, last, false);
    if (run != kNotAFrame) return run;
  }
  aligned_ = Aligned::no;
  return measure_run(b, last, true);
}

// A node, if it begins a run of good ones. At the end of all bytes a shorter run has to do.
std::size_t RplidarFraming::measure_run(Bytes b, bool last, bool by_angle) const {
  int before = -1;
  for (std::size_t i = 0; i < kRun; ++i, b = b.subspan(kNodeBytes)) {
    if (b.size() < kNodeBytes) {
      if (!last) return kNeedMore;
      return i >= 2 || node_at_ < 0 || !by_angle ? kNodeBytes : kNotAFrame;
    }
    const int at = rplidar::node_angle(b);
    const bool plausible = at <= rplidar::kNodeTurn && (before < 0 || goes_on(before, at));
    if (!rplidar::may_be_node(b) || (by_angle && !plausible)) return kNotAFrame;
    before = at;
  }
  return kNodeBytes;
}

// Of what is no node: there is none of that size.
bool RplidarFraming::is_intact(Bytes frame) {
  if (frame.size() > kBanner.size() && wire::u16(frame, 0) == kRP) return accept(Part::banner);
  const bool descriptor = wire::u8(frame, 0) == 0xA5 && wire::u8(frame, 1) == 0x5A &&
                          frame.size() >= kDescriptor &&
                          length_of(wire::u32(frame, 2), wire::u8(frame, 6)) == frame.size();
  if (descriptor) {
    const Format* const loop = rplidar::find_format(wire::u8(frame, 6));
    if (loop == nullptr) return accept(Part::reply);
    format_ = loop;
    aligned_ = Aligned::yes;
    node_at_ = -1;
    return accept(Part::loop);
  }
  if (rplidar::is_intact(*format_, frame)) return accept(Part::measurement);
  damaged_ = true;
  return false;
}

}  // namespace drivers
