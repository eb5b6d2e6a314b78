// A short text without the heap: what an error or a state says to a person.
#pragma once

#include <array>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <string_view>

namespace hal {

// At most N - 1 characters; longer text is cut. Trivially copyable.
template <std::size_t N>
class Text {
 public:
  Text() = default;

  [[gnu::format(printf, 2, 3)]] void print(const char* format, ...) {
    va_list args;
    va_start(args, format);
    std::vsnprintf(chars_.data(), N, format, args);
    va_end(args);
  }
  // Printed from a `format`, as printf does.
  [[gnu::format(printf, 1, 2)]] static Text of(const char* format, ...) {
    Text text;
    va_list args;
    va_start(args, format);
    std::vsnprintf(text.chars_.data(), N, format, args);
    va_end(args);
    return text;
  }
  void clear() { chars_[0] = '\0'; }
  bool empty() const { return chars_[0] == '\0'; }
  const char* c_str() const { return chars_.data(); }
  std::string_view view() const { return chars_.data(); }
  bool operator==(const Text& other) const { return view() == other.view(); }

 private:
  std::array<char, N> chars_{};
};

}  // namespace hal
