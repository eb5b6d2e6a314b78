// The lines and numbers of SCIP 2, written from the protocol description; no state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "test/sim/random.h"

namespace sim::hokuyo_scip {

// The check character of a line's content.
char check_char(std::string_view content);

// `content` with its check character and LF.
std::string line(std::string_view content);
// KEY:VALUE;c: the sum leaves out the ';'.
std::string info_line(std::string_view key, std::string_view value);

// `value` in `chars` characters of six bits, most significant first.
std::string encode(std::uint32_t value, int chars);

// One long string as lines of 64 characters, each with its check character.
std::string data_lines(std::string_view data);

// Random data with good check characters in place of the stamp's followers in a measurement reply;
// any other text is left alone.
void scramble(std::string& reply, Random& random);

// The decimal of fixed width at `at`, which lies within `text`; nothing when it is not numeric.
std::optional<int> decimal(std::string_view text, std::size_t at, std::size_t width);

// A request line without its terminator, cut into parts.
struct Request {
  std::string symbol;      // two characters, fewer when the line is shorter
  std::string parameters;  // up to the ';'
  std::string tail;        // from the ';' on, echoed as it came
  std::string fault;       // the status that the string earns; empty = none

  std::string echo() const { return symbol + parameters + tail; }
};
Request parse(std::string_view text);

}  // namespace sim::hokuyo_scip
