// A MIP sensor behind a FakePort.
#pragma once

#include <set>
#include <string_view>
#include <vector>

#include "test/support/fake_port.h"
#include "test/support/mip_packet.h"

namespace test::mip {

inline Octets text16(std::string_view text) {
  Octets out(16, std::byte{' '});
  for (std::size_t i = 0; i < text.size(); ++i) out[i] = static_cast<std::byte>(text[i]);
  return out;
}

// The other end of the line: answers what it is asked, as the protocol describes.
class Sensor {
 public:
  explicit Sensor(FakePort& port) : port_(port) {}

  unsigned base_hz = 1000;
  bool legacy = false;
  bool gives_descriptors = true;
  std::vector<unsigned> descriptors{0x0C0E, 0x0C0F, 0x0C11, 0x8004, 0x8005,
                                    0x80D5, 0x800A, 0x8007, 0x8008};
  std::set<unsigned> more_descriptors;
  std::set<unsigned> unknown_fields;  // refused in a message format
  std::set<unsigned> mute_commands;   // set << 8 | command: never answered
  std::set<unsigned> deaf_once;       // not answered the first time
  std::set<unsigned> damaged_once;    // answered once that it was damaged on the way
  std::set<unsigned> failing;         // answered with code 4

  std::vector<unsigned> heard;

  // Answers everything that has been written and what is written in answer to that.
  void answer() {
    while (done_ < port_.writes.size()) {
      const Octets request = port_.writes[done_++];
      const Octets reply = reply_to(request);
      if (!reply.empty()) port_.deliver(reply);
    }
  }

 private:
  static unsigned at(const Octets& b, std::size_t i) { return std::to_integer<unsigned>(b[i]); }
  static Octets ack(unsigned command, unsigned code) {
    return field(0xF1, {static_cast<std::byte>(command), static_cast<std::byte>(code)});
  }

  Octets reply_to(const Octets& r) {
    const unsigned set = at(r, 2), command = at(r, 5), name = set << 8 | command;
    heard.push_back(name);
    if (mute_commands.contains(name) || deaf_once.erase(name) > 0) return {};
    const unsigned code = code_for(r, name);
    Octets fields = ack(command, code);
    if (code == 0) fields = joined(fields, reply_field(name));
    return packet(set, fields);
  }

  unsigned code_for(const Octets& r, unsigned name) {
    if (damaged_once.erase(name) > 0) return 2;
    if (failing.contains(name)) return 4;
    if (legacy && (name == 0x0C0E || name == 0x0C0F)) return 1;
    if (name == 0x0104 && !gives_descriptors) return 1;
    if (name != 0x0C0F && name != 0x0C08) return 0;
    const std::size_t head = name == 0x0C08 ? 8 : 9;
    for (std::size_t i = head; i + 2 < r.size(); i += 3) {
      if (unknown_fields.contains(at(r, i))) return 3;
    }
    return 0;
  }

  Octets reply_field(unsigned name) const {
    Octets list;
    switch (name) {
      case 0x0103: {
        Octets info = big_endian(1103, 2);
        for (const char* text : {"3DM-CV7-AHRS", "6286-9949", "6286.140291", "Lot", "Options"}) {
          info = joined(info, text16(text));
        }
        return field(0x81, info);
      }
      case 0x0104:
        for (const unsigned d : descriptors) list = joined(list, big_endian(d, 2));
        return field(0x82, list);
      case 0x0107:
        for (const unsigned d : more_descriptors) list = joined(list, big_endian(d, 2));
        return field(0x86, list);
      case 0x0C0E:
        return field(0x8E, joined(big_endian(0x80, 1), big_endian(base_hz, 2)));
      case 0x0C06:
        return field(0x83, big_endian(base_hz, 2));
      default:
        return {};
    }
  }

  FakePort& port_;
  std::size_t done_ = 0;
};

}  // namespace test::mip
