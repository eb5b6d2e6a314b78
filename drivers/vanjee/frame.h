// Frames of Vanjee lidars, and where the fields of each model stand. Sources in vanjee.h.
//
// Frame, big-endian: FF AA | u16 length - 4 | u16 frame | u32 time | u8 check: 0 none, 1 xor, 2 CRC
// | u8 type | u16 device: 000D, 000E, 190A | 8 bytes | u8 command, sub-command | ... | u16 check |
// EE EE
//   716mini: 14 NTP s, fraction; 22 02 02 or 02 01; 75 u32 turn, u8 rate, packets, number from 1,
//     kind (0 distances, 1 intensities), u16 n | n x u16. 600 a packet from -135 deg, over 270 deg.
//   718H: 20 u16 version; 74 u32 turn, u8, u8 rate, packets, number, kind, u16 n | n x u16; where
//   bit
//     8 of the version is set, NTP behind. 500 a packet, 1440 from 180 deg.
//   719: 16 u8 command 05, rate, bank from 1, u16 | 300 x u32 {mm << 11 | strength / 128} | NTP
#pragma once

#include <optional>
#include <string_view>

#include "drivers/framer.h"
#include "hal/text.h"

namespace drivers {

struct VanjeeFraming {
  static constexpr std::size_t kMaxFrame = 1500;
  static constexpr bool kDatagrams = true;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

namespace vanjee {

enum class Model : std::uint8_t { mini716, h718, w719 };

inline constexpr std::size_t kBeams718 = 1440;  // of a turn
inline constexpr unsigned kEnd = 0xEEEE;

Model model_named(std::string_view option);
const char* name_of(Model);
unsigned device_of(Model);  // as frames and requests name it
std::size_t points_per_packet(Model);

// Empty: the frame is of this model.
hal::Text<96> mismatch(Bytes frame, Model);
bool is_scan(Bytes frame, Model);

// Where a packet's fields stand, and what they say.
struct Head {
  std::uint32_t turn = 0;
  std::size_t packets = 1, number = 1;  // of the turn; from 1
  bool is_intensity = false;
  std::size_t n = 0, data = 0;  // points, and where they begin
  double hz = 0;                // of the turn
  std::size_t ntp = 0;          // where it stands; 0: nowhere

  // Among the packets with distances, of that which it is or whose intensities it has.
  std::size_t index() const;
};

// Of a scan; empty: it makes no sense.
std::optional<Head> read_head(Bytes frame, Model);
// By NTP; empty: the device is not synchronised.
std::optional<std::int64_t> unix_ns_in(Bytes frame, const Head&);

}  // namespace vanjee
}  // namespace drivers
