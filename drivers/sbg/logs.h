// Frames of sbgECom, and what its logs hold. Source: see sbg.h.
//
// Frame, little-endian: FF 5A | u8 log | u8 class | u16 n | n bytes | u16 CRC-16 of all from the
// log on (KERMIT) | 33. Logs may grow at their end: what is longer than known is read, what is
// shorter is not.
#pragma once

#include <optional>

#include "drivers/framer.h"
#include "drivers/packet.h"
#include "hal/text.h"

namespace drivers::sbg {

inline constexpr unsigned kLogs = 0x00, kFastLogs = 0x01, kCommands = 0x10;
inline constexpr unsigned kUtc = 2, kImuData = 3, kEuler = 6, kQuaternion = 7, kImuShort = 44;
inline constexpr unsigned kFastImu = 0;  // of the fast logs

struct Framing {
  static constexpr std::size_t kMaxFrame = 9 + 4086;
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

inline unsigned log_of(Bytes frame) { return std::to_integer<unsigned>(frame[2]); }
inline unsigned class_of(Bytes frame) { return std::to_integer<unsigned>(frame[3]); }
inline Bytes data_of(Bytes frame) { return frame.subspan(6, frame.size() - 9); }

// Of a log that is longer than this by what newer firmware appended, at most.
inline constexpr std::size_t kMostAppended = 64;
// Least length of the logs that are read; 0: another one.
std::size_t size_of(unsigned log, unsigned cls);

// Of an inertial log, all but its stamp; its data are at least size_of() long. `status` in bits.
struct Inertial {
  ImuSample sample{};
  unsigned status = 0;
};
Inertial inertial_in(Bytes data, unsigned log, unsigned cls);
hal::Text<96> words_for(unsigned status);  // of inertial logs; empty: nothing is wrong
inline constexpr unsigned kUnitAnswers = 1;

// Of EKF_QUAT and EKF_EULER: empty while the filter does not vouch for it.
std::optional<std::array<double, 4>> attitude_in(Bytes data, unsigned log);

// Of UTC_TIME, ns since 1970; empty while it is not steered by satellites or does not know the leap
// seconds.
std::optional<std::int64_t> unix_in(Bytes data);

}  // namespace drivers::sbg
