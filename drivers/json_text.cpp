#include "drivers/json_text.h"

#include <algorithm>
#include <charconv>
#include <cmath>

namespace drivers {
namespace {

constexpr int kDeepest = 32;
constexpr std::string_view kSpace = " \t\r\n";

std::size_t skip_space(std::string_view text, std::size_t at) {
  return std::min(text.find_first_not_of(kSpace, at), text.size());
}

// Behind the closing quote of the string that opens at `at`; npos: it does not close.
std::size_t string_end(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return text.npos;
}

// Behind the value that begins at `at`; npos: it does not end.
std::size_t value_end(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = string_end(text, at);
      if (at == text.npos || depth == 0) return at;
      continue;
    }
    if (c == '{' || c == '[') {
      if (++depth > kDeepest) return text.npos;
    } else if (c == '}' || c == ']') {
      if (depth == 0) return at;  // of a number, by the end of what it stands in
      if (--depth == 0) return at + 1;
    } else if (depth == 0 && (c == ',' || kSpace.find(c) != kSpace.npos)) {
      return at;
    }
    ++at;
  }
  return text.npos;
}

}  // namespace

std::size_t json_end(std::string_view text) {
  const std::size_t begin = skip_space(text, 0);
  if (begin == text.size() || text[begin] != '{') return 0;
  const std::size_t end = value_end(text, begin);
  return end == text.npos ? 0 : end;
}

std::optional<std::string_view> JsonText::find(std::string_view key) const {
  std::size_t at = skip_space(text_, 0);
  if (at == text_.size() || text_[at] != '{') return std::nullopt;
  for (at = skip_space(text_, at + 1); at < text_.size() && text_[at] == '"';
       at = skip_space(text_, at + 1)) {
    const std::size_t name_end = string_end(text_, at);
    if (name_end == text_.npos) return std::nullopt;
    const std::string_view name = text_.substr(at + 1, name_end - at - 2);
    at = skip_space(text_, name_end);
    if (at == text_.size() || text_[at] != ':') return std::nullopt;
    at = skip_space(text_, at + 1);
    const std::size_t end = value_end(text_, at);
    if (end == text_.npos || end == at) return std::nullopt;
    if (name == key) {
      return text_[at] == '"' ? text_.substr(at + 1, end - at - 2) : text_.substr(at, end - at);
    }
    at = skip_space(text_, end);
    if (at == text_.size() || text_[at] != ',') return std::nullopt;
  }
  return std::nullopt;
}

std::optional<double> JsonText::number(std::string_view key) const {
  const auto text = find(key);
  if (!text) return std::nullopt;
  double value = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), value);
  if (error != std::errc{} || end != text->data() + text->size() || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

}  // namespace drivers
