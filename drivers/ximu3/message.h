// Messages of the x-IMU3: binary, ASCII and JSON, in any order on one line. Source: x-io's software
// (github.com/xioTechnologies/x-IMU3-Software) and the examples of its user manual.
//
// All end in LF. Binary: u8 letter + 80 | u64 us | float32 arguments, little-endian; within it LF
// is DB DC and DB is DB DD. ASCII: letter, then us and arguments in decimals, each after a comma;
// CR LF. JSON: an object in one line. Nothing guards a message: it counts where its length (ASCII:
// the number of its arguments) is that of its letter, and what it tells is plausible.
#pragma once

#include <array>
#include <string_view>

#include "drivers/framer.h"

namespace drivers::ximu3 {

inline constexpr std::size_t kMostArguments = 9;

struct Framing {
  static constexpr std::size_t kMaxFrame = 1024;
  static constexpr bool kDatagrams = true;  // a datagram ends where a message does
  static std::size_t measure(Bytes b);
  static bool intact(Bytes frame);
};

struct Message {
  char letter = 0;  // 0: an object of JSON
  std::int64_t us = 0;
  std::array<double, kMostArguments> values{};
  std::string_view text{};  // of JSON, and of messages in words; outlived by the frame
};

// Of an intact frame. Texts of binary messages may hold any bytes.
Message message_in(Bytes frame);

}  // namespace drivers::ximu3
