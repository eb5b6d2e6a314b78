// The frames of simulated Vanjee lidars: big-endian, FF AA .. EE EE, an exclusive or over all
// between.
//
//   0 FF AA  2 u16 length - 4  4 u16 frame number  6 u32 time  10 u8 1 = xor  11 u8 type
//   12 u16 device  14 8 bytes  22 u8 command  23 u8 sub-command  24 2 parameters  26 content
//   end-4 u16 check  end-2 EE EE
// 716mini: 14 u32 s, u32 fraction of NTP; 75 u32 turn, u8 rate code, u8 packets, u8 number from 1,
//   u8 0 distances 1 intensities, 83 u16 n, 85 n x u16.
// 718H: 20 u16 version; 74 u32 turn, u8 has intensities, u8 rate code, u8 packets, u8 number, u8
// kind,
//   83 u16 n, 85 n x u16; where bit 8 of the version is set, 16 bytes more: NTP, 2, status, 4.
// 719: no content as above, but 14 u8 error, u8 status, u8 command, 17 u8 sub-command (rate), 18 u8
//   bank from 1, u16 speed, 21 300 x u32, 1221 NTP, 1229 u8 version, check. 1234 bytes.
// The places that the description leaves open (718H from 74 on, 719) are those of the vendor's SDK,
// as are the device 190A and the request 05 03 of a 719.
#pragma once

#include <cstdint>
#include <optional>

#include "test/sim/device_model.h"

namespace sim::vanjee {

enum class Kind : std::uint8_t { mini716, h718, w719 };

// The time as the device tells it: Unix ns, when it is synchronised, and its own counter.
struct Told {
  std::int64_t unix_ns = 0;  // 0 = not synchronised
  std::uint32_t ms = 0;
};

// One packet of a turn.
struct Part {
  std::uint16_t frame = 0;  // number of the frame
  std::uint32_t turn = 0;
  unsigned rate_code = 0, packets = 0, number = 0;  // number from 1
  bool holds_intensities = false;                   // alone; a 719 holds both in one word
  Told told;
  std::vector<std::uint32_t> values;
};

ByteVector packet(Kind kind, const Part& part);

// The command and sub-command of an intact request to this kind of device.
struct Request {
  unsigned command = 0, sub_command = 0;
};
std::optional<Request> parse(Kind kind, hal::Bytes frame);

// Puts the check of a whole frame right.
void seal(ByteVector& frame);
// Where the points of a packet begin, and how many bytes they take.
std::size_t points_at(Kind kind);
std::size_t points_bytes(Kind kind, hal::Bytes frame);

}  // namespace sim::vanjee
