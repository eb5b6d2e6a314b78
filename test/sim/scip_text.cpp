#include "test/sim/scip_text.h"

#include <algorithm>
#include <vector>

namespace sim::hokuyo_scip {
namespace {

constexpr std::size_t kLineChars = 64, kLongestString = 16;
constexpr std::size_t kFirstDataLine = 3;  // after echo, status and stamp
constexpr unsigned kOffset = 0x30;

char six_bits(std::uint32_t value) { return static_cast<char>((value & 0x3FU) + kOffset); }

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_string_char(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
         std::string_view(" ._+@").find(c) != std::string_view::npos;
}

}  // namespace

char check_char(std::string_view content) {
  unsigned sum = 0;
  for (const char c : content) sum += static_cast<unsigned char>(c);
  return six_bits(sum);
}

std::string line(std::string_view content) {
  return std::string(content) + check_char(content) + '\n';
}

std::string info_line(std::string_view key, std::string_view value) {
  const std::string content = std::string(key) + ':' + std::string(value);
  return content + ';' + check_char(content) + '\n';
}

std::string encode(std::uint32_t value, int chars) {
  std::string text;
  for (int i = chars - 1; i >= 0; --i) text += six_bits(value >> (6 * i));
  return text;
}

std::string data_lines(std::string_view data) {
  std::string lines;
  for (std::size_t at = 0; at < data.size(); at += kLineChars)
    lines += line(data.substr(at, kLineChars));
  return lines;
}

void scramble(std::string& reply, Random& random) {
  if (reply.size() < 2 || (std::string_view("MGNH").find(reply[0]) == std::string_view::npos)) return;
  std::size_t row = 0, begin = 0;
  for (std::size_t end = reply.find('\n'); end != std::string::npos;
       begin = end + 1, end = reply.find('\n', begin), ++row) {
    if (row < kFirstDataLine || end == begin) continue;
    for (std::size_t i = begin; i + 1 < end; ++i)
      reply[i] = six_bits(static_cast<std::uint32_t>(random.below(64)));
    reply[end - 1] = check_char(std::string_view(reply).substr(begin, end - 1 - begin));
  }
}

std::optional<int> decimal(std::string_view text, std::size_t at, std::size_t width) {
  int value = 0;
  for (const char c : text.substr(at, width)) {
    if (!is_digit(c)) return std::nullopt;
    value = 10 * value + (c - '0');
  }
  return value;
}

Request parse(std::string_view text) {
  Request request;
  const std::size_t mark = std::min(text.find(';'), text.size());
  const std::string_view head = text.substr(0, mark);
  request.symbol = head.substr(0, 2);
  if (head.size() > 2) request.parameters = head.substr(2);
  request.tail = text.substr(mark);
  if (request.tail.size() > kLongestString + 1) request.fault = "0G";
  for (std::size_t i = 1; i < request.tail.size(); ++i)
    if (!is_string_char(request.tail[i])) request.fault = "0H";
  return request;
}

}  // namespace sim::hokuyo_scip
