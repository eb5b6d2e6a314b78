#include "drivers/ximu3/message.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers::ximu3 {
namespace {

constexpr unsigned kBinary = 0x80, kEnd = 0x0A, kEscape = 0xDB, kEscapedEnd = 0xDC,
                   kEscapedEscape = 0xDD;
constexpr std::size_t kHead = 9;                               // letter and time
constexpr std::size_t kMostLine = 512;                         // of ASCII and of JSON
constexpr std::size_t kMostText = 300;                         // bytes of a binary message in words
constexpr std::int64_t kLargestStamp = std::int64_t{1} << 52;  // us: 142 years, or Unix time

enum class Shape : std::uint8_t { none, numbers, some, words };  // some: so many or fewer numbers

struct Kind {
  char letter;
  Shape shape;
  std::size_t arguments;
};

// Inertial, magnetometer, high-g accelerometer, quaternion, matrix, angles, linear and earth
// acceleration, temperature; accessory, notification, error in words. What others tell is not read:
// battery, states, buttons; they are all shorter than rates and quaternions, and hide none.
constexpr std::array kKinds{
    Kind{'I', Shape::numbers, 6}, Kind{'M', Shape::numbers, 3}, Kind{'H', Shape::numbers, 3},
    Kind{'Q', Shape::numbers, 4}, Kind{'R', Shape::numbers, 9}, Kind{'A', Shape::numbers, 3},
    Kind{'L', Shape::numbers, 7}, Kind{'E', Shape::numbers, 7}, Kind{'T', Shape::numbers, 1},
    Kind{'C', Shape::words, 0},   Kind{'N', Shape::words, 0},   Kind{'F', Shape::words, 0},
};

constexpr auto kByLetter = [] {
  std::array<Kind, 128> all{};
  for (char c = 'A'; c <= 'Z'; ++c) all[static_cast<std::size_t>(c)] = {c, Shape::some, 4};
  for (const Kind& kind : kKinds) all[static_cast<std::size_t>(kind.letter)] = kind;
  return all;
}();

const Kind& kind_of(unsigned byte) { return kByLetter[byte & 0x7F]; }

struct Unstuffed {
  std::array<std::byte, kHead + 4 * kMostArguments> bytes;
  std::size_t size = 0;
};

// Length with LF; kNotAFrame as soon as the most of its letter is passed.
std::size_t measure_binary(Bytes b) {
  const Kind& kind = kind_of(wire::u8(b, 0));
  if (kind.shape == Shape::none) return kNotAFrame;
  const std::size_t most = kHead + (kind.shape == Shape::words ? kMostText : 4 * kind.arguments);
  const auto is_whole = [&](std::size_t n) {
    if (kind.shape == Shape::numbers) return n == most;
    return n >= kHead && (kind.shape == Shape::words || (n - kHead) % 4 == 0);
  };
  std::size_t told = 0;
  for (std::size_t i = 0; i < b.size(); ++i) {
    const unsigned byte = wire::u8(b, i);
    if (byte == kEnd) return is_whole(told) ? i + 1 : kNotAFrame;
    if (++told > most) return kNotAFrame;
    if (byte != kEscape) continue;
    if (++i == b.size()) break;
    const unsigned meant = wire::u8(b, i);
    if (meant != kEscapedEnd && meant != kEscapedEscape) return kNotAFrame;
  }
  return kNeedMore;
}

std::size_t measure_text(Bytes b) {
  const bool is_json = wire::u8(b, 0) == '{';
  if (!is_json) {
    if (kind_of(wire::u8(b, 0)).shape == Shape::none) return kNotAFrame;
    if (b.size() > 1 && wire::u8(b, 1) != ',') return kNotAFrame;
    if (b.size() > 2 && (wire::u8(b, 2) < '0' || wire::u8(b, 2) > '9')) return kNotAFrame;
  } else if (b.size() > 1 && wire::u8(b, 1) != '"' && wire::u8(b, 1) != ' ') {
    return kNotAFrame;
  }
  return measure_line(b, kMostLine);
}

Unstuffed unstuffed(Bytes frame) {
  Unstuffed out;
  for (std::size_t i = 0; i + 1 < frame.size() && out.size < out.bytes.size(); ++i) {
    unsigned byte = wire::u8(frame, i);
    if (byte == kEscape) byte = wire::u8(frame, ++i) == kEscapedEnd ? kEnd : kEscape;
    out.bytes[out.size++] = static_cast<std::byte>(byte);
  }
  return out;
}

// Behind letter and time, in which bytes may be escaped. Escapes in the words are left as they are.
std::string_view words_of(Bytes frame) {
  std::size_t at = 0;
  for (std::size_t told = 0; told < kHead; ++told) at += wire::u8(frame, at) == kEscape ? 2 : 1;
  return text_of(frame.subspan(at));
}

// Empty: its numbers are none.
std::optional<Message> read_binary(Bytes frame) {
  const Kind& kind = kind_of(wire::u8(frame, 0));
  const Unstuffed whole = unstuffed(frame);
  const Bytes b(whole.bytes.data(), whole.size);
  Message m{.letter = kind.letter, .us = static_cast<std::int64_t>(wire::u64(b, 1))};
  if (kind.shape == Shape::words) return m.text = words_of(frame), m;
  for (std::size_t i = 0; kHead + 4 * i < b.size(); ++i) {
    m.values[i] = wire::f32(b, kHead + 4 * i);
    if (!std::isfinite(m.values[i])) return std::nullopt;
  }
  return m;
}

std::optional<Message> read_ascii(std::string_view line) {
  const Kind& kind = kind_of(static_cast<unsigned char>(line[0]));
  take_field(line, ',');
  const auto us = number_in<std::int64_t>(take_field(line, ','));
  if (!us) return std::nullopt;
  Message m{.letter = kind.letter, .us = *us};
  if (kind.shape == Shape::words) return m.text = line, m;
  std::size_t n = 0;
  for (; !line.empty() && n < kind.arguments; ++n) {
    const auto value = number_in<double>(take_field(line, ','));
    if (!value || !std::isfinite(*value)) return std::nullopt;
    m.values[n] = *value;
  }
  const bool is_whole = line.empty() && (n == kind.arguments || kind.shape == Shape::some);
  return is_whole ? std::optional(m) : std::nullopt;
}

std::optional<Message> read(Bytes frame) {
  const unsigned first = wire::u8(frame, 0);
  if (first == '{') return Message{.text = text_of(frame)};
  return first >= kBinary ? read_binary(frame) : read_ascii(text_of(frame));
}

}  // namespace

std::size_t Framing::measure(Bytes b) {
  return wire::u8(b, 0) >= kBinary ? measure_binary(b) : measure_text(b);
}

bool Framing::intact(Bytes frame) {
  const auto message = read(frame);
  return message && message->us >= 0 && message->us <= kLargestStamp;
}

Message message_in(Bytes frame) { return read(frame).value_or(Message{}); }

}  // namespace drivers::ximu3
