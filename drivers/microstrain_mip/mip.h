// MIP packets of MicroStrain sensors: frames, fields, and what the fields measure. Source: the
// field documentation of MicroStrain's mip_sdk v4.
//
// Packet, big-endian: 0x75 0x65 | u8 set | u8 n | n bytes of fields | two sums, a of the bytes
// before and b of the values of a. Field: u8 length with this header | u8 descriptor | data.
// Answer: a packet of the command's set with F1 {u8 command, u8 code} and its reply field.
#pragma once

#include <initializer_list>
#include <optional>

#include "drivers/dialogue.h"
#include "drivers/framer.h"
#include "drivers/packet.h"
#include "drivers/wire.h"

namespace drivers::mip {

inline constexpr unsigned kBaseSet = 0x01, kSettingsSet = 0x0C, kSensorSet = 0x80;
inline constexpr unsigned kFilterSet = 0x82;
inline constexpr unsigned kAccel = 0x04, kGyro = 0x05, kDeltaAngle = 0x07, kDeltaVelocity = 0x08;
inline constexpr unsigned kMag = 0x06, kTemperature = 0x14, kPressure = 0x17;
// Attitudes, and those of the filter.
inline constexpr unsigned kMatrix = 0x09, kAttitude = 0x0A, kEuler = 0x0C;
inline constexpr unsigned kFilterAttitude = 0x03, kFilterMatrix = 0x04, kFilterEuler = 0x05;
inline constexpr unsigned kGpsTime = 0x12, kWeekTime = 0xD3, kReference = 0xD5;
inline constexpr std::int64_t kWeek = 604'800'000'000'000;  // ns

struct Framing {
  static constexpr std::size_t kMaxFrame = 261;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

inline unsigned set_of(Bytes packet) { return wire::u8(packet, 2); }

// Calls visit(descriptor, data) for each field until one is refused. False when one was, or when
// the lengths of the fields do not add up.
template <class Visit>
bool each_field(Bytes packet, Visit&& visit) {
  for (Bytes rest = packet.subspan(4, packet.size() - 6); !rest.empty();) {
    const std::size_t length = wire::u8(rest, 0);
    if (length < 2 || length > rest.size()) return false;
    if (!visit(unsigned{wire::u8(rest, 1)}, rest.subspan(2, length - 2))) return false;
    rest = rest.subspan(length);
  }
  return true;
}

Bytes field_of(Bytes packet, unsigned descriptor);  // empty when there is none
// The code of the packet's answer to a command; empty when it holds none.
std::optional<unsigned> code_of(Bytes packet, unsigned set, unsigned command);

// A packet with one field.
void write(Request&, unsigned set, unsigned descriptor, std::span<const std::uint8_t> data);

struct Measurement {
  ImuSample& sample;                                      // comes empty; without its times
  std::optional<std::int64_t> reference_ns{}, week_ns{};  // since the start, of the GPS week

  // As angles or as a matrix: for those who asked for it, since there is no quaternion.
  std::optional<std::array<double, 4>> other_attitude{};

  bool carries_anything() const;
};
// Of a packet of a data set, into what is empty; unknown fields are left out. False when its
// content makes no sense.
bool measured(Bytes packet, Measurement& into);

}  // namespace drivers::mip
