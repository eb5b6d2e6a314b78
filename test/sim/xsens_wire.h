// Xbus messages of the simulated MTi devices: FA | bus | message | length | data | sum. Big-endian.
#pragma once

#include "test/sim/device_model.h"

namespace sim::xsens {

inline constexpr unsigned kMaster = 0xFF;  // bus identifier of what is sent unasked

struct Message {
  unsigned bus = kMaster;
  unsigned id = 0;
  ByteVector data;
};

ByteVector bytes_of(const Message& message);
// Writes the sum over the last byte.
void seal(ByteVector& message);
std::size_t data_at(hal::Bytes message);  // where its data begin

// Cuts messages out of what the host sends. A partial one is dropped after 100 ms of silence.
class Parser {
 public:
  void add(hal::Bytes bytes, hal::Time now);
  bool next(Message& message);
  void clear() { held_.clear(); }

 private:
  ByteVector held_;
  hal::Time last_{};
};

}  // namespace sim::xsens
