#include "test/sim/osc.h"

#include <cstring>

#include "test/sim/wire.h"

namespace sim::osc {
namespace {

constexpr std::byte kEnd{0xC0}, kEscape{0xDB}, kEscapedEnd{0xDC}, kEscapedEscape{0xDD};
constexpr std::size_t kLongest = 2048;
constexpr std::string_view kBundle{"#bundle\0", 8};

void put_string(ByteVector& to, std::string_view text) {
  put_text(to, text);
  do {
    put8(to, 0);
  } while (to.size() % 4 != 0);
}

// Reads from the front; what it took is gone from `rest`.
std::optional<std::string> take_string(hal::Bytes& rest) {
  std::string text;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    if (rest[i] != std::byte{0}) {
      text += static_cast<char>(rest[i]);
      continue;
    }
    const std::size_t padded = (i / 4 + 1) * 4;
    if (padded > rest.size()) return std::nullopt;
    rest = rest.subspan(padded);
    return text;
  }
  return std::nullopt;
}

std::optional<Message> message_in(hal::Bytes rest) {
  Message out;
  const auto address = take_string(rest);
  if (!address || address->empty() || address->front() != '/') return std::nullopt;
  out.address = *address;
  if (rest.empty()) return out;  // old senders leave out the tags
  const auto tags = take_string(rest);
  if (!tags || tags->empty() || tags->front() != ',') return std::nullopt;
  for (const char tag : tags->substr(1)) {
    if (tag == 'T' || tag == 'F') {
      out.arguments.emplace_back(tag == 'T');
    } else if (tag == 's') {
      const auto text = take_string(rest);
      if (!text) return std::nullopt;
      out.arguments.emplace_back(*text);
    } else if (tag == 'f' || tag == 'i') {
      if (rest.size() < 4) return std::nullopt;
      const auto bits = static_cast<std::uint32_t>(get_be(rest, 0, 4));
      rest = rest.subspan(4);
      if (tag == 'f') {
        out.arguments.emplace_back(std::bit_cast<float>(bits));
      } else {
        out.arguments.emplace_back(static_cast<std::int32_t>(bits));
      }
    } else {
      return std::nullopt;
    }
  }
  return out;
}

}  // namespace

ByteVector bytes_of(const Message& message) {
  ByteVector out, values;
  std::string tags = ",";
  for (const Argument& argument : message.arguments) {
    if (const auto* const f = std::get_if<float>(&argument)) {
      tags += 'f';
      put_be(values, std::bit_cast<std::uint32_t>(*f), 4);
    } else if (const auto* const i = std::get_if<std::int32_t>(&argument)) {
      tags += 'i';
      put_be(values, static_cast<std::uint32_t>(*i), 4);
    } else if (const auto* const s = std::get_if<std::string>(&argument)) {
      tags += 's';
      put_string(values, *s);
    } else {
      tags += std::get<bool>(argument) ? 'T' : 'F';
    }
  }
  put_string(out, message.address);
  put_string(out, tags);
  out.insert(out.end(), values.begin(), values.end());
  return out;
}

ByteVector bundle(std::uint64_t time_tag, const std::vector<ByteVector>& elements) {
  ByteVector out;
  put_text(out, kBundle);
  put_be(out, time_tag, 8);
  for (const ByteVector& element : elements) {
    put_be(out, element.size(), 4);
    out.insert(out.end(), element.begin(), element.end());
  }
  return out;
}

std::vector<Message> messages_in(hal::Bytes packet) {
  std::vector<Message> out;
  const bool is_bundle =
      packet.size() >= 16 && std::memcmp(packet.data(), kBundle.data(), kBundle.size()) == 0;
  if (!is_bundle) {
    if (auto message = message_in(packet)) out.push_back(std::move(*message));
    return out;
  }
  for (hal::Bytes rest = packet.subspan(16); rest.size() >= 4;) {
    const std::size_t size = get_be(rest, 0, 4);
    if (size > rest.size() - 4) break;
    for (Message& message : messages_in(rest.subspan(4, size))) out.push_back(std::move(message));
    rest = rest.subspan(4 + size);
  }
  return out;
}

ByteVector slip(hal::Bytes packet) {
  ByteVector out;
  for (const std::byte byte : packet) {
    if (byte != kEnd && byte != kEscape) {
      out.push_back(byte);
      continue;
    }
    out.push_back(kEscape);
    out.push_back(byte == kEnd ? kEscapedEnd : kEscapedEscape);
  }
  out.push_back(kEnd);
  return out;
}

std::optional<ByteVector> SlipReader::add(std::byte byte) {
  if (byte == kEnd) {
    ByteVector out;
    out.swap(packet_);
    escaped_ = false;
    if (out.empty()) return std::nullopt;
    return out;
  }
  if (escaped_) {
    escaped_ = false;
    if (byte == kEscapedEnd) byte = kEnd;
    if (byte == kEscapedEscape) byte = kEscape;
  } else if (byte == kEscape) {
    escaped_ = true;
    return std::nullopt;
  }
  if (packet_.size() < kLongest) packet_.push_back(byte);
  return std::nullopt;
}

}  // namespace sim::osc
