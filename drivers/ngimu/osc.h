// Open Sound Control 1.0 (opensoundcontrol.org/spec-1_0.html), as NGIMU sensors speak it: a packet
// in a datagram, or on a line with SLIP (RFC 1055) around it.
//
// Message: address, then "," and a letter for each argument, then the arguments; texts end in zero
// and are filled with zeros to a multiple of 4. Bundle: "#bundle", u64 time (NTP: 32.32 s), then
// elements, each i32 size and a message or bundle. Big-endian. Nothing guards a packet but that all
// this adds up.
#pragma once

#include <algorithm>
#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>

#include "drivers/dialogue.h"
#include "drivers/framer.h"
#include "drivers/wire.h"

namespace drivers::osc {

// A line is told by its first packet, and so are datagrams; until then both are looked for. A
// bundle does not tell its length: where neither a datagram ends nor SLIP's end byte follows, it
// goes until the next packet begins.
class Framing {
 public:
  static constexpr std::size_t kMaxFrame = 1536;
  static constexpr bool kDatagrams = true;
  std::size_t measure(Bytes b) const;
  std::size_t measure_last(Bytes b);
  bool intact(Bytes frame);
  bool is_line() const { return manner_ == Manner::slip; }
  void forget() { manner_ = Manner::unknown; }

 private:
  enum class Manner : std::uint8_t { unknown, slip, plain };
  Manner manner_ = Manner::unknown;
};

// The packet of an intact frame; its bytes are outlived by this object, or by the frame.
class Packet {
 public:
  Packet(Bytes frame, bool is_line);
  Bytes bytes() const { return bytes_; }

 private:
  std::array<std::byte, Framing::kMaxFrame> plain_;
  Bytes bytes_;
};

struct Message {
  std::uint64_t time = 0;  // of the bundle around it; 0: there is none
  std::string_view address, types;
  Bytes arguments;

  // So many floats and nothing else.
  template <std::size_t N>
  std::optional<std::array<double, N>> floats() const {
    if (types.size() != N || types.find_first_not_of('f') != types.npos) return std::nullopt;
    std::array<double, N> values{};
    for (std::size_t i = 0; i < N; ++i) values[i] = wire::f32be(arguments, 4 * i);
    return values;
  }
};

// Nanoseconds since 1900 of a time.
std::int64_t ns_of(std::uint64_t ntp);

inline constexpr int kDeepest = 4;

std::optional<Message> message_in(Bytes element);  // empty: it does not add up
// Where the elements of a bundle begin.
inline constexpr std::size_t kBundleHead = 16;

// Calls visit(const Message&) for each message, those of bundles within bundles as well. False: the
// packet does not add up.
template <class Visit>
bool each_message(Bytes packet, Visit&& visit, std::uint64_t time = 0, int depth = 0) {
  if (packet.empty() || depth > kDeepest) return false;
  if (wire::u8(packet, 0) != '#') {
    auto message = message_in(packet);
    if (!message) return false;
    message->time = time;
    visit(*message);
    return true;
  }
  if (packet.size() < kBundleHead) return false;
  const std::uint64_t own = wire::u64be(packet, 8);
  for (Bytes rest = packet.subspan(kBundleHead); !rest.empty();) {
    const std::size_t size = rest.size() < 4 ? rest.size() : wire::u32be(rest, 0);
    if (size > rest.size() - std::min<std::size_t>(rest.size(), 4)) return false;
    if (!each_message(rest.subspan(4, size), visit, own, depth + 1)) return false;
    rest = rest.subspan(4 + size);
  }
  return true;
}

// A message with floats; with SLIP around it where it goes to a line.
void write(Request&, std::string_view address, std::initializer_list<float> values);

}  // namespace drivers::osc
