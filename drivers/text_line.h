// Framing and fields of protocols that speak in lines of printable ASCII.
#pragma once

#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "drivers/framer.h"

namespace drivers {

// Length of the line at b[0] with its LF; the text before may end in CR, and may be empty. A byte
// that is not printable ends it as no line, and so do `most` bytes without LF: keep `most` small
// (longest line + 2), garbage costs up to that much reading per byte.
inline std::size_t measure_line(Bytes b, std::size_t most) {
  const std::size_t n = std::min(b.size(), most);
  for (std::size_t i = 0; i < n; ++i) {
    const auto c = std::to_integer<unsigned char>(b[i]);
    if (c == '\n') return i + 1;
    if (c == '\r' ? i + 1 < n && b[i + 1] != std::byte{'\n'} : c < ' ' || c > '~') return kNotAFrame;
  }
  return b.size() < most ? kNeedMore : kNotAFrame;
}

// The line's text without its end; valid as long as the frame.
inline std::string_view text_of(Bytes line) {
  // Characters may be looked at through any pointer.
  std::string_view text(reinterpret_cast<const char*>(line.data()), line.size());
  if (text.ends_with('\n')) text.remove_suffix(1);
  if (text.ends_with('\r')) text.remove_suffix(1);
  return text;
}

// All of `text` as a number; empty when it is none or out of range.
template <class T>
std::optional<T> number_in(std::string_view text, int base = 10) {
  T value{};
  const char* const end = text.data() + text.size();
  const std::from_chars_result read = [&] {
    if constexpr (std::is_floating_point_v<T>) {
      return std::from_chars(text.data(), end, value);
    } else {
      return std::from_chars(text.data(), end, value, base);
    }
  }();
  if (read.ec != std::errc{} || read.ptr != end) return std::nullopt;
  return value;
}

// Takes the field up to the next `separator` (or the end) off the front of `rest`.
inline std::string_view take_field(std::string_view& rest, char separator) {
  const std::size_t n = rest.find(separator);
  const std::string_view field = rest.substr(0, n);
  rest.remove_prefix(n == std::string_view::npos ? rest.size() : n + 1);
  return field;
}

}  // namespace drivers
