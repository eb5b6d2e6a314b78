// The text of SCIP 2: lines and their checks, numbers, replies, and how these are framed.
#pragma once

#include <optional>
#include <string_view>

#include "drivers/text_line.h"
#include "hal/text.h"
#include "hal/time.h"

namespace drivers {

namespace scip {

inline constexpr std::size_t kStatusLine = 4, kStampLine = 6, kFullLine = 66, kOnLine = 64;
inline constexpr std::size_t kMostBeams = 1536;
inline constexpr std::size_t kMostEchoes = 2;  // of a step, behind its first return

// What follows the status 00, or 99 of a stream.
enum class Body : std::uint8_t { none, info, time, polled, streamed };

struct Symbol {
  std::string_view name;
  std::size_t digits;  // of its parameters
  Body body;
  std::size_t width = 0;  // scans: characters of one return: distance, or distance and intensity
  bool echoes = false;    // scans: further returns of a step follow, each behind '&'
};
const Symbol* find_symbol(std::string_view name);  // null: unknown

// A reply's echo and status.
struct Head {
  std::size_t size = kNotAFrame;  // of both lines; kNotAFrame; kNeedMore
  const Symbol* symbol = nullptr;
  std::string_view parameters{}, status{};  // status: one character of SCIP 1.1, else two

  bool is(std::string_view name) const { return symbol->name == name; }
  bool has(Body body) const {
    return symbol->body == body && status == (body == Body::streamed ? "99" : "00");
  }
  bool has_scan() const { return has(Body::streamed) || has(Body::polled); }
};
// Of what stands at b[0]; views stay those of `b`.
Head head_of(Bytes b);

// What a scan was asked for, as its echo says.
struct Steps {
  int first = 0, group = 1;
  std::size_t n = 0;  // values; 0: it makes no sense

  bool operator==(const Steps&) const = default;
};
Steps steps_of(const Head&);

// Of n steps, in lines with their checks; of multi-echo symbols, if each has all its echoes.
std::size_t most_characters(const Symbol&, std::size_t n);
inline std::size_t in_lines(std::size_t characters) {
  return characters + 2 * ((characters + kOnLine - 1) / kOnLine);
}

// Characters of six bits, the highest first; framing has seen that they are.
template <std::size_t kCharacters>
unsigned number_at(const std::byte* b) {
  unsigned value = 0, offsets = 0;
  for (std::size_t i = 0; i < kCharacters; ++i) {
    value = (value << 6) + std::to_integer<unsigned>(b[i]);
    offsets = (offsets << 6) + 0x30;
  }
  return value - offsets;
}

bool info_agrees(std::string_view line);    // "KEY:VALUE;c"
bool numbers_agree(std::string_view line);  // numbers and a check

// A status, and what it means.
hal::Text<96> in_words(std::string_view status);
bool is_trouble(std::string_view status);  // of the device's own, none of the request
// The TIME that II tells; empty: it is none.
std::optional<hal::Duration> time_in(std::string_view value);

// Calls each(KEY, VALUE) for the lines of an information reply.
template <class Each>
void for_each_info(const Head& head, Bytes frame, Each&& each) {
  std::string_view rest = text_of(frame.subspan(head.size));
  while (!rest.empty()) {
    std::string_view line = take_field(rest, '\n');
    line = line.substr(0, std::max<std::size_t>(line.size(), 2) - 2);  // the check may be ';', too
    const std::string_view key = take_field(line, ':');
    each(key, line);
  }
}

// The share of what lies in lines whose check agrees; see recognise.h.
double likeness(Bytes);

}  // namespace scip

struct ScipFraming {
  static constexpr std::size_t kMaxFrame = 22'528;  // NE of 1081 steps, each with all its returns
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

}  // namespace drivers
