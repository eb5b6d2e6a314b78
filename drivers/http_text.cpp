#include "drivers/http_text.h"

#include <algorithm>
#include <charconv>

#include "drivers/json_text.h"

namespace drivers {
namespace {

constexpr std::string_view kVersion = "HTTP/1.", kLength = "content-length:";
constexpr std::string_view kEnd = "\r\n\r\n";

std::string_view text_of(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

char lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c; }

bool begins_as(std::string_view line, std::string_view name) {
  return line.size() >= name.size() &&
         std::equal(name.begin(), name.end(), line.begin(),
                    [](char wanted, char c) { return wanted == lower(c); });
}

struct Length {
  bool is_told = false, is_sane = true;
  std::size_t value = 0;
};

// `head`: status line and headers, without the empty line.
Length content_length(std::string_view head) {
  Length length;
  for (std::size_t at = head.find("\r\n"); at != head.npos; at = head.find("\r\n", at + 2)) {
    std::string_view line = head.substr(at + 2);
    if (!begins_as(line, kLength)) continue;
    line.remove_prefix(kLength.size());
    line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), length.value);
    length.is_told = true;
    length.is_sane = error == std::errc{} && end != line.data();
    return length;
  }
  return length;
}

}  // namespace

std::size_t measure_http(Bytes b, std::size_t most, bool is_last) {
  const std::string_view text = text_of(b.first(std::min(b.size(), most)));
  const std::size_t seen = std::min(text.size(), kVersion.size());
  if (text.substr(0, seen) != kVersion.substr(0, seen)) return kNotAFrame;
  const std::size_t head = text.find(kEnd);
  if (head == text.npos) return text.size() >= most || is_last ? kNotAFrame : kNeedMore;
  const std::size_t body = head + kEnd.size();
  const Length length = content_length(text.substr(0, head));
  if (!length.is_sane || length.value > most - body) return kNotAFrame;
  if (length.is_told) return body + length.value;
  if (const std::size_t end = json_end(text.substr(body))) return body + end;
  if (is_last) return text.size();
  return text.size() >= most ? kNotAFrame : kNeedMore;
}

std::optional<HttpReply> read_http(Bytes frame) {
  const std::string_view text = text_of(frame);
  const std::size_t head = text.find(kEnd), line = text.find("\r\n");
  if (head == text.npos || !text.starts_with(kVersion)) return std::nullopt;
  const std::string_view first = text.substr(0, line);
  const std::size_t space = first.find(' ');
  if (space == first.npos) return std::nullopt;
  HttpReply reply;
  const std::string_view code = first.substr(space + 1);
  const auto [end, error] = std::from_chars(code.data(), code.data() + code.size(), reply.status);
  if (error != std::errc{} || reply.status < 100 || reply.status > 999) return std::nullopt;
  const std::string_view rest = code.substr(static_cast<std::size_t>(end - code.data()));
  reply.reason = rest.substr(std::min<std::size_t>(rest.size(), 1));
  reply.body = text.substr(head + kEnd.size());
  return reply;
}

}  // namespace drivers
