// CoLa, the command language of SICK's sensors, in both its dialects: telegrams framed, read and
// built, and the answer to a command told from everything else that comes. Sources: SICK's
// published CoLa documents and recorded dialogues of LMS111, LMS511, TiM781 and MRS1104.
//
// CoLa A: 0x02 | text | 0x03. Tokens are separated by one blank; numbers are hexadecimal without
//         leading zeros, signed ones as two's complement, floats as the bits of a binary32. A
//         number with a sign is decimal.
// CoLa B: 0x02020202 | u32 length of the payload | payload | xor of the payload's bytes.
//         Big-endian; one blank behind the name, none between arguments.
// Payload, both: kind (sRN, sWN, sMN, sEN; answered by sRA, sWA, sAN, sEA; events come as sSN),
// blank, name, arguments. An error is `sFA` and a u16 code: it does not tell to what.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "drivers/dialogue.h"
#include "drivers/framer.h"

namespace drivers::cola {

enum class Dialect : std::uint8_t { ascii, binary };

// As Framing::measure and intact: of telegrams of either dialect with at most `most` bytes. A has
// no checksum: intact is what holds nothing but text.
std::size_t measure(Bytes b, std::size_t most);
bool intact(Bytes frame);

struct Framing {
  static constexpr std::size_t kMaxFrame = 1 << 16;  // ten times what was seen
  std::size_t measure(Bytes b) { return cola::measure(b, kMaxFrame); }
  bool intact(Bytes frame) { return cola::intact(frame); }
};

inline Dialect dialect_of(Bytes frame) {
  return frame[1] == std::byte{0x02} ? Dialect::binary : Dialect::ascii;
}

// Reads a telegram's arguments one after the other, alike in both dialects. What is missing or no
// number reads as 0 or empty, and ok() is false from then on. Views live as long as the frame.
class Fields {
 public:
  Fields() = default;
  Fields(Dialect dialect, Bytes arguments) : dialect_(dialect), rest_(arguments) {}

  unsigned u8() { return number(1); }
  unsigned u16() { return number(2); }
  std::uint32_t u32() { return number(4); }
  std::int32_t i32() { return static_cast<std::int32_t>(number(4)); }
  std::int16_t i16() { return static_cast<std::int16_t>(number(2)); }
  float f32() { return std::bit_cast<float>(number(4)); }
  std::string_view word(std::size_t length);        // A: the next token; B: `length` characters
  std::string_view text(std::size_t length);        // A: behind a blank; both: `length` characters
  Bytes bytes(std::size_t n);                       // B: the next n; A: none
  void skip(std::size_t count, std::size_t width);  // so many numbers

  Dialect dialect() const { return dialect_; }
  Bytes rest() const { return rest_; }
  bool ok() const { return ok_; }

 private:
  std::uint32_t number(std::size_t width);
  std::string_view token();
  Bytes taken(std::size_t n);

  Dialect dialect_ = Dialect::ascii;
  Bytes rest_{};
  bool ok_ = true;
};

// Of an intact frame; views into it.
struct Telegram {
  std::string_view kind;  // "sRA"; empty: not a telegram's
  std::string_view name;  // "LMDscandata"; of sFA empty
  Fields fields;          // its arguments; of sFA the code
};
Telegram telegram_in(Bytes frame);

// A command in the making. What is beyond its capacity is a programmer's error and left out.
class Command {
 public:
  Command(Dialect dialect, std::string_view kind, std::string_view name);

  Command& u8(unsigned v) { return number(v, 1); }
  Command& u16(unsigned v) { return number(v, 2); }
  Command& u32(std::uint32_t v) { return number(v, 4); }
  Command& i32(std::int32_t v) { return number(static_cast<std::uint32_t>(v), 4); }
  Command& decimal(unsigned v, std::size_t width);  // A: "+115"; B: as any number

  std::string_view kind() const { return payload().substr(0, 3); }
  std::string_view name() const { return payload().substr(4, name_size_); }
  void write_to(Request&) const;

 private:
  std::string_view payload() const { return {payload_.data(), size_}; }
  Command& number(std::uint32_t v, std::size_t width);
  void put(std::string_view);

  Dialect dialect_;
  std::array<char, 160> payload_{};
  std::size_t size_ = 0, name_size_ = 0;
};

// The command that waits for its answer: answers are known by kind and name, never by their order,
// and an error belongs to what was asked last.
class Question {
 public:
  void ask(const Command&, Request&);

  struct Answer {
    enum class Kind : std::uint8_t { other, answered, error };
    Kind kind = Kind::other;
    Fields fields{};     // answered
    unsigned error = 0;  // error: its code
  };
  Answer answer_in(Bytes frame) const;
  // Of what only has to be acknowledged: done, or refused in words with the error's remedy.
  Reply acknowledged(Bytes frame) const;

 private:
  hal::Text<4> kind_{};  // of the answer
  hal::Text<40> name_{};
};

// What an error of the device means and what helps, with its code. CoLa 2 has the same codes.
hal::Text<96> words_for(unsigned error);

// Who may do what, and the hash of SICK's published password for it.
struct Level {
  unsigned number;
  std::uint32_t hash;
};
inline constexpr Level kMaintenance{2, 0xB21ACE26}, kAuthorisedClient{3, 0xF4724744},
    kService{4, 0x81BE23AA}, kSafetyClient{3, 0x6FD62C05};

// "sMN SetAccessMode": answered 1, or 0 where the password is wrong.
Command login(Dialect, Level);
Reply logged_in(const Question&, Bytes frame);

}  // namespace drivers::cola
