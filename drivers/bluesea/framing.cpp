#include "drivers/bluesea/framing.h"

#include <array>
#include <optional>

#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers {
namespace {

using Format = BlueseaFraming::Format;

constexpr std::size_t kStatus = 8, kAlarm = 4, kLongestText = 64;
constexpr std::size_t kAnswerHead = 8, kLongestAnswer = 128, kCrc = 4;
constexpr int kMostMisses = 3;
constexpr unsigned kTurnMilli = 720'000;  // 0.001 deg: an end may lie behind the turn
constexpr std::array<std::string_view, 6> kReplies{
    "PRODUCT SN:", "MOTOR VERSION:", "TYPE ID:", "Set RPM:", "SET LiDAR ", "LiDAR "};

std::optional<Format> format_at(Bytes b) {
  switch (wire::u8(b, 0)) {
    case 0xCE:
    case 0xCF:
    case 0xDF:
    case 0xC7:
    case 0xAA:
    case 0x99:
      return static_cast<Format>(wire::u8(b, 0));
    default:
      return std::nullopt;
  }
}

// Cheap, before any sum: a header that makes sense and does not follow itself
// at once.
bool is_plausible(Bytes b, Format format, std::size_t n) {
  if (n == 0 || n > BlueseaFraming::kMostPoints) return false;
  switch (format) {
    case Format::ce:
    case Format::cf:
    case Format::df:
      if (wire::u16(b, 4) > 3600) return false;
      break;
    case Format::c7:
    case Format::aa:
      if (wire::u16(b, 4) < n + wire::u16(b, 6) || wire::u32(b, 8) > wire::u32(b, 12) ||
          wire::u32(b, 12) > kTurnMilli) {
        return false;
      }
      break;
    case Format::x99:
      if (wire::u16(b, 6) == 0 || wire::u16(b, 4) >= wire::u16(b, 6)) return false;
      break;
  }
  if (format != Format::ce && format != Format::cf) return true;
  for (std::size_t at = 6; at + 4 <= b.size() && at <= 16 && at + 4 <= 6 + 2 * n; ++at) {
    if (std::memcmp(&b[at], &b[0], 4) == 0) return false;
  }
  return true;
}

// u8 energy, u16 distance each.
unsigned sum_mixed(Bytes b) {
  unsigned sum = 0;
  for (std::size_t i = 0; i + 2 < b.size(); i += 3) sum += wire::u8(b, i) + wire::u16(b, i + 1);
  return sum;
}

// All words behind the code, as the body has them.
bool agrees(Bytes packet, Format format, std::size_t size) {
  const std::size_t n = wire::u16(packet, 2), head = BlueseaFraming::head_of(format);
  const Bytes body = packet.subspan(head, n * size);
  unsigned sum = wire::sum16(packet.subspan(2, head - 2));
  if (format == Format::c7 || format == Format::aa || format == Format::x99) {
    sum += wire::sum16(body.first(n * (size - 1))) + wire::sum_of(body.last(n));
  } else {
    sum += size == 2 ? wire::sum16(body) : sum_mixed(body);
  }
  return (sum & 0xFFFF) == wire::u16(packet, head + n * size);
}

// LH | u16 command | u16 serial number | u16 n, a multiple of 4 | n bytes | u32 CRC.
bool is_answer(Bytes b) { return b.size() >= 2 && wire::u8(b, 0) == 'L' && wire::u8(b, 1) == 'H'; }

std::size_t measure_answer(Bytes b) {
  if (b.size() < kAnswerHead) return kNeedMore;
  const std::size_t n = wire::u16(b, 6);
  return n % 4 == 0 && n <= kLongestAnswer ? kAnswerHead + n + kCrc : kNotAFrame;
}

// A reply ends with its line, or with what cannot be text. 0: none begins here.
std::size_t measure_text(Bytes b, bool last) {
  if (std::string_view("PMTSL").find(static_cast<char>(b[0])) == std::string_view::npos) {
    return kNotAFrame;
  }
  const std::string_view text = text_of(b);
  bool begins = false;
  for (const std::string_view reply : kReplies) {
    if (text.starts_with(reply)) begins = true;
    if (text.size() < reply.size() && reply.starts_with(text)) return last ? kNotAFrame : kNeedMore;
  }
  if (!begins) return kNotAFrame;
  for (std::size_t i = 0; i < std::min(b.size(), kLongestText); ++i) {
    const unsigned c = wire::u8(b, i);
    if (c == '\n') return i + 1;
    if (c != '\r' && (c < ' ' || c > '~')) return i;
  }
  if (b.size() >= kLongestText) return kLongestText;
  return last ? b.size() : kNeedMore;
}

}  // namespace

