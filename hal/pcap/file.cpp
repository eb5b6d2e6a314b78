#include "hal/pcap/file.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace hal::pcap {
namespace {

constexpr std::uint32_t kMicro = 0xA1B2C3D4, kNano = 0xA1B23C4D;  // pcap
constexpr std::size_t kFileHead = 24, kRecordHead = 16;
constexpr std::uint32_t kSection = 0x0A0D0D0A, kOrder = 0x1A2B3C4D;  // pcapng
constexpr std::uint32_t kInterface = 1, kOldPacket = 2, kSimplePacket = 3, kPacket = 6;
constexpr std::uint32_t kResolution = 9, kOffset = 14;  // options of an interface
constexpr std::size_t kLeastBlock = 12;
constexpr std::int64_t kNsPerS = 1'000'000'000;

std::uint32_t byte_at(Bytes b, std::size_t at) { return std::to_integer<std::uint32_t>(b[at]); }

}  // namespace

// Callers have looked that it is there.
std::uint32_t File::u16(std::size_t at) const {
  const std::uint32_t a = byte_at(bytes_, at), b = byte_at(bytes_, at + 1);
  return is_big_ ? a << 8 | b : b << 8 | a;
}

std::uint32_t File::u32(std::size_t at) const {
  return is_big_ ? u16(at) << 16 | u16(at + 2) : u16(at + 2) << 16 | u16(at);
}

File::File(Bytes bytes) : bytes_(bytes) {
  if (bytes_.size() < kLeastBlock) return;
  if (u32(0) == kSection) {  // reads the same both ways
    format_ = Format::pcapng;
    return;
  }
  for (const bool big : {false, true}) {
    is_big_ = big;
    const std::uint32_t magic = u32(0);
    if ((magic != kMicro && magic != kNano) || bytes_.size() < kFileHead) continue;
    format_ = Format::pcap;
    counts_ns_ = magic == kNano;
    link_ = u32(20) & 0x0FFFFFFF;  // above: how long a check sequence ends the frames
    at_ = kFileHead;
    return;
  }
}

std::optional<Frame> File::next() {
  switch (format_) {
    case Format::none:
      return {};
    case Format::pcap:
      return next_record();
    case Format::pcapng:
      return next_block();
  }
  return {};
}

// u32 s | u32 us or ns | u32 captured | u32 on the wire | data
std::optional<Frame> File::next_record() {
  if (unread() < kRecordHead) return {};
  const std::uint32_t captured = u32(at_ + 8);
  if (captured > unread() - kRecordHead) return {};
  const std::int64_t fraction = u32(at_ + 4);
  Frame frame{bytes_.subspan(at_ + kRecordHead, captured),
              u32(at_) * kNsPerS + (counts_ns_ ? fraction : 1000 * fraction), link_,
              captured < u32(at_ + 12)};
  at_ += kRecordHead + captured;
  return frame;
}

// Block: u32 type | u32 size of the whole | body | u32 size again
std::optional<Frame> File::next_block() {
  while (unread() >= kLeastBlock) {
    if (u32(at_) == kSection && !begin_section()) return {};
    const std::size_t block = at_, size = u32(at_ + 4);
    if (size < kLeastBlock || size % 4 != 0 || size > unread()) return {};
    if (u32(at_ + size - 4) != size) return {};
    const std::uint32_t type = u32(at_);
    at_ += size;
    if (type == kInterface) add_interface(block, size);
    if (const auto frame = frame_of(block, size, type)) return frame;
  }
  return {};
}

bool File::begin_section() {
  is_big_ = false;
  if (u32(at_ + 8) != kOrder) is_big_ = true;
  interfaces_.clear();
  return u32(at_ + 8) == kOrder;
}

// u16 link | u16 | u32 most captured | options {u16 code | u16 size | value, padded to 4 bytes}
void File::add_interface(std::size_t block, std::size_t size) {
  if (interfaces_.size() == kMostInterfaces) return;
  Interface i;
  const std::size_t end = block + size - 4;
  if (size >= kLeastBlock + 4) i.link = u16(block + 8);
  for (std::size_t at = block + 16; at + 4 <= end;) {
    const std::uint32_t code = u16(at), length = u16(at + 2);
    at += 4;
    if (code == 0 || length > end - at) break;
    if (code == kResolution && length >= 1) i.resolution = byte_at(bytes_, at);
    if (code == kOffset && length == 8) {
      const std::uint64_t low = u32(is_big_ ? at + 4 : at), high = u32(is_big_ ? at : at + 4);
      i.offset_s = static_cast<std::int64_t>(high << 32 | low);
    }
    at += (length + 3U) & ~3U;
  }
  interfaces_.push_back(i);
}

std::optional<Frame> File::frame_of(std::size_t block, std::size_t size, std::uint32_t type) const {
  const bool is_simple = type == kSimplePacket, is_old = type == kOldPacket;
  if (!is_simple && !is_old && type != kPacket) return {};
  const std::size_t head = is_simple ? 12 : 28;
  if (size < head + 4) return {};
  const std::size_t room = size - head - 4;
  const std::size_t index = is_simple ? 0 : is_old ? u16(block + 8) : u32(block + 8);
  if (index >= interfaces_.size()) return {};
  const Interface& interface = interfaces_[index];
  const std::size_t wire = u32(is_simple ? block + 8 : block + 24);
  const std::size_t captured = is_simple ? std::min(wire, room) : u32(block + 20);
  if (captured > room) return {};
  Frame frame{bytes_.subspan(block + head, captured), 0, interface.link, captured < wire};
  if (!is_simple) {
    const std::uint64_t high = u32(block + 12), low = u32(block + 16);
    frame.unix_ns = time_of(interface, high << 32 | low);
  }
  return frame;
}

// The resolution is a power of ten, or with its highest bit set of two. What does not fit the time
// line is at its end.
std::int64_t File::time_of(const Interface& i, std::uint64_t ticks) const {
  const unsigned power = i.resolution & 127;
  const double base = (i.resolution & 128) != 0 ? 2.0 : 10.0;
  double ns = 0;
  std::int64_t whole = 0;
  if (base == 10.0 && power <= 9) {
    std::uint64_t scale = 1;
    for (unsigned k = power; k < 9; ++k) scale *= 10;
    constexpr auto kMost = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    whole = static_cast<std::int64_t>(ticks > kMost / scale ? kMost : ticks * scale);
  } else if (base == 2.0 && power < 63) {
    const std::uint64_t seconds = ticks >> power, rest = ticks - (seconds << power);
    ns = std::ldexp(static_cast<double>(rest), -static_cast<int>(power)) * 1e9;
    whole = seconds > 9'000'000'000 ? 0 : static_cast<std::int64_t>(seconds) * kNsPerS;
  } else {
    ns = static_cast<double>(ticks) * std::pow(base, -static_cast<double>(power)) * 1e9;
  }
  const bool fits = i.offset_s < 9'000'000'000 && i.offset_s > -9'000'000'000;
  const std::int64_t offset = fits ? i.offset_s * kNsPerS : 0;
  std::int64_t sum = 0;
  const bool is_out =
      __builtin_add_overflow(whole, static_cast<std::int64_t>(std::min(ns, 9e18)), &sum) ||
      __builtin_add_overflow(sum, offset, &sum);
  return is_out ? kFarthestNs : std::clamp(sum, -kFarthestNs, kFarthestNs);
}

}  // namespace hal::pcap
