// sbgECom frames of the simulated SBG devices: made, and cut out of what the host sends.
//
// FF 5A, u8 message, u8 class, u16 n, n bytes, u16 CRC (0x8408 reflected, start 0) of all from the
// message on, 33; little-endian.
#pragma once

#include <optional>

#include "test/sim/device_model.h"

namespace sim::sbg {

inline constexpr std::size_t kHead = 6, kTail = 3, kMostData = 4086;
inline constexpr unsigned kLogs = 0x00, kFastLogs = 0x01, kCommands = 0x10;

struct Message {
  unsigned id = 0, cls = 0;
  ByteVector data;
};

ByteVector frame_bytes(const Message& message);
// Writes the CRC over the end of `frame`.
void seal(ByteVector& frame);

// A partial frame is dropped after 100 ms of silence.
class Parser {
 public:
  void add(hal::Bytes bytes, hal::Time now);
  std::optional<Message> next();
  void clear() { held_.clear(); }

 private:
  ByteVector held_;
  hal::Time last_{};
};

}  // namespace sim::sbg
