#include "drivers/ngimu/osc.h"

#include <algorithm>
#include <bit>
#include <cstring>

namespace drivers::osc {
namespace {

constexpr unsigned kEnd = 0xC0, kEscape = 0xDB, kEscapedEnd = 0xDC, kEscapedEscape = 0xDD;
constexpr std::size_t kLongestAddress = 64;
constexpr std::string_view kBundle("#bundle\0", 8);

std::string_view text_in(Bytes b) {
  return {reinterpret_cast<const char*>(b.data()), b.size()};  // characters may look at anything
}

// Of the text at the front with its zeros; kNeedMore: it does not end here.
std::size_t padded_length(Bytes b, std::size_t most) {
  const std::size_t end = text_in(b.first(std::min(b.size(), most))).find('\0');
  if (end == std::string_view::npos) return b.size() < most ? kNeedMore : kNotAFrame;
  const std::size_t length = (end + 4) / 4 * 4;
  return length <= b.size() ? length : kNeedMore;
}

// Of an argument of this type at the front; kNeedMore: it does not end here.
std::size_t argument_length(char type, Bytes b) {
  switch (type) {
    case 'i':
    case 'f':
    case 'c':
    case 'r':
    case 'm':
      return 4;
    case 'h':
    case 't':
    case 'd':
      return 8;
    case 'T':
    case 'F':
    case 'N':
    case 'I':
      return 0;
    case 's':
    case 'S':
      return padded_length(b, Framing::kMaxFrame);
    case 'b':
      return b.size() < 4 ? kNeedMore : 4 + (std::size_t{wire::u32be(b, 0)} + 3) / 4 * 4;
    default:
      return Framing::kMaxFrame + 1;
  }
}

// Of the message at the front; kNeedMore or kNotAFrame.
std::size_t message_length(Bytes b, Message& into) {
  const std::size_t address = padded_length(b, kLongestAddress);
  if (address == kNeedMore || address == kNotAFrame) return address;
  if (address == b.size()) return kNeedMore;
  if (wire::u8(b, address) != ',') return kNotAFrame;
  const std::size_t types = padded_length(b.subspan(address), kLongestAddress);
  if (types == kNeedMore || types == kNotAFrame) return types;
  into.address = text_in(b.first(address));
  into.address = into.address.substr(0, into.address.find('\0'));
  into.types = text_in(b.subspan(address + 1, types - 1));
  into.types = into.types.substr(0, into.types.find('\0'));
  std::size_t at = address + types;
  for (const char type : into.types) {
    const std::size_t length = argument_length(type, b.subspan(at));
    if (length == kNeedMore) return kNeedMore;
    if (length > Framing::kMaxFrame) return kNotAFrame;
    at += length;
    if (at > b.size()) return at > Framing::kMaxFrame ? kNotAFrame : kNeedMore;
  }
  into.arguments = b.subspan(address + types, at - address - types);
  return at;
}

bool is_packet(Bytes b) {
  return each_message(b, [](const Message&) {});
}

// Whether a packet may begin like this. None of these bytes is one that SLIP escapes.
bool begins_packet(Bytes b) {
  const std::string_view text = text_in(b.first(std::min(b.size(), kBundle.size())));
  if (text[0] != '/') return kBundle.starts_with(text);
  const std::size_t address = padded_length(b, kLongestAddress);
  if (address == kNotAFrame) return false;
  if (address != kNeedMore && address < b.size() && wire::u8(b, address) != ',') return false;
  return std::ranges::all_of(text.substr(0, text.find('\0')),
                             [](char c) { return c > ' ' && c <= '~'; });
}

bool is_beginning(unsigned byte) { return byte == '#' || byte == '/'; }

// As it stands, where the next packet follows.
std::size_t measure_plain(Bytes b) {
  if (wire::u8(b, 0) == '/') {
    Message message;
    const std::size_t n = message_length(b, message);
    if (n == kNeedMore || n == b.size()) return kNeedMore;
    return n != kNotAFrame && is_beginning(wire::u8(b, n)) ? n : kNotAFrame;
  }
  for (std::size_t at = kBundleHead; at < b.size();) {
    const unsigned next = wire::u8(b, at);
    if (at > kBundleHead && is_beginning(next)) return at;
    if (at + 4 > b.size()) return next == 0 ? kNeedMore : kNotAFrame;
    const std::size_t size = wire::u32be(b, at);
    if (size == 0 || size % 4 != 0 || at + 4 + size > Framing::kMaxFrame) return kNotAFrame;
    at += 4 + size;
  }
  return kNeedMore;
}

// Into `out`, which is as long; its size, or 0 where an escape is none.
std::size_t unescape(Bytes b, std::span<std::byte> out) {
  std::size_t n = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    unsigned byte = wire::u8(b, i);
    if (byte == kEscape) {
      const unsigned meant = ++i < b.size() ? wire::u8(b, i) : 0;
      if (meant != kEscapedEnd && meant != kEscapedEscape) return 0;
      byte = meant == kEscapedEnd ? kEnd : kEscape;
    }
    out[n++] = static_cast<std::byte>(byte);
  }
  return n;
}

std::size_t find_end(Bytes b) {
  const Bytes within = b.first(std::min(b.size(), Framing::kMaxFrame));
  return static_cast<std::size_t>(std::ranges::find(within, std::byte{kEnd}) - within.begin());
}

// Of a frame with SLIP's end byte.
bool is_slip(Bytes frame) {
  if (frame.empty() || wire::u8(frame, frame.size() - 1) != kEnd) return false;
  std::array<std::byte, Framing::kMaxFrame> plain;
  const std::size_t n = unescape(frame.first(frame.size() - 1), plain);
  return n > 0 && is_packet(Bytes(plain.data(), n));
}

}  // namespace

