#include "drivers/sick_safety/cola2.h"

#include <algorithm>

#include "drivers/wire.h"

namespace drivers::cola2 {
namespace {

constexpr std::byte kStart{0x02};
constexpr std::size_t kStarts = 4, kBefore = 8;  // what the length does not count
constexpr std::size_t kHeader = 10;              // what it counts, without socket index and body
constexpr unsigned kTimeOut = 60;                // s, without traffic
constexpr std::uint32_t kClient = 1;

std::size_t socket_index(Bytes b) { return wire::u8(b, kBefore + 1) != 0 ? 4 : 0; }

bool is_letter(std::uint8_t c) { return (c | 0x20) >= 'a' && (c | 0x20) <= 'z'; }

struct Message {
  std::uint32_t session;
  unsigned request;
  char command, mode;
  Bytes body;
};

Message message_in(Bytes frame) {
  const std::size_t at = kBefore + 2 + socket_index(frame);
  return {wire::u32be(frame, at), wire::u16be(frame, at + 4),
          static_cast<char>(wire::u8(frame, at + 6)), static_cast<char>(wire::u8(frame, at + 7)),
          frame.subspan(at + 8)};
}

}  // namespace

std::size_t measure(Bytes b, std::size_t most) {
  const std::size_t starts = std::min(b.size(), kStarts);
  if (!std::ranges::all_of(b.first(starts), [](std::byte c) { return c == kStart; })) {
    return kNotAFrame;
  }
  if (b.size() < kBefore) return kNeedMore;
  const std::size_t length = wire::u32be(b, kStarts);
  if (length < kHeader || length > most - kBefore) return kNotAFrame;
  if (b.size() < kBefore + 2) return kNeedMore;
  const std::size_t letters = kBefore + 8 + socket_index(b);
  if (letters + 2 > kBefore + length) return kNotAFrame;
  for (std::size_t i = letters; i < std::min(b.size(), letters + 2); ++i) {
    if (!is_letter(wire::u8(b, i))) return kNotAFrame;
  }
  return kBefore + length;
}

void Session::begin(Request& request, char command, char mode, std::size_t body) {
  request_ = (request_ + 1) & 0xFFFF;
  command_ = command;
  index_.reset();
  request.to(Channel::control).u32be(0x02020202).u32be(static_cast<std::uint32_t>(kHeader + body));
  request.u16be(0).u32be(session_).u16be(request_);
  request.u8(static_cast<unsigned>(command)).u8(static_cast<unsigned>(mode));
}

void Session::open(Request& request) {
  session_ = 0;
  begin(request, 'O', 'X', 5);
  request.u8(kTimeOut).u32be(kClient);
}

void Session::close(Request& request) { begin(request, 'C', 'X', 0); }

void Session::read(Request& request, unsigned variable) {
  begin(request, 'R', 'I', 2);
  index_ = variable;
  request.u16(variable);
}

void Session::call(Request& request, unsigned method, Bytes arguments) {
  begin(request, 'M', 'I', 2 + arguments.size());
  index_ = method;
  request.u16(method).bytes(arguments);
}

Session::Answer Session::take(const Frame& frame) {
  using Kind = Answer::Kind;
  if (frame.channel != Channel::control) return {};
  const Message message = message_in(frame.bytes);
  if (message.request != request_) return {};
  if (message.command == 'F' && message.mode == 'A') {
    return {Kind::error, {}, message.body.size() < 2 ? 0U : wire::u16be(message.body, 0)};
  }
  // A call is answered by AI, all others by their own letter and A.
  const bool is_call = command_ == 'M';
  if (message.command != (is_call ? 'A' : command_) || message.mode != (is_call ? 'I' : 'A')) {
    return {};
  }
  if (index_ && (message.body.size() < 2 || wire::u16(message.body, 0) != *index_)) return {};
  if (command_ == 'O') {
    session_ = message.session;
    is_open_ = true;
  }
  if (command_ == 'C') is_open_ = false;
  return {Kind::answered, message.body.subspan(index_ ? 2 : 0)};
}

}  // namespace drivers::cola2
