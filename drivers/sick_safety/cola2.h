// CoLa 2, the command language of SICK's safety scanners, over TCP. Source:
// sick_safetyscanners_base, the dissector of Wireshark, sick_safevisionary_base.
//
// 02020202 | u32 length of the rest | u8 hub counter | u8 NoC | NoC not 0: u32 socket index
//          | u32 session | u16 request | u8 command | u8 mode | body. Big-endian but for the body.
//   OX u8 time-out in s, u32 client: open a session; OA, its number in the header
//   CX, CA: close     RI u16 index, RA index, data: read     MI u16 index, arguments, AI index:
//   call FA u16 code, big-endian: an error, of the request with its number
#pragma once

#include "drivers/dialogue.h"

namespace drivers::cola2 {

// As Framing::measure, of messages with at most `most` bytes.
std::size_t measure(Bytes b, std::size_t most);

// What is asked and what answers it: answers are known by the number of their request.
class Session {
 public:
  void forget() { *this = {}; }
  bool is_open() const { return is_open_; }

  void open(Request&);
  void close(Request&);
  void read(Request&, unsigned variable);
  void call(Request&, unsigned method, Bytes arguments);

  struct Answer {
    enum class Kind : std::uint8_t { other, answered, error };
    Kind kind = Kind::other;
    Bytes data{};        // answered: behind the index, a view into the frame
    unsigned error = 0;  // error: its code
  };
  // Takes note of a session that begins or ends. Of data it is no answer.
  Answer take(const Frame&);

 private:
  void begin(Request&, char command, char mode, std::size_t body);

  bool is_open_ = false;
  std::uint32_t session_ = 0;
  unsigned request_ = 0;
  char command_ = 0;  // that was asked last
  std::optional<unsigned> index_{};
};

}  // namespace drivers::cola2