std::size_t Framing::measure(Bytes b) const {
  if (!begins_packet(b)) return kNotAFrame;
  if (manner_ == Manner::plain) return measure_plain(b);
  const std::size_t end = find_end(b);
  const bool ends = end < std::min(b.size(), kMaxFrame), may_end = b.size() < kMaxFrame;
  if (manner_ == Manner::slip) return ends ? end + 1 : may_end ? kNeedMore : kNotAFrame;
  if (ends && is_slip(b.first(end + 1))) return end + 1;
  const std::size_t plain = measure_plain(b);
  // Escaped bytes, of which some are still to come, make no sense as they stand.
  return plain == kNotAFrame && !ends && may_end ? kNeedMore : plain;
}

std::size_t Framing::measure_last(Bytes b) {
  if (manner_ == Manner::slip || b.size() > kMaxFrame || !is_packet(b)) return measure(b);
  manner_ = Manner::plain;
  return b.size();
}

bool Framing::intact(Bytes frame) {
  if (manner_ != Manner::plain && is_slip(frame)) {
    manner_ = Manner::slip;
    return true;
  }
  return manner_ != Manner::slip && is_packet(frame);
}

Packet::Packet(Bytes frame, bool is_line) : bytes_(frame) {
  if (is_line) bytes_ = {plain_.data(), unescape(frame.first(frame.size() - 1), plain_)};
}

std::optional<Message> message_in(Bytes element) {
  Message message;
  if (element.empty() || wire::u8(element, 0) != '/') return std::nullopt;
  if (message_length(element, message) != element.size()) return std::nullopt;
  // A bundle that lost its end may add up with the head of the next in it.
  if (text_in(element).find(kBundle) != std::string_view::npos) return std::nullopt;
  return message;
}

std::int64_t ns_of(std::uint64_t ntp) {
  const std::uint64_t seconds = ntp >> 32, fraction = ntp & 0xFFFF'FFFF;
  return static_cast<std::int64_t>(seconds * 1'000'000'000 +
                                   ((fraction * 1'000'000'000 + (std::uint64_t{1} << 31)) >> 32));
}

void write(Request& request, std::string_view address, std::initializer_list<float> values) {
  Request plain;
  const auto text = [&plain](std::string_view s) {
    plain.text(s);
    for (std::size_t n = 4 - s.size() % 4; n > 0; --n) plain.u8(0);
  };
  text(address);
  std::array<char, 9> types{','};
  const std::size_t n = std::min(values.size(), types.size() - 1);
  std::fill_n(types.begin() + 1, n, 'f');
  text({types.data(), 1 + n});
  for (const float value : values) plain.u32be(std::bit_cast<std::uint32_t>(value));

  const bool is_line = request.own().port(Channel::data) == 0;
  for (const std::byte b : plain.view()) {
    const auto byte = std::to_integer<unsigned>(b);
    if (is_line && byte == kEnd) {
      request.u8(kEscape).u8(kEscapedEnd);
    } else if (is_line && byte == kEscape) {
      request.u8(kEscape).u8(kEscapedEscape);
    } else {
      request.u8(byte);
    }
  }
  if (is_line) request.u8(kEnd);
}

}  // namespace drivers::osc