std::size_t BlueseaFraming::head_of(Format format) {
  switch (format) {
    case Format::ce:
      return 6;
    case Format::cf:
      return 8;
    case Format::df:
      return 16;
    case Format::c7:
      return 28;
    case Format::aa:
      return 48;
    case Format::x99:
      return 32;
  }
  return 0;
}

std::size_t BlueseaFraming::measure(Bytes b, bool last) const {
  const unsigned first = wire::u8(b, 0);
  if (first == 'S' && b.size() >= 2 && wire::u8(b, 1) == 'T') return kStatus;
  if (is_answer(b)) return measure_answer(b);
  if (first < 0x80) return measure_text(b, last);
  const std::optional<Format> format = format_at(b);
  if (!format) return kNotAFrame;
  if (b.size() < 2) return kNeedMore;
  if (first == 0xCE && wire::u8(b, 1) == 0xCE) {
    if (b.size() < 3) return kNeedMore;
    return wire::u8(b, 2) == 0 ? kAlarm : kNotAFrame;
  }
  if (wire::u8(b, 1) != 0xFA) return kNotAFrame;
  const std::size_t head = head_of(*format);
  if (b.size() < std::max<std::size_t>(head, 8)) return kNeedMore;
  const std::size_t n = wire::u16(b, 2);
  if (!is_plausible(b, *format, n)) return kNotAFrame;
  switch (*format) {
    case Format::ce:
      return measure_ce(b, n);
    case Format::cf:
    case Format::df:
    case Format::x99:
      return head + 3 * n + 2;
    case Format::c7:
    case Format::aa:
      return head + 5 * n + 2;
  }
  return kNotAFrame;
}

// Two bytes a point or three: the sum tells.
std::size_t BlueseaFraming::measure_ce(Bytes b, std::size_t n) const {
  const std::size_t two = 6 + 2 * n + 2, three = 6 + 3 * n + 2;
  if (learnt_ > 0) return learnt_ == 2 ? two : three;
  if (b.size() < two) return two;
  return agrees(b, Format::ce, 2) ? two : three;
}

bool BlueseaFraming::intact(Bytes frame) {
  switch (kind_of(frame)) {
    case Kind::text:
    case Kind::alarm:
      return true;
    case Kind::status:
      return wire::u8(frame, 6) == 'E' && wire::u8(frame, 7) == 'D';
    case Kind::answer:
      return crc_of(frame.first(frame.size() - kCrc)) == wire::u32(frame, frame.size() - kCrc);
    case Kind::packet:
      break;
  }
  const bool good = agrees(frame, format_of(frame), point_size(frame));
  misses_ = good ? 0 : misses_ + 1;
  if (good && format_of(frame) == Format::ce) learnt_ = point_size(frame);
  if (misses_ >= kMostMisses) forget();
  return good;
}

BlueseaFraming::Kind BlueseaFraming::kind_of(Bytes frame) {
  if (wire::u8(frame, 0) >= 0x80) return wire::u8(frame, 1) == 0xFA ? Kind::packet : Kind::alarm;
  if (is_answer(frame)) return Kind::answer;
  return wire::u8(frame, 1) == 'T' ? Kind::status : Kind::text;
}

// As a microcontroller's CRC unit has it: words, their highest bit first, nothing reflected.
std::uint32_t BlueseaFraming::crc_of(Bytes frame) {
  std::uint32_t crc = 0xFFFF'FFFF;
  for (std::size_t at = 0; at + 4 <= frame.size(); at += 4) {
    crc ^= wire::u32(frame, at);
    for (int bit = 0; bit < 32; ++bit) crc = crc << 1 ^ (crc >> 31 != 0 ? 0x04C1'1DB7U : 0U);
  }
  return crc;
}

Format BlueseaFraming::format_of(Bytes packet) { return static_cast<Format>(wire::u8(packet, 0)); }
std::size_t BlueseaFraming::points_of(Bytes packet) { return wire::u16(packet, 2); }
std::size_t BlueseaFraming::point_size(Bytes packet) {
  return (packet.size() - head_of(format_of(packet)) - 2) / points_of(packet);
}

}  // namespace drivers
