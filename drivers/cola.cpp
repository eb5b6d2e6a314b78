#include "drivers/cola.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "drivers/text_line.h"
#include "drivers/wire.h"

namespace drivers::cola {
namespace {

constexpr std::byte kStart{0x02}, kEnd{0x03};
constexpr std::size_t kHeader = 8;  // of B: start and length
constexpr std::size_t kErrorSize = 5;

constexpr bool is_upper(unsigned c) { return c >= 'A' && c <= 'Z'; }
constexpr bool is_letter(unsigned c) { return is_upper(c) || (c >= 'a' && c <= 'z'); }

// Whether a payload may begin like this; it need not all be there.
bool may_begin(Bytes payload) {
  const std::size_t n = std::min<std::size_t>(payload.size(), 7);
  for (std::size_t i = 0; i < n; ++i) {
    const unsigned c = wire::u8(payload, i);
    if (i == 3 && wire::u8(payload, 1) == 'F' && wire::u8(payload, 2) == 'A') return true;
    if (i == 0 ? c != 's' : i < 3 ? !is_upper(c) : i == 3 ? c != ' ' : !is_letter(c)) return false;
  }
  return true;
}

bool is_error(Bytes payload) { return wire::u8(payload, 1) == 'F' && wire::u8(payload, 2) == 'A'; }

std::size_t measure_ascii(Bytes b, std::size_t most) {
  if (!may_begin(b.subspan(1))) return kNotAFrame;
  const Bytes within = b.first(std::min(b.size(), most)).subspan(1);
  const void* const end = std::memchr(within.data(), std::to_integer<int>(kEnd), within.size());
  const std::size_t n =
      end ? static_cast<std::size_t>(static_cast<const std::byte*>(end) - within.data())
          : within.size();
  // A start within it: what came before was torn off.
  if (n > 0 && std::memchr(within.data(), std::to_integer<int>(kStart), n)) return kNotAFrame;
  return end ? n + 2 : kNeedMore;
}

std::size_t measure_binary(Bytes b, std::size_t most) {
  for (std::size_t i = 1; i < std::min<std::size_t>(b.size(), 4); ++i) {
    if (b[i] != kStart) return kNotAFrame;
  }
  if (b.size() < kHeader) return kNeedMore;
  const std::size_t length = wire::u32be(b, 4);
  if (length < kErrorSize || length > most - kHeader - 1) return kNotAFrame;
  const Bytes payload = b.subspan(kHeader, std::min(b.size() - kHeader, length));
  if (!may_begin(payload)) return kNotAFrame;
  if (payload.size() >= 3 && is_error(payload) && length != kErrorSize) return kNotAFrame;
  return kHeader + length + 1;
}

Bytes payload_of(Bytes frame) {
  return dialect_of(frame) == Dialect::binary ? frame.subspan(kHeader, frame.size() - kHeader - 1)
                                              : frame.subspan(1, frame.size() - 2);
}

// Characters may be looked at through any pointer.
std::string_view text_in(Bytes b) { return {reinterpret_cast<const char*>(b.data()), b.size()}; }

}  // namespace

std::size_t measure(Bytes b, std::size_t most) {
  if (b[0] != kStart) return kNotAFrame;
  if (b.size() == 1) return kNeedMore;
  return b[1] == kStart ? measure_binary(b, most) : measure_ascii(b, most);
}

bool intact(Bytes frame) {
  const Bytes payload = payload_of(frame);
  if (dialect_of(frame) == Dialect::binary) {
    return wire::xor8(payload) == wire::u8(frame, frame.size() - 1);
  }
  return payload.size() >= kErrorSize - 1 &&
         std::ranges::all_of(text_in(payload), [](char c) { return c >= ' ' && c <= '~'; });
}

Bytes Fields::taken(std::size_t n) {
  if (n > rest_.size()) {
    ok_ = false;
    rest_ = {};
    return {};
  }
  const Bytes out = rest_.first(n);
  rest_ = rest_.subspan(n);
  return out;
}

Bytes Fields::bytes(std::size_t n) {
  if (dialect_ == Dialect::binary) return taken(n);
  ok_ = false;
  return {};
}

void Fields::skip(std::size_t count, std::size_t width) {
  if (dialect_ == Dialect::binary) {
    taken(count * width);
    return;
  }
  for (; count > 0 && ok_; --count) number(width);
}

std::string_view Fields::token() {
  const std::string_view text = text_in(rest_);
  const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
  const std::size_t end = std::min(text.find(' ', begin), text.size());
  rest_ = rest_.subspan(end);
  return text.substr(begin, end - begin);
}

std::string_view Fields::word(std::size_t length) {
  if (dialect_ == Dialect::binary) return text_in(taken(length));
  const std::string_view out = token();
  if (out.empty()) ok_ = false;
  return out;
}

std::string_view Fields::text(std::size_t length) {
  if (length == 0) return {};
  if (dialect_ == Dialect::ascii) taken(1);
  return text_in(taken(length));
}

// In A a number that is narrower may come as 32 bits of two's complement.
std::uint32_t Fields::number(std::size_t width) {
  if (dialect_ == Dialect::binary) {
    const Bytes b = taken(width);
    if (b.empty()) return 0;
    return width == 1 ? wire::u8(b, 0) : width == 2 ? wire::u16be(b, 0) : wire::u32be(b, 0);
  }
  std::string_view digits = token();
  const bool is_signed = digits.starts_with('+') || digits.starts_with('-');
  if (digits.starts_with('+')) digits.remove_prefix(1);
  const auto read = number_in<std::int64_t>(digits, is_signed ? 10 : 16);
  const std::int64_t bound = std::int64_t{1} << (8 * width), value = read.value_or(-bound);
  const bool wide = value >= 0xFFFF8000 && value <= 0xFFFFFFFF;
  if (value < -bound / 2 || (value >= bound && !wide)) {
    ok_ = false;
    return 0;
  }
  return static_cast<std::uint32_t>(value & (bound - 1));
}

Telegram telegram_in(Bytes frame) {
  const Dialect dialect = dialect_of(frame);
  const Bytes payload = payload_of(frame);
  if (payload.size() < 3 || !may_begin(payload)) return {};
  if (is_error(payload)) return {text_in(payload.first(3)), {}, {dialect, payload.subspan(3)}};
  if (payload.size() < 5) return {};
  const std::string_view behind = text_in(payload.subspan(4));
  const std::string_view name = behind.substr(0, behind.find(' '));
  const std::size_t blank = name.size() < behind.size() && dialect == Dialect::binary ? 1 : 0;
  return {text_in(payload.first(3)), name, {dialect, payload.subspan(4 + name.size() + blank)}};
}

Command::Command(Dialect dialect, std::string_view kind, std::string_view name)
    : dialect_(dialect), name_size_(name.size()) {
  put(kind);
  put(" ");
  put(name);
}

void Command::put(std::string_view text) {
  for (const char c : text.substr(0, payload_.size() - size_)) payload_[size_++] = c;
}

Command& Command::number(std::uint32_t v, std::size_t width) {
  if (dialect_ == Dialect::ascii) {
    put(hal::Text<16>::of(" %lX", static_cast<unsigned long>(v)).view());
    return *this;
  }
  if (size_ == 4 + name_size_) put(" ");
  for (std::size_t i = width; i-- > 0;) {
    const char byte = static_cast<char>(v >> (8 * i));
    put({&byte, 1});
  }
  return *this;
}

Command& Command::decimal(unsigned v, std::size_t width) {
  if (dialect_ == Dialect::binary) return number(v, width);
  put(hal::Text<16>::of(" +%u", v).view());
  return *this;
}

void Command::write_to(Request& request) const {
  const Bytes bytes = std::as_bytes(std::span(payload_).first(size_));
  if (dialect_ == Dialect::ascii) {
    request.u8(0x02).bytes(bytes).u8(0x03);
  } else {
    request.u32be(0x02020202).u32be(static_cast<std::uint32_t>(size_)).bytes(bytes);
    request.u8(wire::xor8(bytes));
  }
}

void Question::ask(const Command& command, Request& request) {
  const std::string_view kind = command.kind(), name = command.name();
  kind_.print("%s", kind == "sMN" ? "sAN" : kind == "sWN" ? "sWA" : kind == "sEN" ? "sEA" : "sRA");
  name_.print("%.*s", static_cast<int>(name.size()), name.data());
  command.write_to(request);
}

Question::Answer Question::answer_in(Bytes frame) const {
  using Kind = Answer::Kind;
  Telegram telegram = telegram_in(frame);
  if (telegram.kind == "sFA") return {Kind::error, {}, telegram.fields.u16()};
  if (telegram.kind != kind_.view() || telegram.name != name_.view()) return {};
  return {Kind::answered, telegram.fields};
}

Reply Question::acknowledged(Bytes frame) const {
  const Answer answer = answer_in(frame);
  switch (answer.kind) {
    case Answer::Kind::other:
      return Reply::not_mine();
    case Answer::Kind::answered:
      return Reply::done();
    case Answer::Kind::error:
      return Reply::refused(words_for(answer.error));
  }
  return Reply::not_mine();
}

hal::Text<96> words_for(unsigned error) {
  struct Row {
    unsigned code;
    const char* words;
  };
  static constexpr std::array kRows{
      Row{0x01, "not allowed at this user level: check the password, or log out its other clients"},
      Row{0x02, "it does not know this method: other model or firmware"},
      Row{0x03, "it does not know this variable: other model or firmware"},
      Row{0x04, "a value is out of its range: check the options against its manual"},
      Row{0x05, "the data are invalid for this model or firmware"},
      Row{0x07, "too much data for this model or firmware"},
      Row{0x08, "too few data for this model or firmware"},
      Row{0x09, "it does not know the type of the data"},
      Row{0x0A, "not writable at this user level: check the password"},
      Row{0x0B, "it does not know this kind of command by name"},
      Row{0x0C, "it does not know this command: is it the other dialect's?"},
      Row{0x0D, "it is busy: try again later, or close its other clients"},
      Row{0x0E, "an array index is out of its bounds"},
      Row{0x0F, "it does not know this event: other model or firmware"},
      Row{0x10, "a value is too large"},
      Row{0x11, "a character is invalid"},
      Row{0x14, "internal error of the device: restart it"},
      Row{0x21, "no session is free: close its other clients, or wait until they time out"},
      Row{0x22, "it does not know the session any more"},
      Row{0x27, "write mode is not enabled"},
  };
  const auto row = std::ranges::find(kRows, error, &Row::code);
  return hal::Text<96>::of("%s (sFA %02X)", row == kRows.end() ? "error" : row->words, error);
}

Command login(Dialect dialect, Level level) {
  return Command(dialect, "sMN", "SetAccessMode").u8(level.number).u32(level.hash);
}

Reply logged_in(const Question& question, Bytes frame) {
  Question::Answer answer = question.answer_in(frame);
  if (answer.kind != Question::Answer::Kind::answered || answer.fields.u8() != 0) {
    return question.acknowledged(frame);
  }
  return Reply::refused(
      hal::Text<96>::of("the password is wrong: it was changed, or has another level"));
}

}  // namespace drivers::cola
