// The ASCII side of the simulated VectorNav sensors: "$VN...,fields*check" and line end, where the
// check is the XOR of what stands between $ and *, or its CRC-16, in hexadecimal.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "test/sim/device_model.h"

namespace sim::vectornav {

enum class Check : std::uint8_t { xor8, crc16 };

std::uint16_t crc16(hal::Bytes bytes);  // of 0x1021, start 0

// "$" + body + check.
std::string line_of(const std::string& body, Check check);

struct Command {
  std::vector<std::string> fields;  // of which the first is the word: VNRRG
  Check check = Check::xor8;        // of its answer
  bool is_damaged = false;
};

// Cuts commands out of what the host sends, in any portions. What is between them is skipped.
class Lines {
 public:
  void add(hal::Bytes bytes);
  std::optional<Command> next();
  void clear() { held_.clear(); }

 private:
  std::string held_;
};

}  // namespace sim::vectornav
