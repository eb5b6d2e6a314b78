#include "test/sim/vn_text.h"

#include <algorithm>
#include <cstdio>
#include <span>

namespace sim::vectornav {
namespace {

constexpr std::size_t kLongest = 256;

unsigned xor8(const std::string& text) {
  unsigned x = 0;
  for (const char c : text) x ^= static_cast<unsigned char>(c);
  return x;
}

std::string check_of(const std::string& body, Check check) {
  char digits[8];
  if (check == Check::xor8)
    std::snprintf(digits, sizeof digits, "%02X", xor8(body));
  else
    std::snprintf(digits, sizeof digits, "%04X", unsigned{crc16(std::as_bytes(std::span(body)))});
  return digits;
}

}  // namespace

std::uint16_t crc16(hal::Bytes bytes) {
  unsigned crc = 0;
  for (const std::byte b : bytes) {
    crc = (crc >> 8 | crc << 8) & 0xFFFF;
    crc ^= std::to_integer<unsigned>(b);
    crc ^= (crc & 0xFF) >> 4;
    crc ^= crc << 12 & 0xFFFF;
    crc ^= (crc & 0xFF) << 5;
  }
  return static_cast<std::uint16_t>(crc);
}

std::string line_of(const std::string& body, Check check) {
  return "$" + body + "*" + check_of(body, check) + "\r\n";
}

void Lines::add(hal::Bytes bytes) {
  for (const std::byte b : bytes) held_ += static_cast<char>(b);
}

std::optional<Command> Lines::next() {
  for (;;) {
    held_.erase(0, std::min(held_.find('$'), held_.size()));
    const std::size_t end = held_.find('\n');
    if (end == std::string::npos) {
      if (held_.size() > kLongest) held_.clear();
      return std::nullopt;
    }
    std::string line = held_.substr(1, end - 1);
    held_.erase(0, end + 1);
    line.erase(0, line.rfind('$') + 1);  // a command that was cut short
    while (!line.empty() && line.back() == '\r') line.pop_back();
    if (!line.starts_with("VN")) continue;
    const std::size_t star = line.find('*');
    const std::string body = line.substr(0, star);
    const std::string check = star == std::string::npos ? "" : line.substr(star + 1);
    Command command;
    command.check = check.size() == 4 ? Check::crc16 : Check::xor8;
    command.is_damaged = check != "XX" && check != check_of(body, command.check);
    for (std::size_t at = 0; at <= body.size();) {
      const std::size_t comma = std::min(body.find(',', at), body.size());
      command.fields.push_back(body.substr(at, comma - at));
      at = comma + 1;
    }
    return command;
  }
}

}  // namespace sim::vectornav
