#include "test/sim/cola_wire.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "hal/text.h"
#include "test/sim/wire.h"

namespace sim::cola {
namespace {

constexpr char kStx = '\x02', kEtx = '\x03';
constexpr std::size_t kLongest = 4096;   // of a request
constexpr std::size_t kBinaryFrame = 9;  // four STX, u32 length, XOR

unsigned byte_of(char c) { return static_cast<unsigned char>(c); }

Request split(Dialect dialect, const std::string& payload) {
  Request request;
  request.dialect = dialect;
  const std::size_t kind_end = payload.find(' ');
  request.kind = payload.substr(0, kind_end);
  if (kind_end == std::string::npos) return request;
  const std::size_t name_end = payload.find(' ', kind_end + 1);
  request.name = payload.substr(
      kind_end + 1, name_end == std::string::npos ? std::string::npos : name_end - kind_end - 1);
  request.arguments =
      Arguments(dialect, name_end == std::string::npos ? "" : payload.substr(name_end + 1));
  return request;
}

}  // namespace

std::string Arguments::token() {
  while (at_ < content_.size() && content_[at_] == ' ') ++at_;
  const std::size_t end = std::min(content_.find(' ', at_), content_.size());
  std::string found = content_.substr(at_, end - at_);
  at_ = end;
  return found;
}

bool Arguments::done() const {
  if (dialect_ == Dialect::binary) return at_ == content_.size();
  return content_.find_first_not_of(' ', at_) == std::string::npos;
}

std::uint64_t Arguments::unsigned_value(std::size_t bytes) {
  if (dialect_ == Dialect::ascii) {
    const std::string digits = token();
    const bool is_decimal = !digits.empty() && (digits[0] == '+' || digits[0] == '-');
    char* end = nullptr;
    const long long value = std::strtoll(digits.c_str(), &end, is_decimal ? 10 : 16);
    good_ = good_ && !digits.empty() && *end == '\0';
    return good_ ? static_cast<std::uint64_t>(value) : 0;
  }
  good_ = good_ && at_ + bytes <= content_.size();
  if (!good_) return 0;
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i) value = (value << 8) | byte_of(content_[at_++]);
  return value;
}

std::int64_t Arguments::signed_value(std::size_t bytes) {
  const std::uint64_t value = unsigned_value(bytes);
  return bytes == 2 ? static_cast<std::int16_t>(value) : static_cast<std::int32_t>(value);
}

void Reader::feed(hal::Bytes bytes) {
  for (const std::byte b : bytes) buffer_ += static_cast<char>(b);
}

Reader::Found Reader::ascii(Request& request) {
  if (buffer_[1] != 's') return Found::nothing;  // every command begins with it
  const std::size_t end = buffer_.find(kEtx);
  if (end == std::string::npos) return buffer_.size() > kLongest ? Found::nothing : Found::not_yet;
  request = split(Dialect::ascii, buffer_.substr(1, end - 1));
  buffer_.erase(0, end + 1);
  return Found::telegram;
}

Reader::Found Reader::binary(Request& request) {
  if (buffer_.size() < kBinaryFrame) return Found::not_yet;
  std::size_t length = 0;
  for (std::size_t i = 4; i < 8; ++i) length = (length << 8) | byte_of(buffer_[i]);
  if (length > kLongest) return Found::nothing;
  if (buffer_.size() < length + kBinaryFrame) return Found::not_yet;
  const std::string payload = buffer_.substr(8, length);
  unsigned check = 0;
  for (const char c : payload) check ^= byte_of(c);
  if (check != byte_of(buffer_[8 + length])) return Found::nothing;
  request = split(Dialect::binary, payload);
  buffer_.erase(0, length + kBinaryFrame);
  return Found::telegram;
}

std::optional<Request> Reader::next() {
  while (!buffer_.empty()) {
    buffer_.erase(0, std::min(buffer_.find(kStx), buffer_.size()));
    const std::size_t stx = std::min<std::size_t>(buffer_.find_first_not_of(kStx), 4);
    if (stx < 4 && buffer_.size() <= stx) return std::nullopt;
    Request request;
    Found found = Found::nothing;  // two or three STX begin no telegram
    if (stx == 4) found = buffer_.size() < 4 ? Found::not_yet : binary(request);
    if (stx == 1) found = ascii(request);
    if (found == Found::telegram) return request;
    if (found == Found::not_yet) return std::nullopt;
    buffer_.erase(0, 1);
  }
  return std::nullopt;
}

Telegram::Telegram(Dialect dialect, std::string_view head) : dialect_(dialect) {
  put_text(payload_, head);
  if (dialect == Dialect::binary) put8(payload_, ' ');
}

Telegram& Telegram::integer(std::uint64_t value, int bytes) {
  if (dialect_ == Dialect::binary) {
    put_be(payload_, value, bytes);
    return *this;
  }
  hal::Text<24> digits;
  digits.print(" %llX", static_cast<unsigned long long>(value));
  put_text(payload_, digits.view());
  return *this;
}

Telegram& Telegram::f32(double value) {
  const std::uint32_t bits = std::bit_cast<std::uint32_t>(static_cast<float>(value));
  if (dialect_ == Dialect::binary) return integer(bits, 4);
  hal::Text<16> digits;
  digits.print(" %08X", bits);
  put_text(payload_, digits.view());
  return *this;
}

Telegram& Telegram::word(std::string_view letters) {
  if (dialect_ == Dialect::ascii) put8(payload_, ' ');
  put_text(payload_, letters);
  return *this;
}

Telegram& Telegram::text(std::string_view letters, int length_bytes) {
  integer(letters.size(), length_bytes);
  if (letters.empty()) return *this;
  return word(letters);
}

ByteVector Telegram::frame() const {
  ByteVector frame;
  if (dialect_ == Dialect::ascii) {
    put8(frame, byte_of(kStx));
    frame.insert(frame.end(), payload_.begin(), payload_.end());
    put8(frame, byte_of(kEtx));
    return frame;
  }
  put_be(frame, 0x02020202U, 4);
  put_be(frame, payload_.size(), 4);
  frame.insert(frame.end(), payload_.begin(), payload_.end());
  unsigned check = 0;
  for (const std::byte b : payload_) check ^= std::to_integer<unsigned>(b);
  put8(frame, check);
  return frame;
}

ByteVector refusal(Dialect dialect, unsigned code) {
  if (dialect == Dialect::ascii) return Telegram(dialect, "sFA").u16(code).frame();
  // In binary no blank follows: 73 46 41 00 cc.
  ByteVector frame;
  put_be(frame, 0x02020202U, 4);
  put_be(frame, 5, 4);
  put_text(frame, "sFA");
  put_be(frame, code, 2);
  unsigned check = 0;
  for (std::size_t i = 8; i < frame.size(); ++i) check ^= std::to_integer<unsigned>(frame[i]);
  put8(frame, check);
  return frame;
}

}  // namespace sim::cola
