// Cuts the bytes of a host into RPLIDAR requests: A5 cmd, or A5 cmd len payload xor.
#pragma once

#include <cstdint>

#include "test/sim/device_model.h"

namespace sim::rplidar {

enum class Command : std::uint8_t {
  scan = 0x20,
  force_scan = 0x21,
  stop = 0x25,
  reset = 0x40,
  info = 0x50,
  health = 0x52,
  sample_rate = 0x59,
  unnamed_79 = 0x79,
  express_scan = 0x82,
  get_conf = 0x84,
  set_conf = 0x85,
  new_baud = 0x90,
  rpm = 0xA8,
  pwm = 0xF0,
  board_flag = 0xFF,
};

struct Request {
  Command command{};
  ByteVector payload;

  // Little-endian field of `bytes` bytes; 0 where the payload is too short for it.
  std::uint32_t field(std::size_t at, std::size_t bytes) const;
};

class RequestParser {
 public:
  void feed(hal::Bytes bytes) { held_.insert(held_.end(), bytes.begin(), bytes.end()); }
  void clear() { held_.clear(); }

  // The next request whose checksum holds. Garbage, unknown commands and bad checksums cost one
  // byte each and are passed over in silence.
  bool next(Request& request);

 private:
  enum class Found : std::uint8_t { request, nothing, too_few };
  Found look(Request& request, std::size_t& length) const;

  ByteVector held_;
};

}  // namespace sim::rplidar
