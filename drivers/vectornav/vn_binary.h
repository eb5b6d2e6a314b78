// Binary output of VectorNav sensors: how long a message is, and what its fields measure. Sources:
// the vendor's SDK 0.99, vnproglib 1.2, and a recording of a VN-100.
//
// 0xFA | u8 groups, bit 7: another such byte follows, up to three | of each group that is set, from
// the lowest on, u16 fields, bit 15: another such word follows | the fields that are set, in this
// order, little-endian | u16 CRC (XMODEM, big-endian) of all between. There is no length: every
// field's size must be known.
#pragma once

#include <optional>

#include "drivers/framer.h"
#include "drivers/packet.h"

namespace drivers::vn {

inline constexpr std::size_t kMaxBinary = 600;  // what the vendor's own reader takes

// As Framing::measure(); `b` begins with 0xFA.
std::size_t measure_binary(Bytes b);
bool is_intact_binary(Bytes message);

// Of the common group, by bit.
inline constexpr unsigned kTimeStartup = 0, kQuaternion = 4, kRate = 5, kAccel = 8, kMagPres = 10,
                          kDeltas = 11;
// Of a message with these fields of the common group.
std::size_t size_of_common(unsigned fields);

struct Measurement {
  ImuSample sample;  // without its times
  std::optional<std::int64_t> since_start_ns{};

  bool carries_anything() const;
};
// Of an intact message. False when its content makes no sense. Compensated readings are preferred
// to raw ones, a quaternion to angles. Accelerations without gravity are left out.
bool measured(Bytes message, Measurement& into);
// Tells messages of one configuration from those of another.
std::uint32_t kind_of(Bytes message);

}  // namespace drivers::vn
