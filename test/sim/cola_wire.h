// CoLa telegrams of simulated SICK devices, in text (A) and binary (B): requests read, answers
// made.
//
// A: 02, text, 03; tokens are separated by a blank; numbers in upper-case hex, of the host also
// decimal behind a sign; floats as the eight digits of their bits; texts behind their length.
// B: 02 02 02 02, u32 length, payload, XOR of the payload; integers big-endian, one blank behind
// the name, none between arguments; texts behind their u16 length.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "test/sim/device_model.h"

namespace sim::cola {

enum class Dialect : std::uint8_t { ascii, binary };

// What stands behind the name of a command, taken value by value. One that is missing or no number
// is 0, and good() is false from then on.
class Arguments {
 public:
  Arguments() = default;
  Arguments(Dialect dialect, std::string content)
      : dialect_(dialect), content_(std::move(content)) {}

  std::uint64_t unsigned_value(std::size_t bytes);
  std::int64_t signed_value(std::size_t bytes);
  bool good() const { return good_; }
  // Nothing is left but blanks.
  bool done() const;

 private:
  std::string token();

  Dialect dialect_ = Dialect::ascii;
  std::string content_;
  std::size_t at_ = 0;
  bool good_ = true;
};

// `kind` is sRN, sWN, sMN, sEN or whatever the host wrote there.
struct Request {
  Dialect dialect = Dialect::ascii;
  std::string kind, name;
  Arguments arguments;
};

// Finds telegrams in portions of any size. A telegram with a wrong XOR or an absurd length is
// passed over byte by byte.
class Reader {
 public:
  void feed(hal::Bytes bytes);
  std::optional<Request> next();
  void clear() { buffer_.clear(); }

 private:
  enum class Found : std::uint8_t { nothing, telegram, not_yet };
  Found ascii(Request& request);
  Found binary(Request& request);

  std::string buffer_;
};

// A telegram in the making: `head` is kind and name ("sRA LMPoutputRange").
class Telegram {
 public:
  Telegram(Dialect dialect, std::string_view head);

  Telegram& u8(std::uint64_t value) { return integer(value, 1); }
  Telegram& u16(std::uint64_t value) { return integer(value, 2); }
  Telegram& u32(std::uint64_t value) { return integer(value, 4); }
  Telegram& i32(std::int64_t value) { return integer(static_cast<std::uint32_t>(value), 4); }
  Telegram& f32(double value);
  Telegram& word(std::string_view letters);  // as it stands, without a length
  Telegram& text(std::string_view letters, int length_bytes = 2);
  ByteVector frame() const;

 private:
  Telegram& integer(std::uint64_t value, int bytes);

  Dialect dialect_;
  ByteVector payload_;
};

// sFA names nothing but its code: the host has to know what it asked.
ByteVector refusal(Dialect dialect, unsigned code);

// The codes that simulated devices send.
inline constexpr unsigned kMethodDenied = 1, kUnknownMethod = 2, kUnknownVariable = 3,
                          kOutOfRange = 4, kInvalidData = 5, kWriteDenied = 0xA,
                          kUnknownCommand = 0xC, kUnknownEvent = 0xF;

}  // namespace sim::cola
